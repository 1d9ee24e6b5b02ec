//! Helpers of tests that poll by hand.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Wake, Waker};

use raddle_testing::{Wakes, poll, poll_with};

struct Dropped<F: Fn()>(F);

impl<F: Fn()> Drop for Dropped<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<F: Fn() + Send + Sync + 'static> Wake for Dropped<F> {
    fn wake(self: Arc<Self>) {}
}

/// Returns a waker that calls `f` when its last clone is dropped.
pub(crate) fn calling_on_drop(f: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(Dropped(f)))
}

/// Returns whether a future is pending after its first poll.
pub(crate) fn waits<F: Future>(future: F) -> bool {
    poll(pin!(future)).is_pending()
}

/// Checks that a future that is never ready yields when its budget is used up.
#[track_caller]
pub(crate) fn yields(endless: impl Future) {
    let (wakes, waker) = Wakes::new();
    let mut endless = pin!(endless);
    for round in 1..=3 {
        let poll = raddle_leaf::coop::budget(|| poll_with(endless.as_mut(), &waker));
        assert!(poll.is_pending());
        assert!(wakes.get() >= round, "the task is woken after a yield");
    }
}
