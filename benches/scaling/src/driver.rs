//! A driver whose events come from a load.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
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
    fn with<R>(&self, f: impl FnOnce(&mut Pending) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes an event due. The driver then wakes `waker`.
    pub(crate) fn raise(&self, waker: Waker) {
        self.with(|pending| pending.due.push_back(waker));
    }

    /// Whether an event is due.
    pub(crate) fn is_due(&self) -> bool {
        self.with(|pending| !pending.due.is_empty())
    }

    /// Whether a wait in the driver ends now.
    pub(crate) fn is_ready(&self) -> bool {
        self.with(|pending| pending.unparked || !pending.due.is_empty())
    }
}

impl Driver for Events {
    fn park(&mut self, _: Option<Duration>, limit: usize) {
        let woken: Vec<Waker> = self.with(|pending| {
            pending.unparked = false;
            let count = limit.min(pending.due.len());
            pending.due.drain(..count).collect()
        });
        woken.into_iter().for_each(Waker::wake);
    }

    fn unparker(&self) -> Arc<dyn Unpark> {
        Arc::new(self.clone())
    }

    fn shutdown(&mut self) {}
}

impl Unpark for Events {
    fn unpark(&self) {
        self.with(|pending| pending.unparked = true);
    }
}
