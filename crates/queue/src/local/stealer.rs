//! The end of a local queue that takes items from its owner.

use std::fmt;

use raddle_primitives::hint;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::Ordering;

use super::ring::Ring;
use super::{CAPACITY, Owner};
use crate::claim::ClaimCell;
use crate::cursor::Index;

/// The number of spin-loop hints for which a stealer waits, once, if it finds no more than an
/// eighth of the capacity. Then it takes its share of the items that are in the queue.
///
/// The owner may be in the middle of a burst of pushes, and moving one item makes the cores wait
/// for each other as long as moving many. Without the wait, most steals from a busy owner take a
/// single item. The wait is a fraction of a microsecond.
const STEAL_SPINS: u32 = 4;

/// The end of the queue that takes items from its owner.
///
/// ```
/// use std::thread;
///
/// use raddle_queue::Owner;
///
/// let owner = Owner::new();
/// let stealer = owner.stealer();
/// for n in 1..=10_u32 {
///     owner.try_push(n).unwrap();
/// }
/// assert_eq!(stealer.len(), 10);
///
/// // Each thread has a stealer of its own. They share the queue without a lock.
/// let threads = [stealer.clone(), stealer].map(|stealer| {
///     thread::spawn(move || {
///         let mut sum = 0;
///         while !stealer.is_empty() {
///             sum += stealer.steal().unwrap_or(0);
///         }
///         sum
///     })
/// });
/// let sums = threads.map(|thread| thread.join().unwrap());
/// assert_eq!(sums.iter().sum::<u32>(), 55);
/// ```
pub struct Stealer<T, const N: usize = CAPACITY> {
    pub(super) ring: Arc<Ring<T, N>>,
}

// SAFETY: a stealer moves items between threads, and one thread at a time has each item.
unsafe impl<T: Send, const N: usize> Send for Stealer<T, N> {}
// SAFETY: as above; all of its methods may be called concurrently.
unsafe impl<T: Send, const N: usize> Sync for Stealer<T, N> {}

/// The result of a steal.
#[derive(Debug)]
pub struct Stolen<T> {
    /// The oldest item, for the stealer to run at once.
    pub first: T,
    /// The number of further items that were moved into the stealer's queue.
    pub moved: usize,
}

impl<T, const N: usize> Stealer<T, N> {
    /// Takes the oldest items. `share` gets the number of items in the queue and returns how many
    /// to take. The first is returned, the others go to `into`. At least one item is taken, and at
    /// most half of the capacity.
    ///
    /// Returns `None` if the queue is empty, if another stealer is active on it, or if `into` is
    /// itself more than half full. If there are few items, it waits a moment for more, once.
    /// `share` may be called several times if the owner pops meanwhile, and may use both queues.
    ///
    /// ```
    /// use raddle_queue::{Injection, Owner};
    ///
    /// let (owner, other) = (Owner::new(), Owner::new());
    /// for n in 0..8 {
    ///     owner.push(n, &Injection::new());
    /// }
    /// let stolen = owner.stealer().steal_into(&other, |n| n / 2).unwrap();
    /// assert_eq!((stolen.first, stolen.moved, owner.len()), (0, 3, 4));
    /// ```
    #[inline]
    pub fn steal_into(
        &self,
        into: &Owner<T, N>,
        share: impl Fn(usize) -> usize,
    ) -> Option<Stolen<T>> {
        // SAFETY: the function does not use `into`.
        unsafe { self.steal_into_with(into, share, || ()) }
    }

    /// Like [`steal_into`](Self::steal_into), but calls `claimed` between the claim and the first
    /// read. Tests use the queue there as another thread could.
    ///
    /// # Safety
    ///
    /// `claimed` does not use `into`, whose room has been counted.
    #[doc(hidden)]
    pub unsafe fn steal_into_with(
        &self,
        into: &Owner<T, N>,
        share: impl Fn(usize) -> usize,
        claimed: impl FnOnce(),
    ) -> Option<Stolen<T>> {
        raddle_primitives::count_event("steal attempt");
        let tail = into.tail();
        if into.room() < N / 2 {
            return None;
        }
        let (mut head, mut available) = self.head_and_len();
        if available > 0 && available as usize <= N / 8 {
            (0..STEAL_SPINS).for_each(|_| hint::spin_loop());
            (head, available) = self.head_and_len();
        }
        let Claim { mark, first, count } = self.claim(head, available, |available| {
            let count = share(available);
            // `share` may have pushed to `into`.
            (into.tail() == tail || into.room() >= N / 2).then_some(count)
        })?;
        claimed();
        // SAFETY: `claim` won these slots and acquired the tail past them, and the mark stands.
        let item = unsafe { self.ring.take(first) };
        let tail = into.tail();
        let moved = count - 1;
        for offset in 0..moved {
            // SAFETY: as above; each offset is read once.
            let item = unsafe { self.ring.take(first.plus(1 + offset)) };
            // SAFETY: `into` had room for half of the capacity, and a claim is not longer.
            unsafe { into.write(tail.plus(offset), item) };
        }
        drop(mark);
        if moved > 0 {
            into.publish(tail.plus(moved));
        }
        Some(Stolen {
            first: item,
            moved: moved as usize,
        })
    }

    /// Takes the oldest item. Returns `None` if the queue is empty, or if another stealer is active
    /// on it.
    pub fn steal(&self) -> Option<T> {
        let (head, available) = self.head_and_len();
        let Claim { mark, first, .. } = self.claim(head, available, |_| Some(1))?;
        // SAFETY: `claim` won this slot and acquired the tail past it, and the mark stands.
        let item = unsafe { self.ring.take(first) };
        drop(mark);
        Some(item)
    }

    /// Returns the number of items in the queue.
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// Returns whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Claims a share of the items, from a head and a number of items that were loaded, unless
    /// `share` refuses.
    #[inline]
    fn claim(
        &self,
        mut head: Index,
        mut available: u32,
        share: impl Fn(usize) -> Option<usize>,
    ) -> Option<Claim<'_>> {
        if available == 0 || !self.ring.claim.mark(head) {
            return None;
        }
        let mark = Mark(&self.ring.claim);
        loop {
            // The owner may have popped and pushed between the two loads. Then the length is wrong,
            // and the exchange fails.
            let most = (available as usize).min(N / 2);
            let count = share(available as usize)?.clamp(1, most) as u32;
            match self.ring.head.advance(head, head.plus(count)) {
                Ok(()) => {
                    return Some(Claim {
                        mark,
                        first: head,
                        count,
                    });
                }
                Err(actual) => head = actual,
            }
            available = self.tail().since(head);
            if available == 0 {
                return None;
            }
            // This thread may have been suspended before its first mark for so long that the
            // indices have wrapped. Then that mark would seem to be behind the claim.
            self.ring.claim.mark_again(head);
        }
    }

    /// Returns the head, and the number of items from there on.
    #[inline]
    fn head_and_len(&self) -> (Index, u32) {
        // ORDERING: pairs with `HeadCell::advance`, so that the tail loaded next is not behind this
        // head.
        let head = self.ring.head.load(Ordering::Acquire);
        (head, self.tail().since(head))
    }

    #[inline]
    fn tail(&self) -> Index {
        // ORDERING: pairs with `Owner::publish`: the slots before this tail are written.
        Index::new(self.ring.tail.load(Ordering::Acquire))
    }
}

/// Slots that a stealer has claimed, to read them.
struct Claim<'a> {
    mark: Mark<'a>,
    first: Index,
    count: u32,
}

/// The mark of a claim. Dropping it clears the mark, even when `share` panics.
struct Mark<'a>(&'a ClaimCell);

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

impl<T, const N: usize> Clone for Stealer<T, N> {
    fn clone(&self) -> Self {
        Self {
            ring: self.ring.clone(),
        }
    }
}

impl<T, const N: usize> fmt::Debug for Stealer<T, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer")
            .field("len", &self.len())
            .field("capacity", &N)
            .finish()
    }
}
