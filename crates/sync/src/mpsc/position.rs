//! The number of a message in its channel.

use super::block::SLOTS;

/// The difference between the positions of two successive messages. The bits below it are the flags
/// of the tail.
pub(super) const STEP: usize = 1 << 2;

/// A place in the order of all messages of a channel.
///
/// Positions wrap, on a target of 32 bits after 2^30 messages. So two of them are not compared, but
/// the distances of both from a position before them, whose slot is still in memory: each position
/// in between has a slot in memory too, so the distance is less than the number of positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position(usize);

impl Position {
    /// Returns the position of a word that has flags in its lowest bits.
    #[inline]
    pub(super) const fn of(word: usize) -> Self {
        Self(word & !(STEP - 1))
    }

    /// Returns the position as a word whose flags are clear.
    #[inline]
    pub(super) const fn word(self) -> usize {
        self.0
    }

    /// Returns the position that is `count` messages later.
    #[inline]
    pub(super) fn plus(self, count: usize) -> Self {
        Self(self.0.wrapping_add(count * STEP))
    }

    /// Returns by how many messages it is later than `earlier`.
    #[inline]
    pub(super) fn since(self, earlier: Self) -> usize {
        self.0.wrapping_sub(earlier.0) / STEP
    }

    /// Returns whether it is less than `count` messages later than `earlier`.
    #[inline]
    pub(super) fn is_within(self, count: usize, earlier: Self) -> bool {
        self.0.wrapping_sub(earlier.0) < count * STEP
    }

    /// Returns the index of the slot in its block.
    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 / STEP % SLOTS
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn positions_wrap_without_changing_the_flags() {
        let last = Position::of(usize::MAX);
        assert_eq!(last.word() % STEP, 0);
        let next = last.plus(3);
        assert_eq!(next, Position::of(0).plus(2));
        assert_eq!((next.since(last), last.since(last)), (3, 0));
        assert_eq!((last.index(), next.index()), (SLOTS - 1, 2 % SLOTS));
    }
}
