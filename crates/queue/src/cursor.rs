//! Positions in the ring, and the word that holds the position of its head.
//!
//! An index counts all items that have passed, modulo 2^32, so it is wider than the ring. Two
//! indices that differ by a multiple of 2^32 are equal: a stealer would have to be suspended,
//! between its load and its compare-exchange, while 2^32 items pass. In models an index has four
//! bits, so that models reach the wrap.

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};

const INDEX_BITS: u32 = if cfg!(raddle_loom) { 4 } else { 32 };
const INDEX_MASK: u32 = ((1_u64 << INDEX_BITS) - 1) as u32;

/// The largest capacity of a ring. The distance between two of its indices must stay below the
/// range of an index.
pub(crate) const MAX_CAPACITY: usize = if cfg!(raddle_loom) { 8 } else { 1 << 16 };

/// A position in the sequence of all items, modulo 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Index(u32);

impl Index {
    #[inline]
    pub(crate) fn new(value: u32) -> Self {
        Self(value & INDEX_MASK)
    }

    #[inline]
    pub(crate) fn value(self) -> u32 {
        self.0
    }

    #[inline]
    pub(crate) fn plus(self, count: u32) -> Self {
        Self::new(self.0.wrapping_add(count))
    }

    /// Returns the number of items from `earlier` to this index.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0) & INDEX_MASK
    }

    /// Returns the slot in a ring of `N` slots, a power of two.
    #[inline]
    pub(crate) fn slot<const N: usize>(self) -> usize {
        self.0 as usize & (N - 1)
    }
}

/// The atomic word of the head: the index of the next item to take.
///
/// No slot before the head holds an item of the queue, but a stealer may still be reading some of
/// them: see [`ClaimCell`](crate::claim::ClaimCell).
#[derive(Debug)]
pub(crate) struct HeadCell(AtomicU32);

impl HeadCell {
    pub(crate) fn new(head: Index) -> Self {
        Self(named("queue head", AtomicU32::new(head.value())))
    }

    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> Index {
        Index(self.0.load(order))
    }

    /// Replaces `current` with `new`, and publishes earlier writes. Returns the actual head if
    /// another thread has moved it.
    ///
    /// Every change of the head is a release. A thread that acquires a head must not then see an
    /// older tail, since the difference is the number of items. It must not miss the mark of a
    /// claim before that head either.
    #[inline]
    pub(crate) fn advance(&self, current: Index, new: Index) -> Result<(), Index> {
        // ORDERING: Release pairs with the Acquire loads of the head in `Stealer` and `Ring::len`
        // (the tail is at least as new) and in `Owner::find_free` (so is the mark). Acquire on
        // failure: a stealer uses the returned head as if it had loaded it.
        self.0
            .compare_exchange(
                current.value(),
                new.value(),
                Ordering::Release,
                Ordering::Acquire,
            )
            .map(drop)
            .map_err(Index)
    }

    /// Sets the head, which no other thread changes.
    #[inline]
    pub(crate) fn set(&self, new: Index) {
        // ORDERING: as in `advance`.
        self.0.store(new.value(), Ordering::Release);
    }
}
