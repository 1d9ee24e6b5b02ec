//! The state word of a slot: its content, and the number of its wakers.

use core::cell::Cell;
use core::fmt;

/// Set while the slot has an argument or a future, and while that is dropped; never while the slot
/// is on the free list; cleared once the content has been dropped.
const LIVE: usize = 1 << 0;
/// Set while the slot is on the ready list; cleared when the slot is taken from it.
const READY: usize = 1 << 1;
/// Set while the content is a future; never without `LIVE`; cleared together with it.
const STARTED: usize = 1 << 2;
/// The unit of the count of wakers that were cloned and not dropped, in all bits from here up.
const WAKER: usize = 1 << 3;

/// The state word of one slot. Only the executor's thread accesses it.
pub(crate) struct State(Cell<usize>);

/// The duty of the caller of a wake.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// Put the slot on the ready list.
    Enqueue,
    /// The task is ready already, or has ended.
    Nothing,
}

/// The duty of the executor after it has taken a slot from the ready list.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Make the future from the argument, and poll it.
    Start,
    /// Poll the future.
    Poll,
    /// The task has ended: put the slot on the free list.
    Release,
    /// The task has ended, but there are wakers: the drop of the last waker releases the slot.
    Nothing,
}

/// The duty of the caller after it has dropped the content or a waker.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vacated {
    /// Put the slot on the free list.
    Release,
    /// The slot is still in use, or it is released when it is taken from the ready list.
    Nothing,
}

impl State {
    pub(crate) const fn vacant() -> Self {
        Self(Cell::new(0))
    }

    /// Records that an argument was put into a vacant slot, which is now on the ready list.
    #[inline]
    pub(crate) fn transition_to_spawned(&self) {
        debug_assert_eq!(self.0.get(), 0, "only a vacant slot is on the free list");
        self.0.set(LIVE | READY);
    }

    #[inline]
    pub(crate) fn transition_to_woken(&self) -> Wake {
        let word = self.0.get();
        if word & (LIVE | READY) != LIVE {
            return Wake::Nothing;
        }
        self.0.set(word | READY);
        Wake::Enqueue
    }

    /// Records that the slot was taken from the ready list.
    #[inline]
    pub(crate) fn transition_to_taken(&self) -> Taken {
        let word = self.0.get() & !READY;
        self.0.set(word);
        match word & (LIVE | STARTED) {
            0 if word == 0 => Taken::Release,
            0 => Taken::Nothing,
            LIVE => Taken::Start,
            _ => Taken::Poll,
        }
    }

    /// Records that the content is a future.
    #[inline]
    pub(crate) fn transition_to_started(&self) {
        self.0.set(self.0.get() | STARTED);
    }

    /// Records that the content was dropped.
    #[inline]
    pub(crate) fn transition_to_vacated(&self) -> Vacated {
        let word = self.0.get() & !(LIVE | STARTED);
        self.0.set(word);
        released(word)
    }

    /// # Panics
    ///
    /// Panics if the count of wakers overflows, which is possible only if most of them were
    /// forgotten.
    #[inline]
    pub(crate) fn add_waker(&self) {
        let word = self.0.get().checked_add(WAKER);
        self.0
            .set(word.expect("a task has too many wakers; drop wakers, do not forget them"));
    }

    /// Records that a waker was dropped.
    #[inline]
    pub(crate) fn drop_waker(&self) -> Vacated {
        let word = self.0.get() - WAKER;
        self.0.set(word);
        released(word)
    }

    #[inline]
    pub(crate) fn is_live(&self) -> bool {
        self.0.get() & LIVE != 0
    }

    #[inline]
    pub(crate) fn is_started(&self) -> bool {
        self.0.get() & STARTED != 0
    }

    /// Returns the number of wakers that were cloned and not dropped.
    #[inline]
    pub(crate) fn wakers(&self) -> usize {
        self.0.get() / WAKER
    }
}

#[inline]
fn released(word: usize) -> Vacated {
    if word == 0 {
        Vacated::Release
    } else {
        Vacated::Nothing
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.0.get();
        f.debug_struct("State")
            .field("live", &(word & LIVE != 0))
            .field("started", &(word & STARTED != 0))
            .field("ready", &(word & READY != 0))
            .field("wakers", &self.wakers())
            .finish()
    }
}

#[cfg(test)]
mod tests;
