//! How long a worker has been busy.

use std::time::Duration;

use raddle_primitives::{Count, Epoch};

/// Set while the clock is stopped.
const STOPPED: u64 = 1 << 63;

/// A stopwatch. Its worker starts it and stops it, when it unparks and parks; any thread reads it.
/// Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    epoch: Epoch,
    /// While the clock runs: the time since the epoch minus what the clock showed when it was
    /// started. While it is stopped: what it shows, with `STOPPED`. It is one word, so that a
    /// reader cannot see half a change.
    word: Count,
}

impl Clock {
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            word: Count::new(STOPPED),
        }
    }

    /// Starts the clock. Only the worker calls this.
    pub(crate) fn start(&self) {
        let word = self.word.get();
        if word & STOPPED != 0 {
            let total = word & !STOPPED;
            self.word.set(self.now().saturating_sub(total));
        }
    }

    /// Stops the clock. Only the worker calls this.
    pub(crate) fn stop(&self) {
        let word = self.word.get();
        if word & STOPPED == 0 {
            let total = self.now().saturating_sub(word) & !STOPPED;
            self.word.set(total | STOPPED);
        }
    }

    /// How long the clock has run.
    pub(crate) fn busy(&self) -> Duration {
        let word = self.word.get();
        Duration::from_nanos(match word & STOPPED {
            0 => self.now().saturating_sub(word),
            _ => word & !STOPPED,
        })
    }

    fn now(&self) -> u64 {
        self.epoch.nanos() & !STOPPED
    }
}
