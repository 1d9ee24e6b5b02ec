//! Positions in the ring, and the word that holds the one at its head.
//!
//! An index counts the items that ever passed, modulo 2^32, and so is wider
//! than the ring: two indices are equal only if 2^32 items passed between, a
//! turn during which a stealer would have to stand still between its load and
//! its compare-exchange. Models use four bits, so that they see the wrap.

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};

const INDEX_BITS: u32 = if cfg!(raddle_loom) { 4 } else { 32 };
const INDEX_MASK: u32 = ((1_u64 << INDEX_BITS) - 1) as u32;

/// The largest ring: its indices are apart by more than its size.
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

    /// Returns the number of items between `earlier` and this.
    #[inline]
    pub(crate) fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0) & INDEX_MASK
    }

    /// The slot of a ring of `N`, a power of two.
    #[inline]
    pub(crate) fn slot<const N: usize>(self) -> usize {
        self.0 as usize & (N - 1)
    }
}

/// The atomic word of the head: the next item to take.
///
/// No slot before it holds an item of the queue, but a stealer may still be
/// reading some: see [`ClaimCell`](crate::claim::ClaimCell).
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

    /// Replaces `current` by `new`, releasing what came before; the head that
    /// is really there if another thread was faster.
    ///
    /// Every change of the head releases, because a thread that acquires a head
    /// must not then see a tail older than it, whose difference is what there
    /// is to take, nor miss the mark of a claim that lies before it.
    #[inline]
    pub(crate) fn advance(&self, current: Index, new: Index) -> Result<(), Index> {
        // ORDERING: Release pairs with the Acquire loads of the head in
        // `Stealer` and `Ring::len` (the tail is at least as new) and in
        // `Owner::find_free` (so is the mark). Acquire on failure: a stealer
        // goes on by what it then sees as if it had loaded it.
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
