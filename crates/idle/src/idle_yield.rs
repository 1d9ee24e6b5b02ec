//! Whether a worker that has run out of tasks yields its processor before it parks:
//! `docs/scheduler.md`, yielding before a park.

use std::cell::Cell;
use std::time::Duration;

/// The longest yield after which the worker yields before its next park too. A longer one means
/// that other processes keep the processor busy: a worker that yields to them gets it back too
/// late.
const LONGEST: Duration = Duration::from_millis(2);
/// The shortest yield during which another thread can have run, and made events ready.
const SHORTEST_SWITCH: Duration = Duration::from_micros(3);
/// How many parks follow the first long yield without one. Each further long yield doubles it.
const FEWEST_SKIPPED: u32 = 8;
const MOST_SKIPPED: u32 = 1024;

/// What a worker remembers of its yields, to decide whether the next park begins with one.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_idle::IdleYield;
///
/// let yields = IdleYield::default();
/// assert!(yields.is_due());
/// // Another process kept the processor: the next eight parks begin without a yield.
/// assert!(yields.note(Duration::from_millis(5)));
/// assert_eq!((0..9).filter(|_| yields.is_due()).count(), 1);
/// ```
#[derive(Debug)]
pub struct IdleYield {
    /// The number of parks until the next yield.
    left_to_skip: Cell<u32>,
    /// The number of parks to skip after the next long yield.
    next_skip: Cell<u32>,
}

impl Default for IdleYield {
    fn default() -> Self {
        Self {
            left_to_skip: Cell::new(0),
            next_skip: Cell::new(FEWEST_SKIPPED),
        }
    }
}

impl IdleYield {
    /// Counts a park that is about to begin. Returns whether a yield comes before it.
    #[inline]
    pub fn is_due(&self) -> bool {
        let left = self.left_to_skip.get();
        self.left_to_skip.set(left.saturating_sub(1));
        left == 0
    }

    /// Notes how long a yield took. Returns whether another thread can have run meanwhile.
    #[inline]
    pub fn note(&self, took: Duration) -> bool {
        if took > LONGEST {
            let skip = self.next_skip.get();
            self.left_to_skip.set(skip);
            self.next_skip.set((2 * skip).min(MOST_SKIPPED));
        } else {
            self.next_skip.set(FEWEST_SKIPPED);
        }
        took >= SHORTEST_SWITCH
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
