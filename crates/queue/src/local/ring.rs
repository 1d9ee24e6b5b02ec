//! The state that the two ends of a local queue share.

use std::mem::MaybeUninit;
use std::panic::RefUnwindSafe;

use raddle_primitives::cell::UnsafeCell;
use raddle_primitives::sync::atomic::{AtomicU32, Ordering};
use raddle_primitives::sync::{Arc, arc_in_place};
use raddle_primitives::{CachePadded, named};

use crate::claim::ClaimCell;
use crate::cursor::{HeadCell, Index};

/// The state that the owner and the stealers share.
///
/// Who may access the slots:
///
/// 1. The slots from `head` to `tail` hold items. Only the thread that has moved `head` past a slot
///    reads it. A stealer moves `head` only under a mark in `claim`, from where its claim starts.
/// 2. The owner alone writes slots, and moves `tail` past them afterwards. It writes neither slots
///    that hold items, nor those from the start of a marked `claim` to `head`: a stealer may be
///    reading them.
///
/// A slot is read only after it is claimed, so it need not be an atomic word, and items of any type
/// stand in the ring itself.
///
/// Each word has its own cache lines: the owner writes `tail` in each push and `head` in each pop,
/// and a stealer that writes `claim` must not take these lines from it.
pub(super) struct Ring<T, const N: usize> {
    pub(super) head: CachePadded<HeadCell>,
    pub(super) claim: CachePadded<ClaimCell>,
    /// The index after the last item. Only the owner writes it.
    pub(super) tail: CachePadded<AtomicU32>,
    slots: [UnsafeCell<MaybeUninit<T>>; N],
}

/// A panic leaves no slot half written: no code of the items runs while they are moved.
impl<T, const N: usize> RefUnwindSafe for Ring<T, N> {}

impl<T, const N: usize> Ring<T, N> {
    /// Makes an empty ring whose first item will have the index `start`.
    pub(super) fn new(start: Index) -> Arc<Self> {
        // SAFETY: the closure writes each field.
        unsafe {
            arc_in_place(|place: &mut MaybeUninit<Self>| {
                let place = place.as_mut_ptr();
                (&raw mut (*place).head).write(CachePadded::new(HeadCell::new(start)));
                (&raw mut (*place).claim).write(CachePadded::new(ClaimCell::new()));
                let tail = named("queue tail", AtomicU32::new(start.value()));
                (&raw mut (*place).tail).write(CachePadded::new(tail));
                let slots = (&raw mut (*place).slots).cast::<UnsafeCell<MaybeUninit<T>>>();
                for index in 0..N {
                    slots
                        .add(index)
                        .write(UnsafeCell::new(MaybeUninit::uninit()));
                }
            })
        }
    }

    /// Writes an item into a slot.
    ///
    /// # Safety
    ///
    /// The caller is the owner, and `index` is less than `N` behind the end of the slots that it
    /// has found free.
    #[inline]
    pub(super) unsafe fn write(&self, index: Index, item: T) {
        let slot = &self.slots[index.slot::<N>()];
        // SAFETY: only the owner writes, and no other thread reads a free slot.
        slot.with_mut(|slot| unsafe { (*slot).write(item) });
    }

    /// Reads an item that the caller has claimed.
    ///
    /// # Safety
    ///
    /// The caller has moved `head` past `index`, and has acquired a tail past it (or wrote it). It
    /// reads the item once. If it is a stealer, its mark still stands.
    #[inline]
    pub(super) unsafe fn take(&self, index: Index) -> T {
        let slot = &self.slots[index.slot::<N>()];
        // SAFETY: a claimed slot holds what the owner wrote before it moved the tail. No other
        // thread claims the slot, and the owner does not write it: it moved the head itself, or
        // finds the mark.
        slot.with(|slot| unsafe { (*slot).assume_init_read() })
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
