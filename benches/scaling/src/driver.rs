//! A driver whose events come from a load.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use raddle_sched::{Driver, Unpark};

/// The due events, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Events(Arc<Mutex<Pending>>);

#[derive(Debug, Default)]
struct Pending {
    due: VecDeque<Waker>,
    unparked: bool,
}

impl Events {
    /// Makes an event due. The driver then wakes `waker`.
    pub(crate) fn raise(&self, waker: Waker) {
        self.0.lock().unwrap().due.push_back(waker);
    }

    /// Whether an event is due.
    pub(crate) fn is_due(&self) -> bool {
        !self.0.lock().unwrap().due.is_empty()
    }

    /// Whether a wait in the driver ends now.
    pub(crate) fn is_ready(&self) -> bool {
        let pending = self.0.lock().unwrap();
        pending.unparked || !pending.due.is_empty()
    }
}

impl Driver for Events {
    fn park(&mut self, _: Option<Duration>, limit: usize) {
        let mut pending = self.0.lock().unwrap();
        pending.unparked = false;
        let count = limit.min(pending.due.len());
        let woken: Vec<Waker> = pending.due.drain(..count).collect();
        drop(pending);
        woken.into_iter().for_each(Waker::wake);
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.clone())
    }

    fn shutdown(&mut self) {}
}

impl Unpark for Events {
    fn unpark(&self) {
        self.0.lock().unwrap().unparked = true;
    }
}
