//! Positions in the ring, and the word that holds the two at its front.
//!
//! An index counts the items that ever passed, modulo 2^32, and so is wider
//! than the ring: two indices are equal only if 2^32 items passed between, a
//! turn during which a stealer would have to stand still between its load and
//! its compare-exchange. Models use four bits, so that they see the wrap.

use raddle_std::sync::atomic::{AtomicU64, Ordering};

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

    /// How many items lie between `earlier` and this.
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

/// The front of the queue: what is taken, and what is free again.
///
/// The two are equal but while a stealer copies what it claimed: then `next`
/// is past the claim, and `free` still before it, so that the owner does not
/// write over slots that are being read, and no second stealer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Front {
    /// Slots before this may be written again.
    pub(crate) free: Index,
    /// The next item to take.
    pub(crate) next: Index,
}

impl Front {
    /// The front with nobody stealing.
    #[inline]
    pub(crate) fn at(next: Index) -> Self {
        Self { free: next, next }
    }

    #[inline]
    pub(crate) fn is_stealing(self) -> bool {
        self.free != self.next
    }

    #[inline]
    fn pack(self) -> u64 {
        (u64::from(self.free.value()) << 32) | u64::from(self.next.value())
    }

    #[inline]
    fn unpack(word: u64) -> Self {
        Self {
            free: Index((word >> 32) as u32),
            next: Index(word as u32),
        }
    }
}

/// The atomic word of the [`Front`].
#[derive(Debug)]
pub(crate) struct FrontCell(AtomicU64);

impl FrontCell {
    pub(crate) fn new(front: Front) -> Self {
        Self(AtomicU64::new(front.pack()))
    }

    #[inline]
    pub(crate) fn load(&self, order: Ordering) -> Front {
        Front::unpack(self.0.load(order))
    }

    /// Replaces `current` by `new`, releasing what came before; the front that
    /// is really there if another thread was faster.
    ///
    /// Every change of the front releases, because whoever acquires a front
    /// must not then see a tail older than it: the difference of the two is
    /// what there is to take.
    #[inline]
    pub(crate) fn advance(&self, current: Front, new: Front) -> Result<(), Front> {
        // ORDERING: Release pairs with the Acquire loads of the front in
        // `Stealer::steal_into` (the tail is at least as new) and in
        // `Owner::look` (a stealer has read its slots before they are written
        // again). Acquire on failure: the owner goes by what it then sees as if
        // it had looked.
        self.0
            .compare_exchange(
                current.pack(),
                new.pack(),
                Ordering::Release,
                Ordering::Acquire,
            )
            .map(drop)
            .map_err(Front::unpack)
    }

    /// Sets the front, which no other thread changes.
    #[inline]
    pub(crate) fn set(&self, new: Front) {
        // ORDERING: as in `advance`.
        self.0.store(new.pack(), Ordering::Release);
    }
}
