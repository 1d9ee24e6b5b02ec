//! Whether a future has been woken since its poll began.

use std::sync::Arc;
use std::task::{Wake, Waker};

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};

/// A waker that wakes another and sets a flag.
pub(super) struct FlagWaker {
    state: Arc<State>,
    waker: Waker,
}

struct State {
    is_woken: AtomicBool,
    inner: Waker,
}

impl FlagWaker {
    /// Returns the waker in `place` if it wakes `inner`. Otherwise puts a new one there. Its flag
    /// is clear.
    pub(super) fn prepare<'a>(place: &'a mut Option<Self>, inner: &Waker) -> &'a Self {
        let kept = place
            .take()
            .filter(|kept| kept.state.inner.will_wake(inner));
        let flag_waker = place.insert(kept.unwrap_or_else(|| Self::new(inner.clone())));
        // ORDERING: Acquire pairs with `wake_by_ref`: the poll that follows sees the writes before
        // the wake, even if the wake found the flag set and did not wake `inner`.
        flag_waker.state.is_woken.swap(false, Ordering::Acquire);
        flag_waker
    }

    fn new(inner: Waker) -> Self {
        let state = Arc::new(State {
            is_woken: AtomicBool::new(false),
            inner,
        });
        Self {
            waker: Waker::from(Arc::clone(&state)),
            state,
        }
    }

    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    pub(super) fn is_woken(&self) -> bool {
        // ORDERING: a hint; `inner` was woken too, which causes the next poll.
        self.state.is_woken.load(Ordering::Relaxed)
    }
}

impl Wake for State {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING: Release pairs with `prepare`. If the flag was set already, the thread that set
        // it wakes `inner`, which causes a poll that clears the flag.
        if !self.is_woken.swap(true, Ordering::Release) {
            self.inner.wake_by_ref();
        }
    }
}
