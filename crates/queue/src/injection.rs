//! The injection queue: an unbounded list that any thread pushes to.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use raddle_std::cell::UnsafeCell;
use raddle_std::sync::Mutex;
use raddle_std::sync::atomic::{AtomicUsize, Ordering};

use crate::{Overflow, Pointer};

/// A [`Pointer`] to something that has room for a link to the next item, so
/// that a list of them needs no memory of its own.
///
/// # Safety
///
/// The link must be a plain field of the item that nothing else uses while the
/// item is in a list: [`next`](Self::next) must return what the last
/// [`set_next`](Self::set_next) stored.
pub unsafe trait Link: Pointer {
    /// Reads the link.
    ///
    /// # Safety
    ///
    /// `ptr` comes from [`Pointer::into_ptr`], has not been taken back, and
    /// nobody writes the link at the same time.
    unsafe fn next(ptr: NonNull<()>) -> Option<NonNull<()>>;

    /// Writes the link.
    ///
    /// # Safety
    ///
    /// As for [`next`](Self::next), and nobody reads the link at the same
    /// time.
    unsafe fn set_next(ptr: NonNull<()>, next: Option<NonNull<()>>);
}

/// A value together with a link: `Box<Node<T>>` can be queued in an
/// [`Injection`].
#[derive(Debug)]
pub struct Node<T> {
    next: UnsafeCell<Option<NonNull<()>>>,
    value: T,
}

// SAFETY: the link is touched only by the list that owns the node.
unsafe impl<T: Send> Send for Node<T> {}

impl<T> Node<T> {
    /// Boxes a value with its link.
    pub fn new(value: T) -> Box<Self> {
        Box::new(Self {
            next: UnsafeCell::new(None),
            value,
        })
    }

    /// Takes the value out.
    #[expect(clippy::boxed_local, reason = "items are boxed nodes")]
    pub fn into_inner(self: Box<Self>) -> T {
        self.value
    }
}

// SAFETY: the link is a field that only the list reaches.
unsafe impl<T> Link for Box<Node<T>> {
    unsafe fn next(ptr: NonNull<()>) -> Option<NonNull<()>> {
        // SAFETY: the pointer is a live node that the caller's list owns.
        unsafe { ptr.cast::<Node<T>>().as_ref() }
            .next
            // SAFETY: the caller promises that nobody writes meanwhile.
            .with(|next| unsafe { *next })
    }

    unsafe fn set_next(ptr: NonNull<()>, next: Option<NonNull<()>>) {
        // SAFETY: as above.
        unsafe { ptr.cast::<Node<T>>().as_ref() }
            .next
            // SAFETY: the caller promises that nobody looks meanwhile.
            .with_mut(|slot| unsafe { *slot = next });
    }
}

/// A fair queue for many producers and consumers: an intrusive list under a
/// lock, with a length that is read without it.
///
/// ```
/// use raddle_queue::{Injection, Node};
///
/// let queue = Injection::new();
/// queue.push_batch((0..3).map(Node::new)).unwrap();
/// let sum: i32 = queue.pop_batch(2).map(Node::into_inner).sum();
/// assert_eq!((sum, queue.len()), (1, 1));
/// ```
pub struct Injection<T: Link> {
    /// The length of `list`, written under its lock.
    len: AtomicUsize,
    list: Mutex<List>,
    items: PhantomData<T>,
}

#[derive(Debug)]
struct List {
    ends: Option<(NonNull<()>, NonNull<()>)>,
    closed: bool,
}

// SAFETY: the queue moves items between threads; the list is under a lock.
unsafe impl<T: Link + Send> Send for Injection<T> {}
// SAFETY: as above.
unsafe impl<T: Link + Send> Sync for Injection<T> {}

impl<T: Link> Injection<T> {
    /// Makes an empty, open queue.
    pub fn new() -> Self {
        Self {
            len: AtomicUsize::new(0),
            list: Mutex::new(List {
                ends: None,
                closed: false,
            }),
            items: PhantomData,
        }
    }

    /// Adds an item at the tail.
    ///
    /// # Errors
    ///
    /// The item, if the queue is closed.
    pub fn push(&self, item: T) -> Result<(), T> {
        self.push_with(item, || {})
    }

    /// Adds an item at the tail, and calls `pushed` while the lock is held, so
    /// that it may count with plain stores.
    ///
    /// # Errors
    ///
    /// The item, if the queue is closed; `pushed` is not called.
    pub fn push_with(&self, item: T, pushed: impl FnOnce()) -> Result<(), T> {
        self.splice(Batch::of(item), pushed)
            .map_err(|mut batch| batch.next().expect("a refused batch still holds its item"))
    }

    /// Adds items at the tail, in their order, under one lock.
    ///
    /// # Errors
    ///
    /// All of them, if the queue is closed.
    pub fn push_batch(&self, items: impl Iterator<Item = T>) -> Result<(), Batch<T>> {
        self.splice(items.collect(), || {})
    }

    /// Takes the oldest item.
    pub fn pop(&self) -> Option<T> {
        self.pop_batch(1).next()
    }

    /// Takes up to `limit` of the oldest items under one lock. Does not lock
    /// when the queue looks empty.
    pub fn pop_batch(&self, limit: usize) -> Batch<T> {
        if limit == 0 || self.is_empty() {
            return Batch::empty();
        }
        let mut list = self.list.lock();
        let Some((first, last)) = list.ends else {
            return Batch::empty();
        };
        // ORDERING: written under the lock that is held.
        let len = self.len.load(Ordering::Relaxed);
        let taken = limit.min(len);
        let mut end = first;
        if taken == len {
            list.ends = None;
            end = last;
        } else {
            for _ in 1..taken {
                // SAFETY: the items up to `len` are linked, and the lock is
                // held.
                end = unsafe { T::next(end) }.expect("a list is as long as its length");
            }
            // SAFETY: as above; `end` is not the last.
            let rest = unsafe { T::next(end) }.expect("a list is as long as its length");
            list.ends = Some((rest, last));
            // SAFETY: the batch ends here; the lock is held.
            unsafe { T::set_next(end, None) };
        }
        // ORDERING: pairs with the load in `len`.
        self.len.store(len - taken, Ordering::Release);
        drop(list);
        Batch {
            ends: Some((first, end)),
            len: taken,
            items: PhantomData,
        }
    }

    /// Refuses all further items; those queued can still be popped. Returns
    /// whether the queue was open.
    pub fn close(&self) -> bool {
        !std::mem::replace(&mut self.list.lock().closed, true)
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.list.lock().closed
    }

    /// How many items are queued, without locking.
    pub fn len(&self) -> usize {
        // ORDERING: pairs with the stores under the lock. A caller that must
        // not miss a push needs a sequentially consistent fence before this,
        // and the pusher one after.
        self.len.load(Ordering::Acquire)
    }

    /// Whether nothing is queued, without locking.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn splice(&self, batch: Batch<T>, pushed: impl FnOnce()) -> Result<(), Batch<T>> {
        let Some((first, last)) = batch.ends else {
            return Ok(());
        };
        let mut list = self.list.lock();
        if list.closed {
            drop(list);
            return Err(batch);
        }
        match list.ends {
            // SAFETY: `tail` is the last item of the list, which is locked.
            Some((_, tail)) => unsafe { T::set_next(tail, Some(first)) },
            None => debug_assert_eq!(self.len(), 0),
        }
        list.ends = Some((list.ends.map_or(first, |(head, _)| head), last));
        // ORDERING: written under the lock that is held; Release pairs with
        // the load in `len`.
        let len = self.len.load(Ordering::Relaxed) + batch.len;
        self.len.store(len, Ordering::Release);
        std::mem::forget(batch);
        pushed();
        drop(list);
        Ok(())
    }
}

impl<T: Link> Default for Injection<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Overflow into a closed queue drops the items: their owner has shut down.
impl<T: Link> Overflow<T> for Injection<T> {
    fn push_batch(&self, items: impl Iterator<Item = T>) {
        drop(Injection::push_batch(self, items));
    }
}

impl<T: Link> Drop for Injection<T> {
    fn drop(&mut self) {
        drop(self.pop_batch(usize::MAX));
    }
}

impl<T: Link> fmt::Debug for Injection<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injection")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Items on their way in or out of an [`Injection`], linked to each other.
///
/// An iterator; dropping it drops the items that are left.
pub struct Batch<T: Link> {
    ends: Option<(NonNull<()>, NonNull<()>)>,
    len: usize,
    items: PhantomData<T>,
}

// SAFETY: a batch owns its items.
unsafe impl<T: Link + Send> Send for Batch<T> {}

impl<T: Link> Batch<T> {
    fn empty() -> Self {
        Self {
            ends: None,
            len: 0,
            items: PhantomData,
        }
    }

    fn of(item: T) -> Self {
        let mut batch = Self::empty();
        batch.append(item);
        batch
    }

    fn append(&mut self, item: T) {
        let ptr = item.into_ptr();
        // SAFETY: the item was just given up to this batch.
        unsafe { T::set_next(ptr, None) };
        self.ends = match self.ends {
            Some((first, last)) => {
                // SAFETY: the batch owns its last item.
                unsafe { T::set_next(last, Some(ptr)) };
                Some((first, ptr))
            }
            None => Some((ptr, ptr)),
        };
        self.len += 1;
    }
}

impl<T: Link> FromIterator<T> for Batch<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut batch = Self::empty();
        for item in items {
            batch.append(item);
        }
        batch
    }
}

impl<T: Link> Iterator for Batch<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        let (first, last) = self.ends?;
        // SAFETY: the batch owns its items until it yields them.
        let rest = unsafe { T::next(first) };
        self.ends = rest.map(|rest| (rest, last));
        self.len -= 1;
        // SAFETY: the item leaves the batch, once.
        Some(unsafe { T::from_ptr(first) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len, Some(self.len))
    }
}

impl<T: Link> ExactSizeIterator for Batch<T> {}

impl<T: Link> Drop for Batch<T> {
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<T: Link> fmt::Debug for Batch<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("len", &self.len).finish()
    }
}
