//! Permits that come back in another place than they are taken from.

use std::fmt;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Set while there is a waiter, and once the semaphore is closed; set and cleared under the lock
/// of the wait list, cleared by the first release that finds no waiter.
/// Never with permits, which go to the semaphore itself then.
const AWAITED: usize = 1;

/// The permits lie above the flag.
const PERMIT: usize = AWAITED << 1;

/// Where the permits of a semaphore are returned while there is no waiter.
pub(crate) trait Returns {
    /// Whether they come back in another place than they are taken from.
    const IS_APART: bool;

    /// Takes `permits`, more than none, if that is all that has come back.
    fn take(&self, permits: usize) -> bool;

    /// Takes what has come back. Under the lock.
    fn collect(&self) -> usize;

    /// Takes what has come back; nothing does so here from now on. Under the lock.
    fn transition_to_awaited(&self) -> usize;

    /// Says that permits may come back here again. Under the lock.
    fn transition_to_quiet(&self);

    /// What has come back.
    fn permits(&self) -> usize;
}

/// Nothing does: the semaphore has one word.
impl Returns for () {
    const IS_APART: bool = false;

    #[inline]
    fn take(&self, _permits: usize) -> bool {
        false
    }

    #[inline]
    fn collect(&self) -> usize {
        0
    }

    #[inline]
    fn transition_to_awaited(&self) -> usize {
        0
    }

    #[inline]
    fn transition_to_quiet(&self) {}

    #[inline]
    fn permits(&self) -> usize {
        0
    }
}

/// A word for it, for a semaphore whose permits are taken by one side and given back by another. It
/// has a cache line of its own, so that neither waits for the other's.
pub(crate) struct Returned(CachePadded<AtomicUsize>);

impl Returned {
    pub(crate) fn new() -> Self {
        Self(CachePadded::new(AtomicUsize::new(0)))
    }

    /// Gives `permits` back. `false` if there is a waiter: they are still the caller's.
    #[inline]
    #[must_use]
    pub(super) fn give(&self, permits: usize) -> bool {
        // ORDERING: a guess, which the exchange checks; failing, the caller goes on under the lock.
        let mut now = self.0.load(Ordering::Relaxed);
        while now & AWAITED == 0 {
            // ORDERING: Release pairs with `collect` and `transition_to_awaited`: what was done
            // under the permits is seen by their next holder.
            match self.0.compare_exchange_weak(
                now,
                now + permits * PERMIT,
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(other) => now = other,
            }
        }
        false
    }
}

impl Returns for Returned {
    const IS_APART: bool = true;

    #[inline]
    fn take(&self, permits: usize) -> bool {
        let all = permits * PERMIT;
        // ORDERING: a guess, to leave the word alone; the exchange decides. Acquire pairs with
        // `give`.
        self.0.load(Ordering::Relaxed) == all
            && self
                .0
                .compare_exchange(all, 0, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    fn collect(&self) -> usize {
        // ORDERING: Acquire pairs with `give`. The flag is clear: there were permits, and it is set
        // under the lock, which the caller has.
        self.0.swap(0, Ordering::Acquire) / PERMIT
    }

    fn transition_to_awaited(&self) -> usize {
        // ORDERING: Acquire pairs with `give`. That either this finds the permits or `give` the
        // flag comes from their being read-modify-writes of one word.
        self.0.swap(AWAITED, Ordering::Acquire) / PERMIT
    }

    fn transition_to_quiet(&self) {
        // ORDERING: the releases that came before have passed their permits on.
        self.0.fetch_and(!AWAITED, Ordering::Relaxed);
    }

    fn permits(&self) -> usize {
        // ORDERING: a number that may be another the next moment.
        self.0.load(Ordering::Relaxed) / PERMIT
    }
}

impl fmt::Debug for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Returned").field(&self.permits()).finish()
    }
}
