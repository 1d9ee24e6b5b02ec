//! A second word for the permits of a semaphore: releases add to it, and acquisitions take from the
//! semaphore's own word.

use std::fmt;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Set while there is a waiter, and once the semaphore is closed; set and cleared under the lock of
/// the wait list, cleared by the first release that finds no waiter. Never set with permits:
/// releases then go to the semaphore's own word.
const DISABLED: usize = 1;

/// The permits lie above the flag.
const PERMIT: usize = DISABLED << 1;

/// The word to which the permits of a semaphore are released while there is no waiter.
pub(crate) trait Returns {
    /// Whether there is a second word for released permits.
    const IS_APART: bool;

    /// Takes `permits`, at least one, if exactly so many were released to this word.
    fn take(&self, permits: usize) -> bool;

    /// Takes all permits of this word. The caller holds the lock of the wait list.
    fn collect(&self) -> usize;

    /// Takes all permits of this word, and refuses further ones. The caller holds the lock.
    fn transition_to_disabled(&self) -> usize;

    /// Accepts permits again. The caller holds the lock.
    fn transition_to_enabled(&self);

    /// The number of permits in this word.
    fn permits(&self) -> usize;
}

/// Without a second word: permits are released to the semaphore's own.
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
    fn transition_to_disabled(&self) -> usize {
        0
    }

    #[inline]
    fn transition_to_enabled(&self) {}

    #[inline]
    fn permits(&self) -> usize {
        0
    }
}

/// A second word, for a semaphore whose permits are acquired by some threads and released by
/// another. It has a cache line of its own, so that the two sides do not contend for one line.
pub(crate) struct Returned(CachePadded<AtomicUsize>);

impl Returned {
    pub(crate) fn new() -> Self {
        Self(CachePadded::new(AtomicUsize::new(0)))
    }

    /// Releases `permits`. Returns `false` if the word is disabled: the caller still has them.
    #[inline]
    #[must_use]
    pub(super) fn give(&self, permits: usize) -> bool {
        // ORDERING: a guess, which the exchange checks; failing, the caller goes on under the lock.
        let mut now = self.0.load(Ordering::Relaxed);
        while now & DISABLED == 0 {
            // ORDERING: Release pairs with `collect` and `transition_to_disabled`: what was done
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

    fn transition_to_disabled(&self) -> usize {
        // ORDERING: Acquire pairs with `give`. That either this finds the permits or `give` the
        // flag comes from their being read-modify-writes of one word.
        self.0.swap(DISABLED, Ordering::Acquire) / PERMIT
    }

    fn transition_to_enabled(&self) {
        // ORDERING: the releases that came before have passed their permits on.
        self.0.fetch_and(!DISABLED, Ordering::Relaxed);
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
