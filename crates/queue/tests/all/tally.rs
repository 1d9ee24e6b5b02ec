//! Items that count their drops.

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Counts how many times each item was dropped.
#[derive(Clone, Debug)]
pub(crate) struct Tally(Arc<[AtomicUsize]>);

impl Tally {
    /// Counts items below `count`.
    pub(crate) fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicUsize::new(0)).collect())
    }

    /// Returns item `id`.
    pub(crate) fn item(&self, id: usize) -> Box<Counted> {
        Box::new(Counted {
            id,
            drops: self.clone(),
            panics: false,
        })
    }

    /// Returns item `id`, whose drop panics.
    pub(crate) fn panicking_item(&self, id: usize) -> Box<Counted> {
        Box::new(Counted {
            id,
            drops: self.clone(),
            panics: true,
        })
    }

    /// How many times each item was dropped.
    pub(crate) fn drops(&self) -> Vec<usize> {
        // ORDERING: one thread drops and reads.
        self.0.iter().map(|n| n.load(Ordering::Relaxed)).collect()
    }

    /// Checks that each item was dropped once.
    pub(crate) fn check(&self) {
        assert_eq!(self.drops(), vec![1; self.0.len()]);
    }
}

/// An item of a [`Tally`].
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) id: usize,
    drops: Tally,
    panics: bool,
}

impl Drop for Counted {
    fn drop(&mut self) {
        // ORDERING: one thread drops and reads.
        self.drops.0[self.id].fetch_add(1, Ordering::Relaxed);
        assert!(!self.panics, "the drop of item {}", self.id);
    }
}
