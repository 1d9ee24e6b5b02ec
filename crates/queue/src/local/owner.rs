//! The end of a local queue that pushes and pops.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::Ordering;

use super::ring::Ring;
use super::{CAPACITY, Stealer};
use crate::cursor::Index;
use crate::{Overflow, Pointer};

/// The state of the queue that [`Owner::push`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// The queue held nothing.
    pub was_empty: bool,
    /// A stealer, or an overflow, has taken items since the last push.
    pub was_stolen_from: bool,
    /// The queue was full. Items went to the overflow, unless a stealer made room
    /// just then.
    pub overflowed: bool,
}

/// The end of the queue that pushes and pops, on one thread at a time.
///
/// Dropping it drops the items that are left.
pub struct Owner<T: Pointer, const N: usize = CAPACITY> {
    pub(super) ring: Arc<Ring<N>>,
    /// The head as the owner last loaded it. Stealers may have moved it since: an
    /// exchange that expects it then fails. Using it spares a load, which would
    /// wait for the exchange before it, or for a stealer's core. The cell keeps
    /// the owner from being `Sync`.
    pub(super) cached_head: Cell<Index>,
    /// Slots before this may be written again, as the owner last found. There
    /// may be more by now.
    pub(super) free: Cell<Index>,
    /// The position of the head, if no stealer has moved it since the last [`push`](Self::push).
    pub(super) unstolen_head: Cell<Index>,
    pub(super) items: PhantomData<T>,
}

// SAFETY: an owner moves its items along, and its methods need only that no two threads call them
// at once; `Owner` is not `Sync`.
unsafe impl<T: Pointer + Send, const N: usize> Send for Owner<T, N> {}

impl<T: Pointer, const N: usize> Owner<T, N> {
    /// Adds an item at the tail. A full queue moves its older half, and the
    /// item, to `overflow` in one batch; while a stealer is at work, which
    /// makes room, only the item goes there.
    ///
    /// Returns what the push found, from which a scheduler concludes whether to
    /// wake a worker.
    #[inline]
    pub fn push(&self, item: T, overflow: &impl Overflow<T>) -> Pushed {
        let head = self.refresh_head();
        let was_empty = head == self.tail();
        let was_stolen_from = head != self.unstolen_head.replace(head);
        let overflowed = match self.try_push(item) {
            Ok(()) => false,
            Err(item) => {
                self.push_to_full(item, overflow);
                true
            }
        };
        Pushed {
            was_empty,
            was_stolen_from,
            overflowed,
        }
    }

    /// Adds an item at the tail, or gives it back if the queue is full, also of
    /// what a stealer has yet to read.
    #[inline]
    pub fn try_push(&self, item: T) -> Result<(), T> {
        let tail = self.tail();
        if tail.since(self.free.get()) as usize >= N && tail.since(self.find_free()) as usize >= N {
            return Err(item);
        }
        self.write(tail, item);
        self.publish(tail.plus(1));
        Ok(())
    }

    /// Adds items at the tail, for which there is room.
    pub(crate) fn extend(&self, items: impl Iterator<Item = T>) {
        let mut tail = self.tail();
        for item in items {
            self.write(tail, item);
            tail = tail.plus(1);
        }
        self.publish(tail);
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail();
        let mut head = self.cached_head.get();
        loop {
            // However old it is: no head passes the tail.
            if head == tail {
                self.cached_head.set(head);
                return None;
            }
            match self.ring.head.advance(head, head.plus(1)) {
                // SAFETY: the exchange claimed the slot, and the tail is ours.
                Ok(()) => return Some(unsafe { self.take_claimed(head) }),
                Err(actual) => head = actual,
            }
        }
    }

    /// Like [`pop`](Self::pop), but without a read-modify-write.
    ///
    /// # Safety
    /// No thread may steal from the queue at the same time: the item would be taken twice.
    #[inline]
    pub unsafe fn pop_alone(&self) -> Option<T> {
        let head = self.refresh_head();
        if head == self.tail() {
            return None;
        }
        self.ring.head.set(head.plus(1));
        // SAFETY: no other thread takes the slot, and the tail is ours.
        Some(unsafe { self.take_claimed(head) })
    }

    /// Takes the item at `index`, past which the owner has moved the head.
    ///
    /// # Safety
    ///
    /// It has just done so.
    #[inline]
    unsafe fn take_claimed(&self, index: Index) -> T {
        self.cached_head.set(index.plus(1));
        self.unstolen_head.set(self.unstolen_head.get().plus(1));
        // SAFETY: the caller claimed the slot; the owner wrote it.
        unsafe { self.ring.take(index) }
    }

    /// Returns how many items can be pushed now without overflow; never more than there is room
    /// for.
    pub fn room(&self) -> usize {
        let free = self.find_free();
        // A mark may have been left behind by more than the capacity.
        N.saturating_sub(self.tail().since(free) as usize)
    }

    /// Returns the number of items in the queue.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the queue holds nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // ORDERING: a stealer can only make it emptier.
        self.ring.head.load(Ordering::Relaxed) == self.tail()
    }

    /// A further stealer of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            ring: self.ring.clone(),
            items: PhantomData,
        }
    }

    /// Refreshes the cached head.
    #[inline]
    fn refresh_head(&self) -> Index {
        // ORDERING: the owner wrote the slots that it takes, and goes by
        // `find_free` where it writes.
        let head = self.ring.head.load(Ordering::Relaxed);
        self.cached_head.set(head);
        head
    }

    /// Refreshes the cached end of the free slots, which no stealer reads any more.
    fn find_free(&self) -> Index {
        // ORDERING: pairs with `HeadCell::advance` in `Stealer::claim`, which
        // comes after the mark, so that the load of the mark below finds each
        // claim that lies before this head, or that it has been cleared. The
        // other way round a claim could be missed that is marked, and moves
        // the head, between the two loads.
        let head = self.ring.head.load(Ordering::Acquire);
        self.cached_head.set(head);
        let tail = self.tail();
        let free = match self.ring.claim.start() {
            // A claim that starts past this head is newer than it.
            Some(start) if tail.since(start) > tail.since(head) => start,
            _ => head,
        };
        self.free.set(free);
        free
    }

    #[inline]
    pub(super) fn tail(&self) -> Index {
        // ORDERING: only the owner writes the tail.
        Index::new(self.ring.tail.load(Ordering::Relaxed))
    }

    #[inline]
    pub(super) fn write(&self, index: Index, item: T) {
        // ORDERING: published by the store of the tail.
        self.ring
            .slot(index)
            .store(item.into_ptr().as_ptr(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn publish(&self, tail: Index) {
        // ORDERING: pairs with the Acquire loads of the tail in
        // `Stealer::steal_into` and `Ring::len`.
        self.ring.tail.store(tail.value(), Ordering::Release);
    }

    #[cold]
    fn push_to_full(&self, mut item: T, overflow: &impl Overflow<T>) {
        loop {
            if self.ring.claim.is_marked() {
                overflow.push_batch(std::iter::once(item));
                return;
            }
            let head = self.refresh_head();
            let half = (N / 2) as u32;
            // A stealer that has come in between fails to claim, and goes on
            // behind this half.
            if self.tail().since(head) as usize == N
                && self.ring.head.advance(head, head.plus(half)).is_ok()
            {
                overflow.push_batch(self.take_batch(head, half).chain(std::iter::once(item)));
                return;
            }
            // A stealer may have made room in between.
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }

    /// Copies `count` claimed items out, so that the ring may be pushed to
    /// while they are consumed.
    fn take_batch(&self, first: Index, count: u32) -> Batch<T, N> {
        let mut batch = Batch {
            words: [const { MaybeUninit::uninit() }; N],
            next: 0,
            len: count as usize,
            items: PhantomData,
        };
        for offset in 0..count {
            let slot = self.ring.slot(first.plus(offset));
            // ORDERING: the owner wrote the slot itself.
            batch.words[offset as usize].write(slot.load(Ordering::Relaxed));
        }
        batch
    }
}

impl<T: Pointer, const N: usize> Drop for Owner<T, N> {
    fn drop(&mut self) {
        while let Some(item) = self.pop() {
            drop(item);
        }
    }
}

impl<T: Pointer, const N: usize> fmt::Debug for Owner<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("len", &self.len())
            .field("capacity", &N)
            .finish()
    }
}

/// Items that were taken out of a full queue, to be pushed to its overflow.
struct Batch<T: Pointer, const N: usize> {
    words: [MaybeUninit<*mut ()>; N],
    next: usize,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Pointer, const N: usize> Iterator for Batch<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.len {
            return None;
        }
        // SAFETY: `Owner::take_batch` initialised the words before `len`.
        let word = unsafe { self.words[self.next].assume_init() };
        self.next += 1;
        // SAFETY: the owner claimed these items, and each is yielded once.
        Some(unsafe { T::from_ptr(NonNull::new_unchecked(word)) })
    }
}

impl<T: Pointer, const N: usize> Drop for Batch<T, N> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
