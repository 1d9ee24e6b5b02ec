//! The locks that the current thread holds.

use std::cell::Cell;

use super::Rank;

/// More locks than any thread holds at once.
const DEPTH: usize = 16;

std::thread_local! {
    // The array has no destructor, so destructors of other thread-local variables can use it.
    static HELD: [Cell<Option<Rank>>; DEPTH] = const { [const { Cell::new(None) }; DEPTH] };
}

/// The place of a lock in the order, if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LockRank(Option<Rank>);

/// A lock that the thread holds until this value is dropped.
#[derive(Debug)]
pub(crate) struct Held(Option<usize>);

impl LockRank {
    pub(crate) const fn none() -> Self {
        Self(None)
    }

    pub(crate) const fn new(rank: Rank) -> Self {
        Self(Some(rank))
    }

    /// Checks the order before the thread blocks.
    #[track_caller]
    pub(crate) fn enter(self) -> Held {
        if let Some(rank) = self.0 {
            let highest = HELD.with(|held| {
                let ranks = held.iter().filter_map(Cell::get);
                ranks.max_by_key(|rank| rank.level)
            });
            if let Some(highest) = highest.filter(|highest| highest.level >= rank.level) {
                panic!(
                    "the lock \"{}\" is taken under the lock \"{}\", whose level is not lower; \
                     release the other lock first",
                    rank.name, highest.name
                );
            }
        }
        self.enter_unordered()
    }

    /// Records a lock without a check: for callers that do not wait for the lock, and so cannot
    /// deadlock, and for callers that check the order afterwards.
    pub(crate) fn enter_unordered(self) -> Held {
        Held(self.0.map(|rank| {
            HELD.with(|held| {
                let free = held.iter().position(|place| place.get().is_none());
                let free = free.expect("a thread holds no more than 16 locks");
                held[free].set(Some(rank));
                free
            })
        }))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(place) = self.0 {
            HELD.with(|held| held[place].set(None));
        }
    }
}
