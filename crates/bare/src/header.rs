//! The header of a slot, which wakers point at.

use core::cell::Cell;
use core::fmt;
use core::ptr::{self, NonNull};

use crate::lists::{Link, Lists};
use crate::state::State;

/// The first part of a slot, which has the same layout for all types of content.
///
/// It does not move, and its memory stays valid, from the time when its executor is attached until
/// the executor has been dropped and there are no wakers.
pub(crate) struct Header {
    pub(crate) state: State,
    /// The next slot of the list that this slot is on, if any.
    pub(crate) next: Link,
    /// The lists of the executor. Written once, before there are wakers.
    lists: Cell<*const Lists>,
    /// The executor's thread, if its wakers check for it. Written once, before there are wakers.
    thread: Cell<usize>,
}

impl Header {
    pub(crate) const fn vacant() -> Self {
        Self {
            state: State::vacant(),
            next: Cell::new(None),
            lists: Cell::new(ptr::null()),
            thread: Cell::new(0),
        }
    }

    pub(crate) fn attach(&self, lists: NonNull<Lists>, thread: usize) {
        self.lists.set(lists.as_ptr());
        self.thread.set(thread);
    }

    /// Returns the thread that the slot belongs to, as given to [`attach`](Self::attach).
    #[inline]
    #[cfg(feature = "std")]
    pub(crate) fn thread(&self) -> usize {
        self.thread.get()
    }

    /// Returns the lists of the executor.
    #[inline]
    pub(crate) fn lists(&self) -> &Lists {
        // SAFETY: the caller is a waker or the executor, and has the header of an attached slot.
        // The lists live as long as the slots, and there is no unique reference to either.
        unsafe { &*self.lists.get() }
    }
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Header").field(&self.state).finish()
    }
}
