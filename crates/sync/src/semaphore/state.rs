//! The word of a semaphore: its permits, whether it is closed, and whether there is a waiter.

use std::fmt;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Set while the list of waiters is not empty; set and cleared under the list's lock. Never with
/// permits that would suffice for the first waiter, except while a thread that serves the waiters
/// is between two batches.
const WAITERS: usize = 1;

/// Set by `close`; never cleared.
const CLOSED: usize = 1 << 1;

/// The unit of the count of permits, which is above the flags.
const PERMIT: usize = 1 << 2;

/// The maximum number of permits of a semaphore. The sum of two such numbers still fits into the
/// word.
pub(crate) const MAX_PERMITS: usize = usize::MAX >> 3;

/// The state word. While `WAITERS` is clear, any thread may change it, by compare-exchange. While
/// it is set, only the holder of the list's lock does.
pub(super) struct State(AtomicUsize);

/// The outcome of an attempt to take permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Take {
    /// The caller has the permits.
    Taken,
    /// There are too few permits, or there is a waiter.
    Short,
    /// The semaphore is closed.
    Closed,
}

/// The outcome of an attempt to release permits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Give {
    /// The permits are in the word.
    Given,
    /// There is a waiter: the caller still has the permits, and serves the waiters with them.
    Serve,
}

impl State {
    #[cfg(not(raddle_loom))]
    pub(super) const fn new(permits: usize) -> Self {
        Self(AtomicUsize::new(permits * PERMIT))
    }

    #[cfg(raddle_loom)]
    pub(super) fn new(permits: usize) -> Self {
        Self(AtomicUsize::new(permits * PERMIT))
    }

    /// Loads the word. The caller sees the writes before it was set.
    #[inline]
    pub(super) fn load(&self) -> Snapshot {
        // ORDERING: pairs with `transition_to_closed`, `give` and `settle`: a thread that sees
        // their changes sees the writes before them.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Loads the word for a caller that will change it, or that holds the lock.
    #[inline]
    pub(super) fn peek(&self) -> Snapshot {
        // ORDERING: an exchange decides, or the lock orders it.
        Snapshot(self.0.load(Ordering::Relaxed))
    }

    /// Takes `permits` if there are as many and there is no waiter.
    #[inline]
    pub(super) fn take(&self, permits: usize) -> Take {
        let mut now = self.peek();
        loop {
            if now.is_closed() {
                return self.closed();
            }
            if !now.can_give(permits) {
                return Take::Short;
            }
            // ORDERING: pairs with the Release of `give` and `settle`: the accesses of earlier
            // holders of the permits happen before those of this one.
            match self.0.compare_exchange_weak(
                now.0,
                now.0 - permits * PERMIT,
                Ordering::Acquire,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Take::Taken,
                Err(other) => now = Snapshot(other),
            }
        }
    }

    /// Makes a refused caller see the writes before the close.
    #[cold]
    fn closed(&self) -> Take {
        self.load();
        Take::Closed
    }

    /// Returns `permits`, unless there is a waiter.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than [`MAX_PERMITS`].
    #[inline]
    #[track_caller]
    pub(super) fn give(&self, permits: usize) -> Give {
        let mut now = self.peek();
        loop {
            if now.has_waiters() {
                return Give::Serve;
            }
            let sum = now.sum(permits);
            // ORDERING: Release pairs with `take` and `take_or_transition_to_waiting`.
            match self.0.compare_exchange_weak(
                now.0,
                (sum * PERMIT) | now.flags(),
                Ordering::Release,
                Ordering::Relaxed,
            ) {
                Ok(_) => return Give::Given,
                Err(other) => now = Snapshot(other),
            }
        }
    }

    /// Like [`take`](Self::take), but if there are too few permits, the caller has to queue. Under
    /// the lock.
    pub(super) fn take_or_transition_to_waiting(&self, permits: usize) -> Take {
        loop {
            let taken = self.take(permits);
            let now = self.peek();
            if taken != Take::Short || now.has_waiters() {
                return taken;
            }
            if now.is_closed() || now.can_give(permits) {
                continue;
            }
            // ORDERING: Acquire pairs with the Release of `give`, for the next caller of `settle`:
            // its store does not continue the release sequence from `give` to a later `take`.
            let set = self.0.compare_exchange(
                now.0,
                now.0 | WAITERS,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if set.is_ok() {
                return Take::Short;
            }
        }
    }

    /// Stores the number of permits that are left, and whether there is still a waiter. Under the
    /// lock, while `WAITERS` is set.
    pub(super) fn settle(&self, permits: usize, waiters: bool) {
        let now = self.peek();
        debug_assert!(now.has_waiters(), "others may change the word");
        let closed = now.0 & CLOSED;
        // ORDERING: Release pairs with `take`. The caller has acquired the writes of earlier
        // holders, through `take_or_transition_to_waiting` and the lock.
        self.0.store(
            (permits * PERMIT) | closed | (usize::from(waiters) * WAITERS),
            Ordering::Release,
        );
    }

    /// Closes the semaphore. Under the lock, so that no thread calls `settle` at the same time.
    pub(super) fn transition_to_closed(&self) {
        // ORDERING: Release pairs with `load`.
        self.0.fetch_or(CLOSED, Ordering::Release);
    }

    /// Removes up to `permits` permits for good, and returns their number: zero if there is a
    /// waiter.
    pub(super) fn forget(&self, permits: usize) -> usize {
        let mut now = self.peek();
        loop {
            let forgotten = now.available().min(permits);
            if forgotten == 0 {
                return 0;
            }
            // ORDERING: removed permits give access to nothing; the exchange continues the release
            // sequence from `give` to a later `take`.
            match self.0.compare_exchange_weak(
                now.0,
                now.0 - forgotten * PERMIT,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return forgotten,
                Err(other) => now = Snapshot(other),
            }
        }
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.load().fmt(f)
    }
}

/// A snapshot of the word.
#[derive(Clone, Copy)]
pub(super) struct Snapshot(usize);

impl Snapshot {
    fn flags(self) -> usize {
        self.0 % PERMIT
    }

    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    pub(super) fn has_waiters(self) -> bool {
        self.0 & WAITERS != 0
    }

    /// Returns the number of permits in the word, which may be reserved for a waiter.
    pub(super) fn permits(self) -> usize {
        self.0 / PERMIT
    }

    /// Returns the number of permits that are not reserved: while there is a waiter, all are for
    /// the first one.
    pub(super) fn available(self) -> usize {
        if self.has_waiters() {
            0
        } else {
            self.permits()
        }
    }

    /// Returns whether `permits` can be taken at once. Zero always can: that delays no waiter, and
    /// does not change the word.
    #[inline]
    fn can_give(self, permits: usize) -> bool {
        self.available() >= permits
    }

    /// Returns the sum of the permits in the word and `permits`.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than [`MAX_PERMITS`].
    #[inline]
    #[track_caller]
    pub(super) fn sum(self, permits: usize) -> usize {
        match self.permits().checked_add(permits) {
            Some(sum) if sum <= MAX_PERMITS => sum,
            _ => too_many(),
        }
    }
}

#[cold]
#[track_caller]
pub(super) const fn too_many() -> ! {
    panic!("a semaphore may not have more than MAX_PERMITS permits; add fewer")
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State")
            .field("permits", &self.permits())
            .field("closed", &self.is_closed())
            .field("waiters", &self.has_waiters())
            .finish()
    }
}
