//! The next-task slot: one place for the task that a worker should run next.

use std::fmt;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use raddle_primitives::sync::atomic::{AtomicPtr, Ordering};
use raddle_primitives::{CachePadded, named};

use crate::Pointer;

/// A place for one item. One thread puts items in, any thread takes them.
///
/// A worker keeps the task that was just woken here, so that it runs while the data of the waking
/// task is still in the cache. Other workers can take it while its worker is busy.
///
/// ```
/// use std::thread;
///
/// use raddle_queue::Slot;
///
/// let next = Slot::new();
/// assert!(next.put(Box::new("parse")).is_none());
/// // The worker wakes a second task, and queues the one that it displaces.
/// assert_eq!(next.put(Box::new("reply")).as_deref(), Some(&"parse"));
/// // A thread that has nothing to do takes the task of the busy worker.
/// let taken = thread::scope(|scope| scope.spawn(|| next.take()).join().unwrap());
/// assert_eq!(taken.as_deref(), Some(&"reply"));
/// assert!(next.is_empty());
/// ```
///
/// An item does not get a shorter lifetime on its way through a slot:
///
/// ```compile_fail,E0597
/// let slot = raddle_queue::Slot::<Box<&'static str>>::new();
/// let text = String::from("short-lived");
/// fn put<'a>(slot: &raddle_queue::Slot<Box<&'a str>>, item: &'a str) {
///     slot.put(Box::new(item));
/// }
/// put(&slot, &text);
/// ```
pub struct Slot<T: Pointer> {
    item: CachePadded<AtomicPtr<()>>,
    /// Items go in and out, so their lifetimes must not vary.
    items: PhantomData<fn(T) -> T>,
}

// SAFETY: the slot moves items between threads, and one thread at a time has each item.
unsafe impl<T: Pointer + Send> Send for Slot<T> {}
// SAFETY: as above; several threads may even call `put` at once, and `put_exclusive` states its own
// requirement.
unsafe impl<T: Pointer + Send> Sync for Slot<T> {}

impl<T: Pointer> Slot<T> {
    /// Makes an empty slot.
    pub fn new() -> Self {
        Self {
            item: CachePadded::new(named("next-task slot", AtomicPtr::new(ptr::null_mut()))),
            items: PhantomData,
        }
    }

    /// Puts an item in and returns the one it displaces.
    pub fn put(&self, item: T) -> Option<T> {
        let new = item.into_ptr().as_ptr();
        // ORDERING: Release pairs with the Acquire of the thread that takes the item, Acquire with
        // the Release of the thread that put the displaced one.
        Self::own(self.item.swap(new, Ordering::AcqRel))
    }

    /// Like [`put`](Self::put), but without a read-modify-write when the slot is empty.
    ///
    /// # Safety
    ///
    /// No other thread may put items in at the same time: an item that it puts in between this
    /// method's load and its store would be lost.
    #[inline]
    pub unsafe fn put_exclusive(&self, item: T) -> Option<T> {
        // ORDERING: Relaxed: other threads only empty the slot, so an empty slot stays empty until
        // the store below; nothing is read through the word.
        if self.item.load(Ordering::Relaxed).is_null() {
            // ORDERING: Release pairs with the Acquire of `take`.
            self.item.store(item.into_ptr().as_ptr(), Ordering::Release);
            None
        } else {
            self.put(item)
        }
    }

    /// Takes the item out.
    #[inline]
    pub fn take(&self) -> Option<T> {
        // ORDERING: Relaxed: a guess for the exchange.
        let mut current = self.item.load(Ordering::Relaxed);
        while !current.is_null() {
            // ORDERING: Acquire pairs with the Release of `put`.
            match self.item.compare_exchange(
                current,
                ptr::null_mut(),
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(item) => return Self::own(item),
                Err(actual) => current = actual,
            }
        }
        None
    }

    /// Like [`take`](Self::take), but without a read-modify-write.
    ///
    /// # Safety
    ///
    /// No other thread may take or put items at the same time: the item would be taken twice, or
    /// lost.
    #[inline]
    pub unsafe fn take_exclusive(&self) -> Option<T> {
        // ORDERING: Acquire, as in `take`.
        let word = self.item.load(Ordering::Acquire);
        if !word.is_null() {
            // ORDERING: Relaxed: no other thread accesses the word.
            self.item.store(ptr::null_mut(), Ordering::Relaxed);
        }
        Self::own(word)
    }

    /// Returns whether the slot is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        // ORDERING: Relaxed: a hint; `take` decides.
        self.item.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    fn own(word: *mut ()) -> Option<T> {
        // SAFETY: a word that was swapped out belongs to the caller alone.
        NonNull::new(word).map(|ptr| unsafe { T::from_ptr(ptr) })
    }
}

impl<T: Pointer> Default for Slot<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Pointer> Drop for Slot<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

impl<T: Pointer> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot")
            .field("is_empty", &self.is_empty())
            .finish()
    }
}
