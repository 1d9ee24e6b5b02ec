//! Any number of wakers, collected under a lock, to be woken after it is released.

use std::mem;
use std::task::Waker;

use raddle_primitives::WakerBatch;

/// Batches of wakers. The first batch is on the stack; further ones are allocated only if they are
/// needed.
///
/// The drop wakes the remaining wakers, so that a waker that panics does not prevent the wake-ups
/// of the others.
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

    /// Wakes all wakers in the order in which they were added. Call it without a lock.
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
