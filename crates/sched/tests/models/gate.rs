//! A gate and a drop counter for models of whole pools.

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};

/// A gate that tasks open and threads wait at.
#[derive(Default)]
pub(crate) struct Gate {
    opened: Mutex<usize>,
    changed: Condvar,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.opened.lock() += 1;
        self.changed.notify_all();
    }

    pub(crate) fn is_open(&self) -> bool {
        *self.opened.lock() > 0
    }

    pub(crate) fn wait_for(&self, count: usize) {
        let mut opened = self.opened.lock();
        while *opened < count {
            opened = self.changed.wait(opened);
        }
    }
}

/// Counts its drops.
pub(crate) struct Counted(pub(crate) Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}
