//! Waiting for the end of a shutdown.

use std::time::Duration;

use raddle_primitives::sync::{Condvar, Mutex, Rank};

/// A latch for the threads that wait for the end of a scheduler's shutdown.
pub(crate) struct Finish {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_finished: bool,
    /// Whether a thread has left its worker since a waiting thread looked last.
    has_handoff: bool,
}

/// What ended a wait.
#[must_use]
pub(crate) enum Waited {
    /// Every task has been dropped.
    Finished,
    /// A thread has left its worker.
    HandedOff,
    TimedOut,
}

impl Default for Finish {
    fn default() -> Self {
        Self {
            state: Mutex::ranked(Rank::leaf("end of a scheduler"), State::default()),
            changed: Condvar::new(),
        }
    }
}

impl Finish {
    /// Announces that every task has been dropped.
    pub(crate) fn announce(&self) {
        self.state.lock().is_finished = true;
        self.changed.notify_all();
    }

    /// Announces that a thread has left its worker.
    pub(crate) fn announce_handoff(&self) {
        self.state.lock().has_handoff = true;
        self.changed.notify_all();
    }

    /// Waits for either announcement. `left` returns the remaining time, or `None` for no limit.
    pub(crate) fn wait(&self, left: impl Fn() -> Option<Duration>) -> Waited {
        let mut state = self.state.lock();
        let mut timed_out = false;
        loop {
            if state.is_finished {
                return Waited::Finished;
            }
            if std::mem::take(&mut state.has_handoff) {
                return Waited::HandedOff;
            }
            if timed_out {
                return Waited::TimedOut;
            }
            match left() {
                None => state = self.changed.wait(state),
                Some(left) => (state, timed_out) = self.changed.wait_timeout(state, left),
            }
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
