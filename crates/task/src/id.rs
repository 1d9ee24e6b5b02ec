//! Task ids.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;

use raddle_primitives::Numbers;

/// The id of a task, unique in the process.
///
/// Each thread takes ids in blocks, so that a spawn does not change a shared counter. So ids do not
/// show the order of spawns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

/// The number of ids that a thread takes from the common counter at once. The first of them is
/// never used: it marks a thread that has none left.
const BLOCK: u64 = 1024;

/// The blocks of ids of the process.
static BLOCKS: Numbers = Numbers::new();

raddle_primitives::thread_local! {
    static NEXT: Cell<u64> = Cell::new(0);
}

impl Id {
    #[inline]
    pub(crate) fn next() -> Self {
        let id = NEXT.try_with(|next| {
            let mut id = next.get();
            if id % BLOCK == 0 {
                id = take_block();
            }
            next.set(id + 1);
            id
        });
        // A thread that is exiting takes a whole block for one id.
        let id = id.unwrap_or_else(|_| take_block());
        Self(NonZeroU64::new(id).expect("blocks start above zero"))
    }
}

/// Returns the id of the next task that is spawned on this thread. It is for callers that need the
/// id before they spawn the task. If other code spawns a task first, that task gets this id.
pub fn upcoming_id() -> Id {
    let id = Id::next();
    // A thread that is exiting takes another block, and so cannot promise the next id.
    let _ = NEXT.try_with(|next| next.set(id.0.get()));
    id
}

/// Returns an id that no task has, for something else that needs an id.
pub fn take_id() -> Id {
    Id::next()
}

impl From<Id> for NonZeroU64 {
    fn from(id: Id) -> Self {
        id.0
    }
}

#[cold]
fn take_block() -> u64 {
    BLOCKS.take(BLOCK) + 1
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Id").field(&self.0).finish()
    }
}
