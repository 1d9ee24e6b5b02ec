//! Tasks that yield, and the driver.
//!
//! A task that yields until an event has come must not keep the worker from the
//! driver for many polls. So a worker that has nothing but tasks that have yielded
//! since it last looked at the driver looks again before it runs them.

use std::cell::Cell;

/// What a worker knows of the tasks that have yielded on it.
#[derive(Default)]
pub(super) struct Yields {
    /// Whether a future has yielded in the present poll.
    noted: Cell<bool>,
    /// Tasks that have yielded since the last look at the driver.
    count: Cell<usize>,
}

impl Yields {
    /// Notes that a future yields in the present poll.
    #[inline]
    pub(super) fn note(&self) {
        self.noted.set(true);
    }

    /// Whether a future has yielded since this was asked last.
    #[inline]
    pub(super) fn take(&self) -> bool {
        self.noted.replace(false)
    }

    /// Counts a task that has yielded, and returns how many have since the last look.
    #[inline]
    pub(super) fn count(&self) -> usize {
        let count = self.count.get() + 1;
        self.count.set(count);
        count
    }

    /// Counts from a look at the driver on.
    pub(super) fn restart(&self) {
        self.count.set(0);
    }
}
