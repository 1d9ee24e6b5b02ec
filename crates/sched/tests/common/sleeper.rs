//! A task that a test wakes.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Poll, Waker};

use raddle_primitives::sync::Mutex;
use raddle_sched::Handle;

use super::wait_until;

/// A task that waits forever, and counts its polls.
#[derive(Clone, Default)]
pub(crate) struct Sleeper {
    polls: Arc<AtomicUsize>,
    waker: Arc<Mutex<Option<Waker>>>,
}

impl Sleeper {
    /// Spawns the task, and waits for its first poll.
    pub(crate) fn on(handle: &Handle) -> Self {
        let sleeper = Self::default();
        let theirs = sleeper.clone();
        drop(handle.spawn(poll_fn(move |cx| {
            *theirs.waker.lock() = Some(cx.waker().clone());
            theirs.polls.fetch_add(1, SeqCst);
            Poll::<()>::Pending
        })));
        wait_until(|| sleeper.polls() == 1);
        sleeper
    }

    pub(crate) fn polls(&self) -> usize {
        self.polls.load(SeqCst)
    }

    pub(crate) fn waker(&self) -> Waker {
        self.waker.lock().clone().unwrap()
    }

    /// Wakes the task `times` times, and waits each time until it has been polled.
    pub(crate) fn wake_and_wait_for_polls(&self, times: usize, wake: impl Fn(Waker)) {
        for _ in 0..times {
            let polls = self.polls();
            wake(self.waker());
            wait_until(|| self.polls() > polls);
        }
    }
}
