//! The word that says which slots a stealer may be reading.

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

use crate::cursor::Index;

const NOT_MARKED: u64 = 0;

/// Set while a stealer is active. The bits below then hold the index at which its claim starts. Set
/// by `mark`; cleared by `clear`.
const MARKED: u64 = 1 << 32;

/// A stealer's mark: the start of the claim that it is about to make, or has made and is reading.
///
/// Only one stealer at a time can set it; others are refused. The stealer sets it before the head
/// moves past the claim, and clears it after its last read. A thread that acquires the head and
/// then this word therefore knows that each claim before that head is marked here or has been read.
/// The mark may be older than the head, if the owner was faster than the stealer. Then the owner
/// computes less free room than there is, which is safe.
#[derive(Debug)]
pub(crate) struct ClaimCell(AtomicU64);

impl ClaimCell {
    pub(crate) fn new() -> Self {
        Self(named("queue claim", AtomicU64::new(NOT_MARKED)))
    }

    /// The start of the claim that a stealer may be reading.
    #[inline]
    pub(crate) fn start(&self) -> Option<Index> {
        // ORDERING: pairs with `clear`: if a claim is no longer marked, its reads happen before the
        // owner writes its slots.
        let word = self.0.load(Ordering::Acquire);
        (word & MARKED != 0).then(|| Index::new(word as u32))
    }

    /// Returns whether a stealer is active.
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        // ORDERING: no read or write relies on it.
        self.0.load(Ordering::Relaxed) & MARKED != 0
    }

    /// Marks a claim, unless another stealer is active. The stealer that marks it must clear it.
    #[inline]
    #[must_use]
    pub(crate) fn mark(&self, start: Index) -> bool {
        // ORDERING: Acquire pairs with `clear`, so that what this stealer writes here later also
        // publishes the reads of the stealers before it. `HeadCell::advance` publishes the mark
        // together with the head that it covers.
        self.0
            .compare_exchange(
                NOT_MARKED,
                MARKED | u64::from(start.value()),
                Ordering::Acquire,
                Ordering::Relaxed,
            )
            .is_ok()
    }

    /// Moves the mark. Only the stealer that set it may call this.
    #[inline]
    pub(crate) fn mark_again(&self, start: Index) {
        // ORDERING: Release pairs with `start`, for the reads of earlier stealers, as in `mark`.
        self.0
            .store(MARKED | u64::from(start.value()), Ordering::Release);
    }

    /// Clears the mark. Only the stealer that set it may call this, after it has read its slots.
    #[inline]
    pub(crate) fn clear(&self) {
        // ORDERING: pairs with `start` and `mark`.
        self.0.store(NOT_MARKED, Ordering::Release);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
