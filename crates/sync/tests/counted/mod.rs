//! Wakers and values that are counted.
#![allow(dead_code, reason = "each test has use for some of it")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};

/// How often a waker was woken.
pub(crate) struct CountedWaker(AtomicUsize);

impl CountedWaker {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let this = Arc::new(Self(AtomicUsize::new(0)));
        let waker = Waker::from(this.clone());
        (this, waker)
    }

    pub(crate) fn count(&self) -> usize {
        // ORDERING: threads are joined before a test counts.
        self.0.load(Ordering::Relaxed)
    }

    /// Nobody keeps a clone of the waker.
    #[track_caller]
    pub(crate) fn assert_released(self: &Arc<Self>) {
        assert_eq!(Arc::strong_count(self), 1, "clones of the waker are left");
    }
}

impl Wake for CountedWaker {
    fn wake(self: Arc<Self>) {
        // ORDERING: as in `count`.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// How many of its values were dropped.
#[derive(Clone)]
pub(crate) struct Dropped(Arc<AtomicUsize>);

pub(crate) struct Value(Arc<AtomicUsize>);

impl Dropped {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn value(&self) -> Value {
        Value(self.0.clone())
    }

    pub(crate) fn count(&self) -> usize {
        // ORDERING: threads are joined before a test counts.
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        // ORDERING: as in `count`.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Panics when it is dropped, unless the thread panics already.
pub(crate) struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        assert!(
            std::thread::panicking(),
            "a message that does not want to go"
        );
    }
}

/// A waker that panics when it wakes.
pub(crate) fn panicking_waker() -> Waker {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker that does not wake");
        }
    }
    Arc::new(Panics).into()
}
