//! Waking any number of waiters.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_std::WakerBatch;

/// Wakes what `refill` puts into the batch, until it says that there is no more.
///
/// `refill` takes the lock of the waiters, and has given it back when it
/// returns. A waker that panics keeps none of the others from being woken; its
/// panic goes on after them.
pub(crate) fn wake_in_batches(refill: impl FnMut(&mut WakerBatch) -> bool) {
    Rounds {
        refill,
        wakers: WakerBatch::new(),
        more: true,
    }
    .run();
}

struct Rounds<F: FnMut(&mut WakerBatch) -> bool> {
    refill: F,
    wakers: WakerBatch,
    more: bool,
}

impl<F: FnMut(&mut WakerBatch) -> bool> Rounds<F> {
    fn run(&mut self) {
        loop {
            self.wakers.wake_all();
            if !std::mem::replace(&mut self.more, false) {
                return;
            }
            self.more = (self.refill)(&mut self.wakers);
        }
    }
}

impl<F: FnMut(&mut WakerBatch) -> bool> Drop for Rounds<F> {
    /// Goes on where a waker panicked; the first panic is on its way already.
    fn drop(&mut self) {
        while catch_unwind(AssertUnwindSafe(|| self.run())).is_err() {}
    }
}
