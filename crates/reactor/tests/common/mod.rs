//! Wakers that tell the test what happened.
#![allow(dead_code, reason = "each test uses some of it")]

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

use mio::net::UnixStream;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread::{self, Thread};
use raddle_reactor::{Handle, Interest, Reactor, Registration};

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

struct Unparker(Thread);

impl Wake for Unparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread, parking while it is pending.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unparker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Turns until `done`; a generous bound catches a hang.
pub(crate) fn turn_until(reactor: &mut Reactor, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !done() {
        assert!(Instant::now() < deadline, "no event came");
        reactor.turn(Some(Duration::from_millis(100)), 64).unwrap();
    }
}

/// Two ends of a connection, of which the first is watched for what the other sends.
pub(crate) fn pair(handle: &Handle) -> (UnixStream, UnixStream, Registration) {
    let (mut near, far) = UnixStream::pair().unwrap();
    let registration = handle.register(&mut near, Interest::READABLE).unwrap();
    (near, far, registration)
}

pub(crate) fn readable(registration: &Registration) -> bool {
    registration
        .try_ready(Interest::READABLE)
        .unwrap()
        .is_some()
}
