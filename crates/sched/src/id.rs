//! Ids of schedulers.

use std::fmt;
use std::num::NonZeroU64;

use raddle_primitives::Numbers;

/// The numbers of schedulers.
static SCHEDULERS: Numbers = Numbers::new();

/// The id of a scheduler, unique in the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Id(NonZeroU64);

impl Id {
    pub(crate) fn next() -> Self {
        let number = SCHEDULERS.take(1).checked_add(1).and_then(NonZeroU64::new);
        Self(number.expect("a process makes fewer than 2^64 schedulers"))
    }
}

/// Returns an id that no scheduler has, for something else that needs an id.
pub fn take_id() -> Id {
    Id::next()
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
