#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

pub mod executor;
#[cfg(all(feature = "system", unix))]
#[allow(unsafe_code, reason = "system calls")]
pub mod fork;
#[cfg(all(feature = "system", target_os = "linux"))]
#[allow(unsafe_code, reason = "system calls")]
pub mod refuse;
#[cfg(feature = "tracing")]
pub mod spans;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread::{self, Thread};

/// Runs `future` to completion on this thread, which parks in between. A lost wake-up is a
/// deadlock, which a model reports.
///
/// Unlike `raddle_primitives::thread::block_on`, it has no word of its own for a model to explore.
pub fn block_on<F: Future>(future: F) -> F::Output {
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

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls `future` once, with a waker that does nothing, and drops it.
pub fn poll_once<F: Future>(future: F) -> Poll<F::Output> {
    poll(pin!(future))
}

/// Polls `future` once, with a waker that does nothing.
pub fn poll<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Polls `future` once.
///
/// ```
/// use std::future::poll_fn;
/// use std::pin::pin;
/// use std::task::Poll;
///
/// let yields = pin!(poll_fn(|cx| {
///     cx.waker().wake_by_ref();
///     Poll::<()>::Pending
/// }));
/// let (wakes, waker) = raddle_testing::Wakes::new();
/// assert!(raddle_testing::poll_with(yields, &waker).is_pending());
/// assert_eq!(wakes.get(), 1);
/// ```
pub fn poll_with<F: Future + ?Sized>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// The output of a future that is ready at its first poll.
///
/// # Panics
///
/// Panics if the future is pending.
#[track_caller]
pub fn ready<F: Future>(future: F) -> F::Output {
    match poll_once(future) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("the future is pending"),
    }
}

/// A waker that counts its wake-ups.
///
/// ```
/// let (wakes, waker) = raddle_testing::Wakes::new();
/// waker.wake_by_ref();
/// waker.wake();
/// assert_eq!(wakes.get(), 2);
/// // The last call has used the waker up.
/// wakes.assert_released();
/// ```
#[derive(Debug, Default)]
pub struct Wakes(AtomicUsize);

impl Wakes {
    /// Makes a waker and its counter.
    pub fn new() -> (Arc<Self>, Waker) {
        let wakes = Arc::<Self>::default();
        (Arc::clone(&wakes), Waker::from(wakes))
    }

    /// Returns how many times the waker has been woken.
    pub fn get(&self) -> usize {
        // ORDERING: Acquire pairs with `wake_by_ref`.
        self.0.load(Ordering::Acquire)
    }

    /// Checks that no clone of the waker is left.
    ///
    /// # Panics
    ///
    /// Panics if a clone is left.
    #[track_caller]
    pub fn assert_released(self: &Arc<Self>) {
        assert_eq!(Arc::strong_count(self), 1, "clones of the waker are left");
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING: Release pairs with `get`.
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// A waker that calls `on_wake` at each wake-up.
pub fn calling(on_wake: impl Fn() + Send + Sync + 'static) -> Waker {
    struct Call<F>(F);

    impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
        fn wake(self: Arc<Self>) {
            (self.0)();
        }
    }

    Waker::from(Arc::new(Call(on_wake)))
}
