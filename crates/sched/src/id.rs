//! Ids of schedulers.

use std::fmt;
use std::num::NonZeroU64;

use raddle_primitives::Numbers;

/// The numbers of schedulers.
static SCHEDULERS: Numbers = Numbers::new();

/// The id of a scheduler, unique in the process.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::Id;
/// use std::collections::HashMap;
///
/// /// The tasks of each runtime that a program monitors.
/// fn by_runtime(counts: &mut HashMap<Id, usize>, runtime: Id) {
///     *counts.entry(runtime).or_default() += 1;
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    pub(crate) fn next() -> Self {
        let number = SCHEDULERS.take(1).checked_add(1).and_then(NonZeroU64::new);
        Self(number.expect("a process makes fewer than 2^64 schedulers"))
    }
}

/// Returns an id that no scheduler has, for something else that needs an id.
///
/// ```
/// use raddle_sched::{Config, CurrentThread};
///
/// // A runtime without a scheduler of this crate, in a list of all runtimes by id.
/// let id = raddle_sched::take_id();
/// let scheduler = CurrentThread::new(Config::default(), None);
/// assert_ne!(scheduler.handle().id(), id);
/// ```
pub fn take_id() -> Id {
    Id::next()
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
