//! A cell without ordering of its own, whose races a model finds.

use raddle_primitives::cell::UnsafeCell;

/// A number that one thread writes and another reads. It orders nothing, so the model reports
/// accesses that race.
pub(crate) struct Plain(UnsafeCell<u32>);

// SAFETY: the models share the number on purpose, to find out whether the accesses race.
unsafe impl Sync for Plain {}
// SAFETY: as above.
unsafe impl Send for Plain {}

impl Plain {
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    pub(crate) fn set(&self, value: u32) {
        // SAFETY: the model checks whether another thread reads at the same time.
        self.0.with_mut(|place| unsafe { *place = value });
    }

    pub(crate) fn get(&self) -> u32 {
        // SAFETY: the model checks whether another thread writes at the same time.
        self.0.with(|place| unsafe { *place })
    }
}
