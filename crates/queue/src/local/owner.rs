//! The end of a local queue that pushes and pops.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use raddle_std::sync::Arc;
use raddle_std::sync::atomic::Ordering;

use super::ring::Ring;
use super::{CAPACITY, Stealer};
use crate::cursor::{Front, Index};
use crate::{Overflow, Pointer};

/// The end of the queue that pushes and pops, on one thread at a time.
///
/// Dropping it drops the items that are left.
pub struct Owner<T: Pointer, const N: usize = CAPACITY> {
    pub(super) ring: Arc<Ring<N>>,
    /// The front as the owner last saw it. Stealers may have moved it since:
    /// there is then more room than it says, and an exchange that expects it
    /// fails. Using it spares a load, which would wait for the exchange before
    /// it, or for a stealer's core. The cell keeps the owner from being `Sync`.
    pub(super) seen: Cell<Front>,
    /// Where the front is, if nobody but the owner has moved it since a push
    /// was news.
    pub(super) told: Cell<Index>,
    pub(super) items: PhantomData<T>,
}

// SAFETY: an owner moves its items along, and its methods need only that no two
// threads call them at once, which the missing `Sync` sees to.
unsafe impl<T: Pointer + Send, const N: usize> Send for Owner<T, N> {}

impl<T: Pointer, const N: usize> Owner<T, N> {
    /// Adds an item at the tail. A full queue moves its older half, and the
    /// item, to `overflow` in one batch; while a stealer is at work, which
    /// makes room, only the item goes there.
    #[inline]
    pub fn push(&self, item: T, overflow: &impl Overflow<T>) {
        if let Err(item) = self.try_push(item) {
            self.push_to_full(item, overflow);
        }
    }

    /// Adds an item as [`push`](Self::push) does, and says whether that is news
    /// to somebody who has looked for something to steal: the queue was empty,
    /// or stealers have taken from it since the last push that was news, or
    /// something went to `overflow`. Otherwise whoever has looked since then
    /// has found the queue not empty.
    #[inline]
    pub fn push_news(&self, item: T, overflow: &impl Overflow<T>) -> bool {
        let next = self.look().next;
        let news = next == self.tail() || next != self.told.get();
        if news {
            self.told.set(next);
        }
        match self.try_push(item) {
            Ok(()) => news,
            Err(item) => {
                self.push_to_full(item, overflow);
                true
            }
        }
    }

    /// Adds an item at the tail, or gives it back if the queue is full.
    #[inline]
    pub fn try_push(&self, item: T) -> Result<(), T> {
        let tail = self.tail();
        if tail.since(self.seen.get().free) as usize >= N
            && tail.since(self.look().free) as usize >= N
        {
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
        let mut front = self.seen.get();
        loop {
            // However old it is: no front passes the tail.
            if front.next == tail {
                self.seen.set(front);
                return None;
            }
            let next = front.next.plus(1);
            let new = if front.is_stealing() {
                Front { next, ..front }
            } else {
                Front::at(next)
            };
            match self.ring.front.advance(front, new) {
                Ok(()) => {
                    // SAFETY: the exchange claimed the slot, and the tail is
                    // ours.
                    return Some(unsafe { self.took(front.next, new) });
                }
                Err(actual) => front = actual,
            }
        }
    }

    /// As [`pop`](Self::pop), without a read-modify-write.
    ///
    /// # Safety
    ///
    /// Nobody may steal from the queue at the same time: the item would be
    /// taken twice.
    #[inline]
    pub unsafe fn pop_alone(&self) -> Option<T> {
        let front = self.look();
        if front.next == self.tail() {
            return None;
        }
        let new = Front::at(front.next.plus(1));
        self.ring.front.set(new);
        // SAFETY: nobody else takes the slot, and the tail is ours.
        Some(unsafe { self.took(front.next, new) })
    }

    /// Takes the item at `index`, past which the owner has moved the front.
    ///
    /// # Safety
    ///
    /// It has just done so.
    #[inline]
    unsafe fn took(&self, index: Index, front: Front) -> T {
        self.seen.set(front);
        self.told.set(self.told.get().plus(1));
        // SAFETY: the caller claimed the slot; the owner wrote it.
        unsafe { self.ring.take(index) }
    }

    /// How many items could be pushed now without overflow; never more than
    /// there really is room for.
    pub fn room(&self) -> usize {
        let front = self.look();
        N - self.tail().since(front.free) as usize
    }

    /// How many items the queue holds.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether the queue holds nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // ORDERING: a stealer can only make it emptier.
        self.ring.front.load(Ordering::Relaxed).next == self.tail()
    }

    /// A further stealer of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            ring: self.ring.clone(),
            items: PhantomData,
        }
    }

    /// Sees the front as it is.
    #[inline]
    fn look(&self) -> Front {
        // ORDERING: pairs with `FrontCell::advance` by the stealer that freed
        // slots: its reads happen before the owner writes there again.
        let front = self.ring.front.load(Ordering::Acquire);
        self.seen.set(front);
        front
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
            // ORDERING: as in `pop`: the owner wrote these slots.
            let front = self.ring.front.load(Ordering::Relaxed);
            if front.is_stealing() {
                overflow.push_batch(std::iter::once(item));
                return;
            }
            let half = (N / 2) as u32;
            if self.tail().since(front.next) as usize == N
                && self
                    .ring
                    .front
                    .advance(front, Front::at(front.next.plus(half)))
                    .is_ok()
            {
                overflow.push_batch(self.lift(front.next, half).chain(std::iter::once(item)));
                return;
            }
            // A stealer or nobody made room in between.
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }

    /// Copies `count` claimed items out, so that the ring may be pushed to
    /// while they are consumed.
    fn lift(&self, first: Index, count: u32) -> Lifted<T, N> {
        let mut lifted = Lifted {
            words: [const { MaybeUninit::uninit() }; N],
            next: 0,
            len: count as usize,
            items: PhantomData,
        };
        for offset in 0..count {
            let slot = self.ring.slot(first.plus(offset));
            // ORDERING: the owner wrote the slot itself.
            lifted.words[offset as usize].write(slot.load(Ordering::Relaxed));
        }
        lifted
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

/// Items on their way from a full queue to its overflow.
struct Lifted<T: Pointer, const N: usize> {
    words: [MaybeUninit<*mut ()>; N],
    next: usize,
    len: usize,
    items: PhantomData<T>,
}

impl<T: Pointer, const N: usize> Iterator for Lifted<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.len {
            return None;
        }
        // SAFETY: `Owner::lift` initialised the words before `len`.
        let word = unsafe { self.words[self.next].assume_init() };
        self.next += 1;
        // SAFETY: the owner claimed these items, and each is yielded once.
        Some(unsafe { T::from_ptr(NonNull::new_unchecked(word)) })
    }
}

impl<T: Pointer, const N: usize> Drop for Lifted<T, N> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}
