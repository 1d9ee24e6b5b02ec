//! Wakers that were collected under the lock and are woken after it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// How many wakers are collected before the lock is released for them.
const CAPACITY: usize = 32;

/// A fixed number of wakers, kept on the stack.
pub(crate) struct Batch {
    wakers: [Option<Waker>; CAPACITY],
    len: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self {
            wakers: [const { None }; CAPACITY],
            len: 0,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len == CAPACITY
    }

    /// Adds a waker.
    ///
    /// # Panics
    ///
    /// If the batch is full.
    pub(crate) fn push(&mut self, waker: Waker) {
        self.wakers[self.len] = Some(waker);
        self.len += 1;
    }

    /// Wakes all of them, in the order in which they came.
    pub(crate) fn wake_all(mut self) {
        self.wake_remaining();
    }

    fn wake_remaining(&mut self) {
        for slot in &mut self.wakers[..self.len] {
            if let Some(waker) = slot.take() {
                waker.wake();
            }
        }
        self.len = 0;
    }
}

/// A waker that panics must not swallow the wake-ups behind it: their timers
/// have fired already.
impl Drop for Batch {
    fn drop(&mut self) {
        while catch_unwind(AssertUnwindSafe(|| self.wake_remaining())).is_err() {}
    }
}
