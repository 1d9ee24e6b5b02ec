//! Polling by hand, with wakers that count, panic or do something.
#![allow(dead_code, reason = "each suite uses a part of it")]

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// Counts its wake-ups.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let count = Arc::new(Self::default());
        (count.clone(), Waker::from(count))
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

struct Call<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

/// A waker that calls `f`.
pub(crate) fn calling(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(Call(f)))
}

struct Dropped<F: Fn()>(F);

impl<F: Fn()> Drop for Dropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Dropped<F> {
    fn wake(self: Arc<Self>) {}
}

/// A waker that calls `f` as its last clone is dropped.
pub(crate) fn calling_on_drop(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(Dropped(f)))
}

/// Polls once, with a waker that does nothing.
pub(crate) fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

pub(crate) fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// The output of a future that is ready at its first poll.
#[track_caller]
pub(crate) fn ready<F: Future>(future: F) -> F::Output {
    match poll(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// Whether a future waits at its first poll.
pub(crate) fn waits<F: Future>(future: F) -> bool {
    poll(pin!(future)).is_pending()
}

/// Checks that a future that never ends by itself lets others run.
#[track_caller]
pub(crate) fn yields(endless: impl Future) {
    let (wakes, waker) = Count::new();
    let mut endless = pin!(endless);
    for round in 1..=3 {
        let poll = raddle_coop::budget(|| poll_with(endless.as_mut(), &waker));
        assert!(poll.is_pending());
        assert!(wakes.get() >= round, "pending, and woken to go on");
    }
}
