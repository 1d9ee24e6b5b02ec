//! The permits of a guard, which passes them on when it is mapped or downgraded.

use std::mem;
use std::ptr;
use std::sync::Arc;

use super::RwLock;
use crate::semaphore::core::Core;

/// Permits of a borrowed lock, released on drop.
pub(super) struct Held<'a> {
    core: &'a Core,
    permits: usize,
}

impl<'a> Held<'a> {
    #[inline]
    pub(super) fn new(core: &'a Core, permits: usize) -> Self {
        Self { core, permits }
    }

    /// Releases all permits but one: a writer becomes a reader.
    pub(super) fn keep_one(&mut self) {
        let others = mem::replace(&mut self.permits, 1) - 1;
        release(self.core, others);
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        release(self.core, self.permits);
    }
}

/// Permits of a lock, which they keep alive; released on drop.
pub(super) struct HeldOwned<T: ?Sized> {
    lock: Arc<RwLock<T>>,
    permits: usize,
}

impl<T: ?Sized> HeldOwned<T> {
    #[inline]
    pub(super) fn new(lock: Arc<RwLock<T>>, permits: usize) -> Self {
        Self { lock, permits }
    }

    pub(super) fn lock(&self) -> &Arc<RwLock<T>> {
        &self.lock
    }

    /// Releases all permits but one: a writer becomes a reader.
    pub(super) fn keep_one(&mut self) {
        let others = mem::replace(&mut self.permits, 1) - 1;
        release(&self.lock.core, others);
    }
}

impl<T: ?Sized> Drop for HeldOwned<T> {
    #[inline]
    fn drop(&mut self) {
        release(&self.lock.core, self.permits);
    }
}

#[inline]
fn release(core: &Core, permits: usize) {
    // Recorded before the next task gets them.
    raddle_leaf::wait::released(ptr::from_ref(core).addr(), permits);
    core.release(permits);
}
