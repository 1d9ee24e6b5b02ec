//! The side of a set that any thread may touch.

use std::ops::Deref;

use raddle_primitives::sync::atomic::{AtomicBool, Ordering};

use super::executor::{self, Pushed};
use crate::{Arrivals, LocalRunnable, ScheduleLocal};

/// The queue of tasks that are woken on other threads than their set's, with the wakers of the
/// set's pollers.
#[derive(Default)]
pub(super) struct Shared {
    arrivals: Arrivals,
    /// Set when a task has panicked; cleared by the thread of the set, which ran the task.
    panicked: AtomicBool,
}

impl ScheduleLocal for Shared {
    fn schedule(&self, task: LocalRunnable) {
        match executor::push(self, task) {
            Pushed::Seen => {}
            Pushed::Unseen => self.wake_pollers(),
            Pushed::Elsewhere(task) => self.push(task),
        }
    }

    fn panicked(&self) {
        // ORDERING: only this thread reads it.
        self.panicked.store(true, Ordering::Relaxed);
    }
}

impl Shared {
    /// Returns whether a task has panicked since the last call.
    pub(super) fn take_panicked(&self) -> bool {
        // ORDERING: only this thread writes it.
        let panicked = self.panicked.load(Ordering::Relaxed);
        if panicked {
            // ORDERING: as above.
            self.panicked.store(false, Ordering::Relaxed);
        }
        panicked
    }
}

impl Deref for Shared {
    type Target = Arrivals;

    fn deref(&self) -> &Arrivals {
        &self.arrivals
    }
}
