//! The end of a local queue that pushes and pops.

use std::cell::Cell;
use std::fmt;
use std::iter;
use std::mem::MaybeUninit;

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::Ordering;

use super::ring::Ring;
use super::{CAPACITY, Stealer};
use crate::Overflow;
use crate::cursor::Index;

/// The largest batch of an overflow, in bytes, that stands on the stack.
const MAX_STACK_BATCH: usize = 4096;

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
/// use raddle_queue::Owner;
///
/// // Items of any type stand in the queue itself: a push does not allocate.
/// let owner = Owner::new();
/// for job in [("parse", 1), ("reply", 2), ("log", 3)] {
///     owner.try_push(job).unwrap();
/// }
/// assert_eq!((owner.len(), owner.room()), (3, 253));
///
/// // A worker that starts later gets a stealer, too.
/// let stealer = owner.stealer();
/// assert_eq!(stealer.steal(), Some(("parse", 1)));
/// assert_eq!(owner.pop(), Some(("reply", 2)));
/// ```
///
/// An item does not get a shorter lifetime on its way through a queue:
///
/// ```compile_fail,E0597
/// let owner = raddle_queue::Owner::<&'static str>::new();
/// let text = String::from("short-lived");
/// fn push<'a>(owner: &raddle_queue::Owner<&'a str>, item: &'a str) {
///     owner.try_push(item).unwrap();
/// }
/// push(&owner, &text);
/// ```
pub struct Owner<T, const N: usize = CAPACITY> {
    pub(super) ring: Arc<Ring<T, N>>,
    /// The head that the owner last loaded. Stealers may have moved it since; then an exchange that
    /// expects it fails. The cached value saves a load, which would wait for the previous exchange
    /// or for a stealer's core. The cell keeps the owner from being `Sync`.
    pub(super) cached_head: Cell<Index>,
    /// The end of the slots that the owner may write, as it last computed it. By now there may be
    /// more.
    pub(super) free: Cell<Index>,
    /// The position of the head, if no stealer has moved it since the last [`push`](Self::push).
    pub(super) unstolen_head: Cell<Index>,
}

// SAFETY: an owner moves its items to another thread with it, and its methods only require that no
// two threads call them at once; `Owner` is not `Sync`.
unsafe impl<T: Send, const N: usize> Send for Owner<T, N> {}

impl<T> Owner<T> {
    /// Makes an empty queue of the default capacity, [`CAPACITY`]. [`local::new`](super::new) and
    /// `default` make one of any capacity.
    pub fn new() -> Self {
        super::new().0
    }
}

impl<T, const N: usize> Default for Owner<T, N> {
    /// Makes an empty queue.
    fn default() -> Self {
        super::new().0
    }
}

impl<T, const N: usize> Owner<T, N> {
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
        // SAFETY: fewer than `N` slots are between the free ones and the tail.
        unsafe { self.write(tail, item) };
        self.publish(tail.plus(1));
        Ok(())
    }

    /// Adds items at the tail.
    ///
    /// # Safety
    ///
    /// The queue has [`room`](Self::room) for them.
    pub(crate) unsafe fn extend(&self, items: impl Iterator<Item = T>) {
        let mut tail = self.tail();
        for item in items {
            // SAFETY: the caller has counted the room.
            unsafe { self.write(tail, item) };
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

    /// Writes an item behind the tail.
    ///
    /// # Safety
    ///
    /// The owner has found the slot free, and has written no item there since.
    #[inline]
    pub(super) unsafe fn write(&self, index: Index, item: T) {
        // SAFETY: the caller calls this as the owner, which is on one thread.
        unsafe { self.ring.write(index, item) };
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
                overflow.push_batch(iter::once(item));
                return;
            }
            let head = self.refresh_head();
            let half = (N / 2) as u32;
            // A stealer that runs meanwhile fails to claim, and continues behind this half.
            if self.tail().since(head) as usize == N
                && self.ring.head.advance(head, head.plus(half)).is_ok()
            {
                // SAFETY: the exchange claimed these slots, which the owner wrote.
                let take = |offset| unsafe { self.ring.take(head.plus(offset)) };
                // The ring may be pushed to while the overflow consumes the items.
                if const { N * size_of::<T>() <= MAX_STACK_BATCH } {
                    let mut batch = Batch::<T, N>::new();
                    (0..half).for_each(|offset| batch.push(take(offset)));
                    overflow.push_batch(batch.chain(iter::once(item)));
                } else {
                    let batch: Vec<T> = (0..half).map(take).collect();
                    overflow.push_batch(batch.into_iter().chain(iter::once(item)));
                }
                return;
            }
            // A stealer may have made room meanwhile.
            match self.try_push(item) {
                Ok(()) => return,
                Err(back) => item = back,
            }
        }
    }
}

impl<T, const N: usize> Drop for Owner<T, N> {
    fn drop(&mut self) {
        drop_all(&mut iter::from_fn(|| self.pop()));
    }
}

impl<T, const N: usize> fmt::Debug for Owner<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("len", &self.len())
            .field("capacity", &N)
            .finish()
    }
}

/// Items that were taken from a full queue, to be pushed to its overflow.
struct Batch<T, const N: usize> {
    items: [MaybeUninit<T>; N],
    /// The items from `next` to `len` are initialised, and belong to the batch.
    next: usize,
    len: usize,
}

impl<T, const N: usize> Batch<T, N> {
    #[inline]
    fn new() -> Self {
        Self {
            items: [const { MaybeUninit::uninit() }; N],
            next: 0,
            len: 0,
        }
    }

    #[inline]
    fn push(&mut self, item: T) {
        self.items[self.len].write(item);
        self.len += 1;
    }
}

impl<T, const N: usize> Iterator for Batch<T, N> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        if self.next == self.len {
            return None;
        }
        let item = &self.items[self.next];
        self.next += 1;
        // SAFETY: `push` wrote the item, and each is read once.
        Some(unsafe { item.assume_init_read() })
    }
}

impl<T, const N: usize> Drop for Batch<T, N> {
    fn drop(&mut self) {
        drop_all(self);
    }
}

/// Drops all items, the remaining ones even if the drop of one panics.
fn drop_all<I: Iterator>(items: &mut I) {
    struct Remaining<'a, I: Iterator>(&'a mut I);
    impl<I: Iterator> Drop for Remaining<'_, I> {
        fn drop(&mut self) {
            self.0.for_each(drop);
        }
    }
    let remaining = Remaining(items);
    remaining.0.for_each(drop);
}
