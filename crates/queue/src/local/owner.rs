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
    /// A stealer or an overflow has taken items since the last push.
    pub was_stolen_from: bool,
    /// The queue was full. Items went to the overflow, unless a stealer made room meanwhile.
    pub overflowed: bool,
}

/// The end of the queue that pushes and pops, on one thread at a time.
///
/// Dropping it drops the items in the queue.
///
/// ```
/// use raddle_queue::local;
///
/// let (owner, _) = local::new::<Box<u32>, 4>();
/// for n in 0..4 {
///     owner.try_push(Box::new(n)).unwrap();
/// }
/// assert_eq!((owner.len(), owner.room()), (4, 0));
///
/// // A worker that starts later gets a stealer, too.
/// let stealer = owner.stealer();
/// assert_eq!(stealer.steal().as_deref(), Some(&0));
/// assert_eq!(owner.room(), 1);
/// while let Some(task) = owner.pop() {
///     assert!(*task > 0);
/// }
/// assert!(owner.is_empty());
/// ```
pub struct Owner<T: Pointer, const N: usize = CAPACITY> {
    pub(super) ring: Arc<Ring<N>>,
    /// The head that the owner last loaded. Stealers may have moved it since; then an exchange that
    /// expects it fails. The cached value saves a load, which would wait for the previous exchange
    /// or for a stealer's core. The cell keeps the owner from being `Sync`.
    pub(super) cached_head: Cell<Index>,
    /// The end of the slots that the owner may write, as it last computed it. By now there may be
    /// more.
    pub(super) free: Cell<Index>,
    /// The position of the head, if no stealer has moved it since the last [`push`](Self::push).
    pub(super) unstolen_head: Cell<Index>,
    pub(super) items: PhantomData<T>,
}

// SAFETY: an owner moves its items to another thread with it, and its methods only require that no
// two threads call them at once; `Owner` is not `Sync`.
unsafe impl<T: Pointer + Send, const N: usize> Send for Owner<T, N> {}

impl<T: Pointer, const N: usize> Owner<T, N> {
    /// Adds an item at the tail. A full queue moves its older half and the item to `overflow`, in
    /// one batch. If a stealer is active, which makes room, only the item goes there.
    ///
    /// Returns the state of the queue that the push found, so a scheduler can decide whether to
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

    /// Adds an item at the tail, or returns it if the queue is full. Slots that a stealer has not
    /// read yet are not free.
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

    /// Adds items at the tail. The queue must have room for them.
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
            // A cached head of any age will do: no head passes the tail.
            if head == tail {
                self.cached_head.set(head);
                return None;
            }
            match self.ring.head.advance(head, head.plus(1)) {
                // SAFETY: the exchange claimed the slot, and only the owner writes the tail.
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
    pub unsafe fn pop_exclusive(&self) -> Option<T> {
        let head = self.refresh_head();
        if head == self.tail() {
            return None;
        }
        self.ring.head.set(head.plus(1));
        // SAFETY: no other thread takes the slot, and only the owner writes the tail.
        Some(unsafe { self.take_claimed(head) })
    }

    /// Takes the item at `index`.
    ///
    /// # Safety
    ///
    /// The owner has just moved the head past `index`.
    #[inline]
    unsafe fn take_claimed(&self, index: Index) -> T {
        self.cached_head.set(index.plus(1));
        self.unstolen_head.set(self.unstolen_head.get().plus(1));
        // SAFETY: the caller claimed the slot; the owner wrote it.
        unsafe { self.ring.take(index) }
    }

    /// Returns how many items can be pushed now without overflow. There may be more room than that.
    pub fn room(&self) -> usize {
        let free = self.find_free();
        // The mark may be older than the head by more than the capacity.
        N.saturating_sub(self.tail().since(free) as usize)
    }

    /// Returns the number of items in the queue.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // ORDERING: other threads can only remove items.
        self.ring.head.load(Ordering::Relaxed) == self.tail()
    }

    /// Returns another stealer of this queue.
    pub fn stealer(&self) -> Stealer<T, N> {
        Stealer {
            ring: self.ring.clone(),
            items: PhantomData,
        }
    }

    /// Refreshes the cached head.
    #[inline]
    fn refresh_head(&self) -> Index {
        // ORDERING: the owner wrote the slots that it takes, and uses `find_free` for the slots
        // that it writes.
        let head = self.ring.head.load(Ordering::Relaxed);
        self.cached_head.set(head);
        head
    }

    /// Refreshes the cached end of the free slots, which no stealer reads now.
    fn find_free(&self) -> Index {
        // ORDERING: pairs with `HeadCell::advance` in `Stealer::claim`, which comes after the mark.
        // For each claim before this head, the load of the mark below therefore finds the mark, or
        // finds it cleared. In the other order, a claim that is marked and moves the head between
        // the two loads could be missed.
        let head = self.ring.head.load(Ordering::Acquire);
        self.cached_head.set(head);
        let tail = self.tail();
        let free = match self.ring.claim.start() {
            // A claim that starts past this head was made later.
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
        // ORDERING: Relaxed: the store of the tail publishes it.
        self.ring
            .slot(index)
            .store(item.into_ptr().as_ptr(), Ordering::Relaxed);
    }

    #[inline]
    pub(super) fn publish(&self, tail: Index) {
        // ORDERING: pairs with the Acquire loads of the tail in `Stealer::steal_into` and
        // `Ring::len`.
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
            // A stealer that runs meanwhile fails to claim, and continues behind this half.
            if self.tail().since(head) as usize == N
                && self.ring.head.advance(head, head.plus(half)).is_ok()
            {
                overflow.push_batch(self.take_batch(head, half).chain(std::iter::once(item)));
                return;
            }
            // A stealer may have made room meanwhile.
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }

    /// Copies `count` claimed items out of the ring, so that the ring may be pushed to while they
    /// are consumed.
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

/// Items that were taken from a full queue, to be pushed to its overflow.
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
