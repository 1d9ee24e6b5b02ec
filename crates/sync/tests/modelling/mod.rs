//! What the models share.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `future` to its end; the model finds a wake-up that is lost.
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

/// Polls `future` once, and drops it.
pub(crate) fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// What one thread writes and another reads, without an order of its own: the
/// model finds a race.
pub(crate) struct Plain(UnsafeCell<u32>);

// SAFETY: the models share it on purpose, to find whether it is a race.
unsafe impl Sync for Plain {}
// SAFETY: as above.
unsafe impl Send for Plain {}

impl Plain {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(crate) fn set(&self, value: u32) {
        // SAFETY: whether somebody looks meanwhile is what is modelled.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    pub(crate) fn get(&self) -> u32 {
        // SAFETY: whether somebody writes meanwhile is what is modelled.
        self.0.with(|place| unsafe { *place })
    }
}
