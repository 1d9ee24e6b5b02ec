//! The word of a `Sequence`.

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

/// Bit `i` of these: somebody waits in crowd `i`. Set under the lock of that crowd; cleared under
/// it while the crowd is empty, or by an advance, which goes through the crowd then.
const WAITING: u64 = (1 << 8) - 1;

/// The count grows no more. Never cleared.
const CLOSED: u64 = WAITING + 1;

/// One of the count, which has the bits from here on: 55 of them, so that it
/// does not come back to where it was while somebody looks away.
const ONE: u64 = CLOSED << 1;

#[derive(Debug)]
pub(super) struct Word(AtomicU64);

/// What a sequence was like at some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Now {
    pub(crate) count: u64,
    pub(crate) closed: bool,
}

/// The crowds in which somebody waited as the word was changed: they have to be
/// woken.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Waiting(u64);

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0 == 0
    }

    pub(super) fn crowds(&self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let index = left.trailing_zeros() as usize;
            left &= left.checked_sub(1)?;
            Some(index)
        })
    }
}

impl Now {
    /// Whether nothing is left to wait for: the count is not `seen`, or it is closed.
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

    /// Adds one to the count. The crowds whose bits it finds, and clears then, are the caller's to
    /// wake.
    #[inline]
    pub(super) fn advance(&self) -> Waiting {
        // ORDERING: Release pairs with `load` and `start_waiting`: whoever sees
        // the count sees what was done before. Those who wait are looked for
        // under the lock of their crowd.
        self.clear(self.0.fetch_add(ONE, Ordering::Release) & WAITING)
    }

    /// Says that the count grows no more, and is else as an advance.
    pub(super) fn close(&self) -> Waiting {
        // ORDERING: Release as in `advance`.
        self.clear(self.0.fetch_or(CLOSED, Ordering::Release) & WAITING)
    }

    #[inline]
    fn clear(&self, waiting: u64) -> Waiting {
        if waiting != 0 {
            // ORDERING: Relaxed: see `stop_waiting`. Who sets a bit before this, and waits for the
            // next count, is in a crowd that the caller goes through after it.
            self.0.fetch_and(!waiting, Ordering::Relaxed);
        }
        Waiting(waiting)
    }

    /// Says that somebody waits in crowd `index`, and what the count was then:
    /// an advance after that finds the bit. Under the lock of the crowd.
    pub(super) fn start_waiting(&self, index: usize) -> Now {
        // ORDERING: Acquire pairs with `advance` and `close`. That one of two
        // operations finds the other's change comes from their being
        // read-modify-writes of one word.
        Now::of(self.0.fetch_or(1 << index, Ordering::Acquire))
    }

    /// Says that crowd `index` is empty. Under the lock of the crowd.
    pub(super) fn stop_waiting(&self, index: usize) {
        // ORDERING: Relaxed: it promises nothing; as a read-modify-write it
        // goes on with the release sequences of the advances before.
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
    fn the_count_leaves_the_bits() {
        let word = Word::new();
        let mut now = word.start_waiting(3);
        assert_eq!((now.count, now.closed), (0, false));
        let waiting = word.advance();
        assert_eq!(waiting.crowds().collect::<Vec<_>>(), [3]);
        now = word.start_waiting(0);
        assert_eq!((now.count, now.closed), (1, false));
        assert_eq!(word.close().crowds().collect::<Vec<_>>(), [0]);
        now = word.start_waiting(1);
        assert_eq!((now.count, now.closed), (1, true));
        word.stop_waiting(1);
        assert!(word.advance().is_empty());
        now = word.load();
        assert_eq!((now.count, now.closed), (2, true));
    }
}
