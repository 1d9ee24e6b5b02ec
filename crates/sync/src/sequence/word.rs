//! The word of a `Sequence`.

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

/// Bit `i` is set while shard `i` has waiters. Set under the lock of that shard; cleared under it
/// while the shard is empty, or by an advance, which then visits the shard.
const WAITING: u64 = (1 << 8) - 1;

/// Set when the sequence is closed: the count does not grow any more; never cleared.
const CLOSED: u64 = WAITING + 1;

/// The unit of the count, which has the bits from here up: 55 bits, so it does not wrap to a value
/// that a waiter has seen.
const ONE: u64 = CLOSED << 1;

#[derive(Debug)]
pub(super) struct Word(AtomicU64);

/// A snapshot of a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) count: u64,
    pub(crate) closed: bool,
}

/// The shards that had waiters when the word was changed. The caller has to wake them.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Waiting(u64);

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(super) fn shards(&self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(index)
        })
    }
}

impl Now {
    /// Returns whether a wait for a count other than `seen` is over: the count differs, or the
    /// sequence is closed.
    #[inline]
    pub(super) fn is_after(self, seen: u64) -> bool {
        self.count != seen || self.closed
    }

    fn of(word: u64) -> Self {
        Self {
            count: word / ONE,
            closed: word & CLOSED != 0,
        }
    }
}

impl Word {
    pub(super) fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    pub(super) fn load(&self) -> Now {
        // ORDERING: Acquire pairs with `advance` and `close`.
        Now::of(self.0.load(Ordering::Acquire))
    }

    /// Adds one to the count, and clears the bits that were set. The caller wakes these shards.
    #[inline]
    pub(super) fn advance(&self) -> Waiting {
        // ORDERING: Release pairs with `load` and `start_waiting`: a thread that sees the count
        // sees the writes before it. The locks of the shards order the accesses to the waiters.
        self.clear(self.0.fetch_add(ONE, Ordering::Release) & WAITING)
    }

    /// Closes the sequence: the count does not grow any more. Clears and returns bits as `advance`
    /// does.
    pub(super) fn close(&self) -> Waiting {
        // ORDERING: Release as in `advance`.
        self.clear(self.0.fetch_or(CLOSED, Ordering::Release) & WAITING)
    }

    #[inline]
    fn clear(&self, waiting: u64) -> Waiting {
        if waiting != 0 {
            // ORDERING: Relaxed: see `stop_waiting`. A waiter that sets a bit before this, and
            // waits for the next count, is in a shard that the caller visits after it.
            self.0.fetch_and(!waiting, Ordering::Relaxed);
        }
        Waiting(waiting)
    }

    /// Marks shard `index` as having waiters, and returns the count. A later advance finds the bit.
    /// Under the lock of the shard.
    pub(super) fn start_waiting(&self, index: usize) -> Now {
        // ORDERING: Acquire pairs with `advance` and `close`. Both are read-modify-writes of one
        // word, so one of the two operations finds the change of the other.
        Now::of(self.0.fetch_or(1 << index, Ordering::Acquire))
    }

    /// Marks shard `index` as empty. Under the lock of the shard.
    pub(super) fn stop_waiting(&self, index: usize) {
        // ORDERING: Relaxed: this publishes nothing; as a read-modify-write it continues the
        // release sequences of the earlier advances.
        self.0.fetch_and(!(1 << index), Ordering::Relaxed);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn masks_are_disjoint() {
        assert_eq!(WAITING & CLOSED, 0);
        assert_eq!(WAITING | CLOSED, ONE - 1);
    }

    #[test]
    fn advancing_the_count_does_not_change_the_other_bits() {
        let word = Word::new();
        let mut now = word.start_waiting(3);
        assert_eq!((now.count, now.closed), (0, false));
        let waiting = word.advance();
        assert_eq!(waiting.shards().collect::<Vec<_>>(), [3]);
        now = word.start_waiting(0);
        assert_eq!((now.count, now.closed), (1, false));
        assert_eq!(word.close().shards().collect::<Vec<_>>(), [0]);
        now = word.start_waiting(1);
        assert_eq!((now.count, now.closed), (1, true));
        word.stop_waiting(1);
        assert!(word.advance().is_empty());
        now = word.load();
        assert_eq!((now.count, now.closed), (2, true));
    }
}
