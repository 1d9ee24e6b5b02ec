//! How long a worker has been busy.

use std::time::Duration;

use raddle_primitives::{Count, Epoch};

/// Set while the clock stands.
const STANDS: u64 = 1 << 63;

/// A stop watch that any thread reads and its worker starts and stops, when it
/// parks and comes back. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    epoch: Epoch,
    /// While the clock runs, the time since the epoch less what it showed
    /// before: one word, so that a reader cannot see half a change. While it
    /// stands, what it shows, and `STANDS`.
    word: Count,
}

impl Clock {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            word: Count::new(STANDS),
        }
    }

    /// Lets the clock run. The worker alone.
    pub(crate) fn start(&self) {
        let word = self.word.get();
        if word & STANDS != 0 {
            let total = word & !STANDS;
            self.word.set(self.now().saturating_sub(total));
        }
    }

    /// Stops the clock. The worker alone.
    pub(crate) fn stop(&self) {
        let word = self.word.get();
        if word & STANDS == 0 {
            let total = self.now().saturating_sub(word) & !STANDS;
            self.word.set(total | STANDS);
        }
    }

    /// How long the clock has run.
    pub(crate) fn busy(&self) -> Duration {
        let word = self.word.get();
        Duration::from_nanos(match word & STANDS {
            0 => self.now().saturating_sub(word),
            _ => word & !STANDS,
        })
    }

    fn now(&self) -> u64 {
        self.epoch.nanos() & !STANDS
    }
}
