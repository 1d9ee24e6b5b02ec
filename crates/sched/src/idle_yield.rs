//! Whether a worker that has run out of tasks yields its processor before it parks. See "Parking"
//! in `docs/scheduler.md`.

use std::cell::Cell;
use std::time::Duration;

/// The longest yield that can be useful. After a longer one, other processes keep the processor
/// busy, and the worker gets it back too late.
const MAX_YIELD: Duration = Duration::from_millis(2);
/// The most parks that begin without a yield before the next one with a yield.
const MAX_SKIPPED_PARKS: u32 = 1024;

/// What a worker remembers of its yields, to decide whether the next park begins with one.
///
/// A yield is useful if it takes at most 2 ms, and the worker has a task after it, so that it does
/// not park. After a useless yield the next park begins without one. Each further useless yield
/// doubles the number of these parks, up to 1,024, until a yield is useful again.
#[derive(Debug)]
pub(crate) struct IdleYield {
    /// The number of parks until the next yield.
    left_to_skip: Cell<u32>,
    /// The number of parks to skip after the next yield that is not useful.
    next_skip: Cell<u32>,
}

impl Default for IdleYield {
    fn default() -> Self {
        Self {
            left_to_skip: Cell::new(0),
            next_skip: Cell::new(1),
        }
    }
}

impl IdleYield {
    /// The shortest yield during which another thread can have run, and made events ready.
    pub(crate) const MIN_SWITCH_TIME: Duration = Duration::from_micros(3);

    /// Counts a park that is about to begin. Returns whether a yield comes before it.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        let left = self.left_to_skip.get();
        self.left_to_skip.set(left.saturating_sub(1));
        left == 0
    }

    /// Records how long a yield took, and whether the worker has a task after it.
    #[inline]
    pub(crate) fn record(&self, took: Duration, has_task: bool) {
        if has_task && took <= MAX_YIELD {
            self.next_skip.set(1);
        } else {
            let skip = self.next_skip.get();
            self.left_to_skip.set(skip);
            self.next_skip.set((2 * skip).min(MAX_SKIPPED_PARKS));
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
