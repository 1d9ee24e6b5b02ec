//! A small driver. Its events are wakers that a test makes due.

use std::sync::Arc as StdArc;
use std::task::Waker;
use std::time::Duration;

use raddle_primitives::sync::{Arc, Condvar, Mutex};

use raddle_sched::{Driver, Unpark};

/// State that a test and its driver share.
pub(crate) struct Events {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) due: Vec<Waker>,
    pub(crate) unparked: bool,
    /// How often the driver was parked.
    pub(crate) parks: usize,
    /// How often the driver was unparked.
    pub(crate) unparks: usize,
    /// The largest number of events that one park dispatched.
    pub(crate) largest_batch: usize,
    /// The largest limit that a worker passed to `park`.
    pub(crate) largest_limit: usize,
    pub(crate) shutdowns: usize,
    /// How many of the next parks return without a reason.
    pub(crate) spurious: usize,
}

impl Events {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
        })
    }

    pub(crate) fn driver(this: &Arc<Self>) -> Box<dyn Driver> {
        Box::new(EventDriver(this.clone()))
    }

    /// Makes events due: the next park of the driver wakes these wakers.
    pub(crate) fn raise(&self, wakers: impl IntoIterator<Item = Waker>) {
        self.state.lock().due.extend(wakers);
        self.changed.notify_all();
    }

    /// Waits until the driver is shut down.
    pub(crate) fn wait_for_shutdown(&self) {
        let mut state = self.state.lock();
        while state.shutdowns == 0 {
            state = self.changed.wait(state);
        }
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.state.lock())
    }
}

impl Unpark for Events {
    fn unpark(&self) {
        let mut state = self.state.lock();
        state.unparked = true;
        state.unparks += 1;
        drop(state);
        self.changed.notify_all();
    }
}

pub(crate) struct EventDriver(Arc<Events>);

impl Driver for EventDriver {
    fn park(&mut self, timeout: Option<Duration>, limit: usize) {
        let mut state = self.0.state.lock();
        state.parks += 1;
        state.largest_limit = state.largest_limit.max(limit);
        while state.due.is_empty() && !state.unparked && state.spurious == 0 {
            match timeout {
                None => state = self.0.changed.wait(state),
                Some(Duration::ZERO) => break,
                Some(timeout) => {
                    state = self.0.changed.wait_timeout(state, timeout).0;
                    break;
                }
            }
        }
        state.spurious = state.spurious.saturating_sub(1);
        state.unparked = false;
        let batch = limit.min(state.due.len());
        state.largest_batch = state.largest_batch.max(batch);
        let woken: Vec<_> = state.due.drain(..batch).collect();
        drop(state);
        for waker in woken {
            waker.wake();
        }
    }

    fn unparker(&self) -> StdArc<dyn Unpark> {
        StdArc::new(Unparker(self.0.clone()))
    }

    fn shutdown(&mut self) {
        self.0.state.lock().shutdowns += 1;
        self.0.changed.notify_all();
    }
}

struct Unparker(Arc<Events>);

impl Unpark for Unparker {
    fn unpark(&self) {
        self.0.unpark();
    }
}
