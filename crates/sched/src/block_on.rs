//! Blocking a thread that is not a worker on a future.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::thread::{self, Thread};

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
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let signal = Arc::new(ThreadWaker {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = raddle_coop::budget(|| future.as_mut().poll(&mut cx)) {
            return output;
        }
        // ORDERING: Acquire pairs with the Release of `wake_by_ref`: the poll
        // sees what the waker wrote before.
        while !signal.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}
