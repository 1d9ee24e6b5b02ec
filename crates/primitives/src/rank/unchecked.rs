//! Does nothing: only builds with debug assertions record the locks of a thread.

use super::Rank;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LockRank;

#[derive(Debug)]
pub(crate) struct Held;

impl LockRank {
    pub(crate) const fn none() -> Self {
        Self
    }

    pub(crate) const fn new(_: Rank) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn enter(self) -> Held {
        Held
    }

    #[inline(always)]
    pub(crate) fn enter_unordered(self) -> Held {
        Held
    }
}
