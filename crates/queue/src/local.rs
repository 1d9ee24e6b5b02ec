//! The bounded run queue: one owner pushes and pops, any thread steals.
//!
//! The design is that of Go's scheduler (Vyukov, 2012) as Tokio's rewrite of
//! 2019 carried it over: a ring, a tail that only the owner writes, and a front
//! word that owner and stealers move by compare-exchange.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use raddle_std::CachePadded;
use raddle_std::sync::Arc;
use raddle_std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use crate::cursor::{Front, FrontCell, Index};
use crate::{Overflow, Pointer};

/// The capacity of a queue that names none: 256 items.
///
/// Models use 4.
pub const CAPACITY: usize = if cfg!(raddle_loom) { 4 } else { 256 };

/// Makes an empty queue of capacity `N`, a power of two of at least 2.
///
/// ```
/// use raddle_queue::local;
///
/// let (owner, stealer) = local::new::<Box<u32>, 16>();
/// owner.try_push(Box::new(7)).unwrap();
/// assert_eq!(stealer.len(), 1);
/// assert_eq!(owner.pop().as_deref(), Some(&7));
/// ```
pub fn new<T: Pointer, const N: usize>() -> (Owner<T, N>, Stealer<T, N>) {
    starting_at(0)
}

/// Makes an empty queue whose indices start at `index`, so that tests reach
/// their wrap.
#[doc(hidden)]
pub fn starting_at<T: Pointer, const N: usize>(index: u32) -> (Owner<T, N>, Stealer<T, N>) {
    const {
        assert!(
            N.is_power_of_two() && N >= 2 && N <= 1 << 16,
            "the capacity must be a power of two between 2 and 65,536"
        );
    }
    let start = Index::new(index);
    let ring = Arc::new(Ring {
        front: CachePadded::new(FrontCell::new(Front::at(start))),
        tail: CachePadded::new(AtomicU32::new(start.value())),
        slots: (0..N).map(|_| AtomicPtr::new(ptr::null_mut())).collect(),
    });
    let owner = Owner {
        ring: ring.clone(),
        items: PhantomData,
    };
    let stealer = Stealer {
        ring,
        items: PhantomData,
    };
    (owner, stealer)
}

/// What owner and stealers share.
///
/// Slots from `front.next` to `tail` hold items; those from `front.free` to
/// `front.next` are being copied by one stealer; the rest are the owner's to
/// write. A slot's word is taken as an item only by whoever moved `front.next`
/// past it.
struct Ring<const N: usize> {
    front: CachePadded<FrontCell>,
    /// One past the last item. Written by the owner alone.
    tail: CachePadded<AtomicU32>,
    slots: Box<[AtomicPtr<()>]>,
}

impl<const N: usize> Ring<N> {
    #[inline]
    fn slot(&self, index: Index) -> &AtomicPtr<()> {
        let slot = index.slot::<N>();
        debug_assert!(slot < self.slots.len());
        // SAFETY: there are `N` slots and `Index::slot` masks by `N - 1`.
        unsafe { self.slots.get_unchecked(slot) }
    }

    /// Reads an item that the caller has claimed.
    ///
    /// # Safety
    ///
    /// The caller must be the one that moved `front.next` past `index`, and
    /// must have acquired a tail that is past it.
    #[inline]
    unsafe fn take<T: Pointer>(&self, index: Index) -> T {
        // ORDERING: the push of this slot happened before, through the tail.
        let ptr = self.slot(index).load(Ordering::Relaxed);
        // SAFETY: a claimed slot holds what `Owner::write` stored, and no
        // other thread claims it.
        unsafe { T::from_ptr(NonNull::new_unchecked(ptr)) }
    }

    fn len(&self) -> usize {
        // ORDERING: Acquire of the front keeps the tail at least as new as it;
        // see `FrontCell::advance`.
        let front = self.front.load(Ordering::Acquire);
        // ORDERING: pairs with `Owner::publish`.
        let tail = Index::new(self.tail.load(Ordering::Acquire));
        (tail.since(front.next) as usize).min(N)
    }
}

/// The end of the queue that pushes and pops, on one thread at a time.
///
/// Dropping it drops the items that are left.
pub struct Owner<T: Pointer, const N: usize = CAPACITY> {
    ring: Arc<Ring<N>>,
    /// The cell keeps the owner from being `Sync`.
    items: PhantomData<(T, Cell<()>)>,
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

    /// Adds an item at the tail, or gives it back if the queue is full.
    #[inline]
    pub fn try_push(&self, item: T) -> Result<(), T> {
        let tail = self.tail();
        // ORDERING: pairs with `FrontCell::advance` by the stealer that freed
        // the slot: its reads happen before the write below.
        let front = self.ring.front.load(Ordering::Acquire);
        if tail.since(front.free) as usize >= N {
            return Err(item);
        }
        self.write(tail, item);
        self.publish(tail.plus(1));
        Ok(())
    }

    /// Takes the oldest item.
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let tail = self.tail();
        // ORDERING: the owner reads only slots that it wrote itself.
        let mut front = self.ring.front.load(Ordering::Relaxed);
        loop {
            if front.next == tail {
                return None;
            }
            let next = front.next.plus(1);
            let new = if front.is_stealing() {
                Front { next, ..front }
            } else {
                Front::at(next)
            };
            match self.ring.front.advance(front, new) {
                // SAFETY: the exchange claimed the slot, and the tail is ours.
                Ok(()) => return Some(unsafe { self.ring.take(front.next) }),
                Err(actual) => front = actual,
            }
        }
    }

    /// How many items could be pushed now without overflow; never more than
    /// there really is room for.
    pub fn room(&self) -> usize {
        // ORDERING: as in `try_push`.
        let front = self.ring.front.load(Ordering::Acquire);
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

    #[inline]
    fn tail(&self) -> Index {
        // ORDERING: only the owner writes the tail.
        Index::new(self.ring.tail.load(Ordering::Relaxed))
    }

    #[inline]
    fn write(&self, index: Index, item: T) {
        // ORDERING: published by the store of the tail.
        self.ring
            .slot(index)
            .store(item.into_ptr().as_ptr(), Ordering::Relaxed);
    }

    #[inline]
    fn publish(&self, tail: Index) {
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

/// The end of the queue that takes items away from its owner.
pub struct Stealer<T: Pointer, const N: usize = CAPACITY> {
    ring: Arc<Ring<N>>,
    items: PhantomData<T>,
}

// SAFETY: a stealer moves items between threads, one thread an item.
unsafe impl<T: Pointer + Send, const N: usize> Send for Stealer<T, N> {}
// SAFETY: as above; all of its methods may be called at once.
unsafe impl<T: Pointer + Send, const N: usize> Sync for Stealer<T, N> {}

/// What a steal brought.
#[derive(Debug)]
pub struct Stolen<T> {
    /// The oldest item, for the stealer to run at once.
    pub first: T,
    /// How many more were moved into its queue.
    pub moved: usize,
}

impl<T: Pointer, const N: usize> Stealer<T, N> {
    /// Takes half of the items, rounded up: the oldest is returned, the others
    /// go to `into`. Nothing if the queue is empty, if another stealer is at
    /// work on it, or if `into` is itself more than half full.
    pub fn steal_into(&self, into: &Owner<T, N>) -> Option<Stolen<T>> {
        if into.room() < N / 2 {
            return None;
        }
        let (first, count) = self.claim()?;
        // SAFETY: `claim` won these slots and acquired the tail past them.
        let item = unsafe { self.ring.take(first) };
        let tail = into.tail();
        let moved = count - 1;
        for offset in 0..moved {
            // SAFETY: as above; each offset is read once.
            let item = unsafe { self.ring.take(first.plus(1 + offset)) };
            into.write(tail.plus(offset), item);
        }
        self.release_claim();
        if moved > 0 {
            into.publish(tail.plus(moved));
        }
        Some(Stolen {
            first: item,
            moved: moved as usize,
        })
    }

    /// Takes the oldest item.
    pub fn steal(&self) -> Option<T> {
        loop {
            // ORDERING: as in `claim`.
            let front = self.ring.front.load(Ordering::Acquire);
            // ORDERING: pairs with `Owner::publish`.
            let tail = Index::new(self.ring.tail.load(Ordering::Acquire));
            if front.is_stealing() || tail == front.next {
                return None;
            }
            // ORDERING: the push happened before, through the tail. If the
            // exchange below fails the word is forgotten, not taken.
            let word = self.ring.slot(front.next).load(Ordering::Relaxed);
            if self
                .ring
                .front
                .advance(front, Front::at(front.next.plus(1)))
                .is_ok()
            {
                // SAFETY: the exchange claimed the slot while it held `word`:
                // the owner writes it again only after the front has moved.
                return Some(unsafe { T::from_ptr(NonNull::new_unchecked(word)) });
            }
        }
    }

    /// How many items the queue holds.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Whether the queue holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Claims half of the items: the first and how many.
    fn claim(&self) -> Option<(Index, u32)> {
        loop {
            // ORDERING: pairs with `FrontCell::advance`, so that the tail
            // loaded next is not behind this front.
            let front = self.ring.front.load(Ordering::Acquire);
            // ORDERING: pairs with `Owner::publish`: the slots before this
            // tail are written.
            let tail = Index::new(self.ring.tail.load(Ordering::Acquire));
            if front.is_stealing() {
                return None;
            }
            let available = tail.since(front.next);
            if available == 0 {
                return None;
            }
            // The owner may have popped and pushed between the two loads; the
            // exchange fails then, and the length means nothing.
            let count = (available - available / 2).min((N / 2) as u32);
            let claimed = Front {
                next: front.next.plus(count),
                ..front
            };
            if self.ring.front.advance(front, claimed).is_ok() {
                return Some((front.next, count));
            }
        }
    }

    /// Frees the slots of the claim, once they have been read.
    fn release_claim(&self) {
        // ORDERING: only a guess for the exchange below.
        let mut front = self.ring.front.load(Ordering::Relaxed);
        while let Err(actual) = self.ring.front.advance(front, Front::at(front.next)) {
            front = actual;
        }
    }
}

impl<T: Pointer, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
            items: PhantomData,
        }
    }
}

impl<T: Pointer, const N: usize> fmt::Debug for Stealer<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer")
            .field("len", &self.len())
            .field("capacity", &N)
            .finish()
    }
}
