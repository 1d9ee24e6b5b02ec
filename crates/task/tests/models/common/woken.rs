//! Wakers that record whether they were woken.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

/// A waker that records whether it was woken.
#[derive(Default)]
pub(crate) struct Woken(AtomicBool);

impl Woken {
    pub(crate) fn new() -> (Arc<Self>, Waker) {
        let woken = Arc::new(Self::default());
        (woken.clone(), Waker::from(woken))
    }

    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}
