//! The state that the two ends of a local queue share.

use std::ptr::{self, NonNull};

use raddle_primitives::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use raddle_primitives::{CachePadded, named};

use crate::Pointer;
use crate::claim::ClaimCell;
use crate::cursor::{HeadCell, Index};

/// The state that the owner and the stealers share.
///
/// Slots from `head` to `tail` hold items. One stealer may be reading the slots from the start of a
/// marked `claim` to `head`. The owner may write all other slots. Only the thread that moved `head`
/// past a slot takes its word as an item.
///
/// Each word has its own cache lines: the owner writes `tail` in each push and `head` in each pop,
/// and a stealer that writes `claim` must not take these lines from it.
pub(super) struct Ring<const N: usize> {
    pub(super) head: CachePadded<HeadCell>,
    pub(super) claim: CachePadded<ClaimCell>,
    /// The index after the last item. Only the owner writes it.
    pub(super) tail: CachePadded<AtomicU32>,
    slots: [AtomicPtr<()>; N],
}

impl<const N: usize> Ring<N> {
    /// Makes an empty ring whose first item will have the index `start`.
    pub(super) fn new(start: Index) -> Self {
        Self {
            head: CachePadded::new(HeadCell::new(start)),
            claim: CachePadded::new(ClaimCell::new()),
            tail: CachePadded::new(named("queue tail", AtomicU32::new(start.value()))),
            slots: std::array::from_fn(|_| named("queue slot", AtomicPtr::new(ptr::null_mut()))),
        }
    }

    #[inline]
    pub(super) fn slot(&self, index: Index) -> &AtomicPtr<()> {
        &self.slots[index.slot::<N>()]
    }

    /// Reads an item that the caller has claimed.
    ///
    /// # Safety
    ///
    /// The caller must have moved `head` past `index`, and must have acquired a tail past it.
    #[inline]
    pub(super) unsafe fn take<T: Pointer>(&self, index: Index) -> T {
        // ORDERING: the push of this slot happened before, through the tail.
        let ptr = self.slot(index).load(Ordering::Relaxed);
        // SAFETY: a claimed slot holds what `Owner::write` stored, and no other thread claims it.
        unsafe { T::from_ptr(NonNull::new_unchecked(ptr)) }
    }

    pub(super) fn len(&self) -> usize {
        // ORDERING: Acquire of the head keeps the tail at least as new as it; see
        // `HeadCell::advance`.
        let head = self.head.load(Ordering::Acquire);
        // ORDERING: pairs with `Owner::publish`.
        let tail = Index::new(self.tail.load(Ordering::Acquire));
        (tail.since(head) as usize).min(N)
    }
}
