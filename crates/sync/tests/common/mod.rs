//! Helpers of the tests and models of the semaphore and the locks.
#![allow(dead_code, reason = "the models use a part of it")]

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use raddle_testing::Wakes;

/// Polls once, with a waker that does nothing.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Polls once.
pub(crate) fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(waker))
}

/// Returns the number of times that a task yields in 1,000 operations that are always ready.
pub(crate) fn yields<F: Future>(mut operation: impl FnMut() -> F) -> usize {
    let (counter, waker) = Wakes::new();
    let mut future = pin!(async {
        for _ in 0..1000 {
            operation().await;
        }
    });
    let mut pending = 0;
    let mut cx = Context::from_waker(&waker);
    while raddle_leaf::coop::budget(|| future.as_mut().poll(&mut cx)).is_pending() {
        pending += 1;
        assert_eq!(counter.get(), pending, "a pending poll without a wake-up");
    }
    pending
}
