//! Waiting for a task from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Wake;

use raddle_task::JoinHandle;

use super::task::Output;
use super::world::TaskId;

/// A join that code outside the workers makes.
pub(crate) struct Join {
    pub(crate) task: TaskId,
    pub(crate) handle: JoinHandle<Output>,
    pub(crate) woken: Arc<Flag>,
}

#[derive(Default)]
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
