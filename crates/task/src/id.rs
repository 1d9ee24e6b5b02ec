//! Task ids, and which task runs now.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::ptr::{self, NonNull};

use raddle_std::sync::atomic::Ordering;

use crate::cell::Header;

/// The id of a task, unique in the process.
///
/// Ids are handed to threads in blocks, so that a spawn does not touch a common
/// counter; they say nothing about the order of spawns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(NonZeroU64);

/// How many ids a thread takes from the common counter at once.
const BLOCK: u64 = 1024;

/// The first id of the next block. A counter without a bearing on any other
/// memory, so it needs no model, and std's can be a static.
static NEXT_BLOCK: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(BLOCK);

raddle_std::thread_local! {
    static NEXT: Cell<u64> = Cell::new(0);
    static CURRENT: Cell<*const Header> = Cell::new(ptr::null());
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
        // A thread that is ending takes a whole block for one id.
        let id = id.unwrap_or_else(|_| take_block());
        Self(NonZeroU64::new(id).expect("blocks start above zero"))
    }
}

#[cold]
fn take_block() -> u64 {
    // ORDERING: only uniqueness matters.
    NEXT_BLOCK.fetch_add(BLOCK, Ordering::Relaxed)
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

/// The id of the task that runs on this thread.
///
/// # Panics
///
/// Outside a task.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("no task runs on this thread; call try_id where that may be")
}

/// The id of the task that runs on this thread, if one does.
pub fn try_id() -> Option<Id> {
    CURRENT
        .try_with(|current| {
            // SAFETY: `enter` keeps it null or the task that is being run, whose
            // liveness reference its runner holds until the guard is dropped or
            // the pointer is not looked at again.
            unsafe { current.get().as_ref() }.map(|header| header.id)
        })
        .ok()
        .flatten()
}

/// Names the task that runs on this thread until the guard is dropped.
#[inline]
pub(crate) fn enter(header: NonNull<Header>) -> Entered {
    Entered {
        outer: CURRENT
            .try_with(|current| current.replace(header.as_ptr()))
            .unwrap_or(ptr::null()),
    }
}

/// Restores the outer task when dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    outer: *const Header,
}

impl Drop for Entered {
    #[inline]
    fn drop(&mut self) {
        // A thread that is ending has no current task any more.
        let _ = CURRENT.try_with(|current| current.set(self.outer));
    }
}
