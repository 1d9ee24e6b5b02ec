//! What the tests of the semaphore and the locks share.
#![allow(dead_code, reason = "each test uses some of it")]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread::{self, Thread};

/// Counts how often it was woken.
#[derive(Debug)]
pub(crate) struct Counter(AtomicUsize);

impl Counter {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let counter = Arc::new(Self(AtomicUsize::new(0)));
        (counter.clone(), Waker::from(counter))
    }

    pub(crate) fn woken(&self) -> usize {
        // ORDERING: pairs with `wake`.
        self.0.load(Ordering::Acquire)
    }
}

impl Wake for Counter {
    fn wake(self: Arc<Self>) {
        // ORDERING: pairs with `woken`.
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// A waker that runs a closure at each wake, and drops it with the last clone.
pub(crate) struct Hostile<F>(pub(crate) F);

impl<F: Fn() + Send + Sync + 'static> Hostile<F> {
    pub(crate) fn waker(f: F) -> Waker {
        Waker::from(Arc::new(Self(f)))
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Hostile<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// Polls once, with a waker that does nothing.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Polls once.
pub(crate) fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(waker))
}

/// The output of a future that is ready at its first poll.
#[track_caller]
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it had to wait"),
    }
}

/// How often a task whose operations are always ready has to yield, of 1,000
/// operations.
pub(crate) fn yields<F: Future>(mut operation: impl FnMut() -> F) -> usize {
    let (counter, waker) = Counter::new();
    let mut future = pin!(async {
        for _ in 0..1000 {
            operation().await;
        }
    });
    let mut pending = 0;
    let mut cx = Context::from_waker(&waker);
    while raddle_coop::budget(|| future.as_mut().poll(&mut cx)).is_pending() {
        pending += 1;
        assert_eq!(counter.woken(), pending, "it waits for nothing else");
    }
    pending
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread. A wake-up that is lost is a
/// deadlock.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
