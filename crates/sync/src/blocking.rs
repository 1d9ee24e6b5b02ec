//! Waiting with a whole thread, for callers outside of any executor.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_std::sync::atomic::{AtomicBool, Ordering};
use raddle_std::thread::{self, Thread};

/// Wakes the thread that waits.
struct ThreadWaker {
    thread: Thread,
    /// Set by the first wake after a poll; cleared by the thread before the
    /// next. `unpark` alone would be lost to a future that parks for itself.
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
///
/// # Panics
///
/// If a poll budget is in force, for then the thread is in the middle of a poll
/// and would keep the tasks of its executor waiting, perhaps the very one that
/// could wake it.
#[track_caller]
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    assert!(
        !raddle_coop::is_limited(),
        "this thread runs a task and must not block; await the operation, or call it from \
         spawn_blocking or block_in_place"
    );
    let mut future = pin!(future);
    let signal = Arc::new(ThreadWaker {
        thread: thread::current(),
        woken: AtomicBool::new(false),
    });
    let waker = Waker::from(signal.clone());
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return output;
        }
        // ORDERING: Acquire pairs with the Release of `wake_by_ref`: the poll
        // sees what the waker wrote before.
        while !signal.woken.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}
