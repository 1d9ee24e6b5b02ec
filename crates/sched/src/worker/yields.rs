//! Tasks that yield, and the driver.
//!
//! A task that yields until an event has come must not keep the worker from the
//! driver for many polls. So a worker that has nothing but tasks that have yielded
//! since it last looked at the driver looks again before it runs them.

use std::cell::Cell;

use super::Core;

/// What a worker knows of the tasks that have yielded on it.
#[derive(Default)]
pub(super) struct Yields {
    /// Whether a future has yielded in the present poll.
    noted: Cell<bool>,
    /// Tasks that have yielded since the last look at the driver.
    count: Cell<usize>,
}

impl Yields {
    /// Whether a future has yielded since this was asked last.
    #[inline]
    pub(super) fn take(&self) -> bool {
        self.noted.replace(false)
    }

    /// Counts from a look at the driver on.
    pub(super) fn restart(&self) {
        self.count.set(0);
    }
}

impl Core {
    /// Notes that a future yields in the present poll.
    #[inline]
    pub(crate) fn note_yield(&self) {
        self.yields.noted.set(true);
    }

    /// Counts a task that has yielded and is queued again. If all that are queued
    /// have, the driver is looked at. Those that are queued behind one that
    /// yielded have not been counted, so the queue is longer than the count while
    /// another kind is in it, or the count is too high and the look too early.
    #[inline]
    pub(super) fn count_yield(&self) {
        let count = self.yields.count.get() + 1;
        self.yields.count.set(count);
        if count >= self.queued_len() && self.remote().slot.is_empty() {
            self.look_at_driver();
        }
    }

    /// Looks at the driver if the future of `block_on` has yielded, and there is
    /// nothing else to run.
    pub(crate) fn look_if_yielded(&self) {
        if self.yields.take() {
            self.look_at_driver();
        }
    }
}
