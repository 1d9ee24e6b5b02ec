//! Wakers collected under a lock, to be woken after it is released.

use ::std::fmt;
use ::std::task::Waker;

use arrayvec::ArrayVec;

use crate::contain;

const CAPACITY: usize = 32;

/// A fixed number of wakers on the stack: filled under a lock, woken outside.
///
/// Dropping a batch wakes the wakers that remain in it, so a waker that panics does not prevent the
/// other wakes.
///
/// ```
/// use std::sync::Mutex;
/// use std::task::Waker;
///
/// use raddle_primitives::WakerBatch;
///
/// let waiters = Mutex::new(vec![Waker::noop().clone(); 100]);
/// // Wakes all waiters, and holds the lock only while wakers are moved.
/// loop {
///     let mut batch = WakerBatch::new();
///     {
///         let mut waiters = waiters.lock().unwrap();
///         while !batch.is_full() {
///             let Some(waker) = waiters.pop() else { break };
///             batch.push(waker);
///         }
///     }
///     if batch.is_empty() {
///         break;
///     }
///     println!("wakes {} tasks", batch.len());
///     batch.wake_all();
/// }
/// assert!(waiters.lock().unwrap().is_empty());
/// ```
pub struct WakerBatch {
    wakers: ArrayVec<Option<Waker>, CAPACITY>,
    /// The wakers before this index have been woken. Nonzero only while waking.
    next: usize,
}

impl WakerBatch {
    /// An empty batch.
    #[inline]
    pub fn new() -> Self {
        Self {
            wakers: ArrayVec::new_const(),
            next: 0,
        }
    }

    /// Returns the number of wakers.
    pub fn len(&self) -> usize {
        self.wakers.len()
    }

    /// Returns whether the batch is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.wakers.is_empty()
    }

    /// Returns whether the batch has no room for another waker.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.wakers.is_full()
    }

    /// Adds a waker.
    ///
    /// # Panics
    ///
    /// Panics if the batch is full.
    #[inline]
    pub fn push(&mut self, waker: Waker) {
        self.wakers.push(Some(waker));
    }

    /// Wakes all wakers in the order in which they were added, and leaves the batch empty. Call it
    /// without a lock.
    #[inline]
    pub fn wake_all(&mut self) {
        while let Some(next) = self.wakers.get_mut(self.next) {
            self.next += 1;
            if let Some(waker) = next.take() {
                waker.wake();
            }
        }
        self.next = 0;
        self.wakers.clear();
    }

    /// Like [`wake_all`](Self::wake_all), but a panic of a waker, which the panic hook reports,
    /// does not reach the caller.
    #[inline]
    pub fn wake_all_contained(&mut self) {
        while !contain(|| self.wake_all()) {}
    }
}

impl Default for WakerBatch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for WakerBatch {
    /// Contains the panics of wakers: `wake_all` has already propagated the first one.
    #[inline]
    fn drop(&mut self) {
        if !self.is_empty() {
            self.wake_all_contained();
        }
    }
}

impl fmt::Debug for WakerBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WakerBatch")
            .field("len", &self.len())
            .finish()
    }
}
