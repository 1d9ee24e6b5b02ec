//! Blocking a thread that is not a worker on a future.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::thread::{self, Thread};

use crate::shared::Shared;

/// Wakes a thread that blocks on a future.
struct ThreadWaker {
    thread: Thread,
    woken: AtomicBool,
}

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING: Release pairs with the swap in `block_on`.
        if !self.woken.swap(true, Ordering::Release) {
            self.thread.unpark();
        }
    }
}

/// Polls the future on this thread until it is ready, and sleeps in between.
/// None if a task's panic has ended the scheduler.
pub(crate) fn block_on<F: Future>(shared: &Shared, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let signal = Arc::new(ThreadWaker {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(signal.clone());
    let _woken = shared.wake_by_panic(&waker);
    let mut cx = Context::from_waker(&waker);
    while !shared.has_fatal_panic() {
        if let Poll::Ready(output) = raddle_coop::budget(|| future.as_mut().poll(&mut cx)) {
            // What the future waited for may have been the task that panicked.
            return (!shared.has_fatal_panic()).then_some(output);
        }
        // ORDERING: Acquire pairs with the Release of `wake_by_ref`: the poll
        // sees what the waker wrote before.
        while !signal.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
    None
}
