//! A clock of the time that a thread is busy.

use std::time::Duration;

use raddle_primitives::{Count, Epoch};

/// Set while the clock is stopped.
const STOPPED: u64 = 1 << 63;

/// A stopwatch for the busy time of a thread. Its owner, one thread at a time, starts it after a
/// park and stops it before the next one; any thread reads it. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct BusyClock {
    epoch: Epoch,
    /// While the clock runs: the time of its start since the epoch, minus the time that it showed
    /// then. While it is stopped: the time that it shows, with `STOPPED`. It is one word, so that a
    /// reader cannot see half a change.
    word: Count,
}

/// A clock that is stopped and shows zero.
impl Default for BusyClock {
    fn default() -> Self {
        Self::new(Epoch::now())
    }
}

impl BusyClock {
    /// Makes a clock that is stopped and shows zero. It measures times from `epoch`.
    pub(crate) fn new(epoch: Epoch) -> Self {
        Self {
            epoch,
            word: Count::new(STOPPED),
        }
    }

    /// Starts the clock. Only the owner calls this.
    #[inline]
    pub(crate) fn start(&self) {
        if self.is_stopped() {
            self.start_at(self.now());
        }
    }

    /// Stops the clock. Only the owner calls this.
    #[inline]
    pub(crate) fn stop(&self) {
        if !self.is_stopped() {
            self.stop_at(self.now());
        }
    }

    /// Stops the clock while `f` runs, and returns how long that took. Only the owner calls this,
    /// while the clock runs.
    #[inline]
    pub(crate) fn pause(&self, f: impl FnOnce()) -> Duration {
        let stopped = self.now();
        self.stop_at(stopped);
        f();
        let started = self.now();
        self.start_at(started);
        Duration::from_nanos(started.saturating_sub(stopped))
    }

    #[inline]
    fn is_stopped(&self) -> bool {
        self.word.get() & STOPPED != 0
    }

    #[inline]
    fn start_at(&self, now: u64) {
        let total = self.word.get() & !STOPPED;
        self.word.set(now.saturating_sub(total));
    }

    #[inline]
    fn stop_at(&self, now: u64) {
        let total = now.saturating_sub(self.word.get()) & !STOPPED;
        self.word.set(total | STOPPED);
    }

    /// Returns the total time that the clock has run.
    #[inline]
    pub(crate) fn busy(&self) -> Duration {
        let word = self.word.get();
        Duration::from_nanos(match word & STOPPED {
            0 => self.now().saturating_sub(word),
            _ => word & !STOPPED,
        })
    }

    #[inline]
    fn now(&self) -> u64 {
        self.epoch.nanos() & !STOPPED
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
