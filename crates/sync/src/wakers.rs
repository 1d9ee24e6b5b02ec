//! Any number of wakers, collected under a lock, to be woken after it is released.

use std::mem;
use std::task::Waker;

use raddle_primitives::WakerBatch;

/// Batches of wakers. The first is on the stack; more are allocated only if there are more wakers
/// than it holds.
///
/// The drop wakes the wakers that are left, so that a waker that panics takes no wake-up of the
/// others with it.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    full: Vec<WakerBatch>,
    last: WakerBatch,
}

impl Wakers {
    /// Adds a waker.
    #[inline]
    pub(crate) fn push(&mut self, waker: Waker) {
        if self.last.is_full() {
            self.put_aside();
        }
        self.last.push(waker);
    }

    #[cold]
    fn put_aside(&mut self) {
        self.full.push(mem::take(&mut self.last));
    }

    /// Wakes all of them in the order they came. Call it without a lock.
    #[inline]
    pub(crate) fn wake_all(&mut self) {
        if !self.full.is_empty() {
            self.wake_full();
        }
        self.last.wake_all();
    }

    #[cold]
    fn wake_full(&mut self) {
        for mut batch in mem::take(&mut self.full) {
            batch.wake_all();
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
