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
        if self.is_stopped() {
            self.start_at(self.now());
        }
    }

    /// Stops the clock. Only the worker calls this.
    pub(crate) fn stop(&self) {
        if !self.is_stopped() {
            self.stop_at(self.now());
        }
    }

    /// Stops the clock while `f` runs, and returns how long that took. Only the worker, whose clock
    /// runs, calls this.
    pub(crate) fn pause(&self, f: impl FnOnce()) -> Duration {
        let stopped = self.now();
        self.stop_at(stopped);
        f();
        let started = self.now();
        self.start_at(started);
        Duration::from_nanos(started.saturating_sub(stopped))
    }

    fn is_stopped(&self) -> bool {
        self.word.get() & STOPPED != 0
    }

    fn start_at(&self, now: u64) {
        let total = self.word.get() & !STOPPED;
        self.word.set(now.saturating_sub(total));
    }

    fn stop_at(&self, now: u64) {
        let total = now.saturating_sub(self.word.get()) & !STOPPED;
        self.word.set(total | STOPPED);
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
