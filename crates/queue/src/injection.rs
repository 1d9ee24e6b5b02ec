//! The injection queue: an unbounded queue that any thread pushes to.

use std::collections::VecDeque;
use std::fmt;
use std::vec;

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::{Overflow, Owner, Stolen};

/// The number of items for which an empty queue keeps room. It frees memory beyond that.
const MAX_RETAINED_CAPACITY: usize = 1 << 14;

/// Items that were taken out together, or refused together.
pub type Batch<T> = vec::IntoIter<T>;

/// A fair queue for many producers and consumers: a ring under a lock, with a length that is read
/// without the lock.
///
/// The items are in an array, not in a linked list: to walk a list, a thread must wait for each
/// item, which may be in the cache of another core, before it finds the next.
///
/// ```
/// use raddle_queue::Injection;
///
/// let queue = Injection::new();
/// queue.push_batch(0..3).unwrap();
/// assert_eq!((queue.pop_batch(2).sum::<i32>(), queue.len()), (1, 1));
/// assert_eq!(queue.pop(), Some(2));
/// assert!(queue.is_empty() && !queue.is_closed());
/// ```
pub struct Injection<T> {
    /// The number of items, written under the lock.
    len: AtomicUsize,
    list: Mutex<List<T>>,
}

#[derive(Debug)]
struct List<T> {
    items: VecDeque<T>,
    closed: bool,
}

impl<T> Injection<T> {
    /// Makes an empty, open queue.
    pub fn new() -> Self {
        Self::with_name("injection queue")
    }

    /// Makes an empty, open queue, whose lock and length have their own names (see [`named`] and
    /// [`Rank`]).
    pub fn with_name(name: &'static str) -> Self {
        Self {
            len: named(name, AtomicUsize::new(0)),
            list: Mutex::ranked(
                Rank::leaf(name),
                List {
                    items: VecDeque::new(),
                    closed: false,
                },
            ),
        }
    }

    /// Adds an item at the tail.
    ///
    /// A push does not panic if the order of locks is wrong, because the panic would drop the item.
    /// Call [`check_lock_order`](Self::check_lock_order) afterwards.
    ///
    /// # Errors
    ///
    /// Returns the item if the queue is closed.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.push_with(item, || {})
    }

    /// Adds an item at the tail, and calls `pushed` under the lock, so `pushed` may count with
    /// plain stores.
    ///
    /// # Errors
    ///
    /// Returns the item if the queue is closed; `pushed` is not called.
    #[inline]
    pub fn push_with(&self, item: T, pushed: impl FnOnce()) -> Result<(), T> {
        let mut list = self.list.lock_unordered();
        if list.closed {
            return Err(item);
        }
        list.items.push_back(item);
        self.publish(&list);
        pushed();
        Ok(())
    }

    /// Adds items at the tail, in their order, under one lock.
    ///
    /// # Errors
    ///
    /// Returns all of them if the queue is closed.
    pub fn push_batch(&self, items: impl IntoIterator<Item = T>) -> Result<(), Batch<T>> {
        // Collected first, so that the iterator does not run under the lock.
        let items: Vec<T> = items.into_iter().collect();
        let mut list = self.list.lock_unordered();
        if list.closed {
            return Err(items.into_iter());
        }
        list.items.extend(items);
        self.publish(&list);
        Ok(())
    }

    /// Checks that the order of locks allows the calling thread to push.
    ///
    /// # Panics
    ///
    /// Panics if it does not, in a build with debug assertions.
    #[inline]
    #[track_caller]
    pub fn check_lock_order(&self) {
        self.list.check_order();
    }

    /// Takes the oldest item. Does not lock when the queue looks empty.
    pub fn pop(&self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        let item = list.items.pop_front();
        self.retire(&mut list);
        item
    }

    /// Takes up to `limit` of the oldest items under one lock. Does not lock when the queue looks
    /// empty.
    pub fn pop_batch(&self, limit: usize) -> Batch<T> {
        if limit == 0 || self.is_empty() {
            return Vec::new().into_iter();
        }
        let mut list = self.list.lock();
        let taken = limit.min(list.items.len());
        let batch: Vec<T> = list.items.drain(..taken).collect();
        self.retire(&mut list);
        drop(list);
        batch.into_iter()
    }

    /// Takes up to `limit` of the oldest items under one lock. Returns the first and moves the
    /// others to the tail of `into`, as far as it has room. Does not lock when the queue looks
    /// empty.
    pub fn pop_into<const N: usize>(&self, limit: usize, into: &Owner<T, N>) -> Option<Stolen<T>> {
        if limit == 0 || self.is_empty() {
            return None;
        }
        let mut list = self.list.lock();
        let first = list.items.pop_front();
        let moved = (limit - 1).min(list.items.len()).min(into.room());
        // SAFETY: these are no more than `into` has room for.
        unsafe { into.extend(list.items.drain(..moved)) };
        self.retire(&mut list);
        drop(list);
        first.map(|first| Stolen { first, moved })
    }

    /// Refuses all further items; queued items can still be popped. Returns whether the queue was
    /// open.
    pub fn close(&self) -> bool {
        !std::mem::replace(&mut self.list.lock().closed, true)
    }

    /// Returns whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.list.lock().closed
    }

    /// Returns the number of queued items, without locking.
    #[inline]
    pub fn len(&self) -> usize {
        // ORDERING: pairs with `publish`. A caller that must not miss a push needs a sequentially
        // consistent fence before this load, and the pusher one after its push.
        self.len.load(Ordering::Acquire)
    }

    /// Returns whether the queue is empty, without locking.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Publishes the length after a change of the items. The caller holds the lock.
    #[inline]
    fn publish(&self, list: &List<T>) {
        // ORDERING: Release pairs with the load in `len`.
        self.len.store(list.items.len(), Ordering::Release);
    }

    /// Publishes the length after items were removed, and frees memory.
    #[inline]
    fn retire(&self, list: &mut List<T>) {
        self.publish(list);
        if list.items.is_empty() && list.items.capacity() > MAX_RETAINED_CAPACITY {
            list.items.shrink_to(MAX_RETAINED_CAPACITY);
        }
    }
}

impl<T> Default for Injection<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Overflow into a closed queue drops the items: their owner has shut down.
impl<T> Overflow<T> for Injection<T> {
    fn push_batch(&self, items: impl Iterator<Item = T>) {
        drop(Injection::push_batch(self, items));
    }
}

impl<T> fmt::Debug for Injection<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injection")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
