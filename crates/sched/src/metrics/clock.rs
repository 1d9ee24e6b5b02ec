//! How long a worker has been busy.

use std::time::{Duration, Instant};

use raddle_std::Count;

/// Set while the clock stands.
const STANDS: u64 = 1 << 63;

/// Polls that weigh as much as what went before them.
const INERTIA: u64 = 9;

/// A stop watch that any thread reads and its worker starts and stops, when it
/// parks and comes back. Times are in nanoseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    epoch: Instant,
    /// While the clock runs, the time since the epoch less what it showed
    /// before: one word, so that a reader cannot see half a change. While it
    /// stands, what it shows, and `STANDS`.
    word: Count,
    /// What it showed at the last stop, and how many polls there were.
    last_total: Count,
    last_polls: Count,
    /// The moving average of the time of a poll.
    mean: Count,
}

impl Clock {
    pub(super) fn new(epoch: Instant) -> Self {
        Self {
            epoch,
            word: Count::new(STANDS),
            last_total: Count::default(),
            last_polls: Count::default(),
            mean: Count::default(),
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

    /// Stops the clock, when the worker has run `polls` tasks in all. The
    /// worker alone.
    pub(crate) fn stop(&self, polls: u64) {
        let word = self.word.get();
        if word & STANDS != 0 {
            return;
        }
        let total = self.now().saturating_sub(word) & !STANDS;
        self.word.set(total | STANDS);
        let time = total.saturating_sub(self.last_total.get());
        let count = polls - self.last_polls.get();
        self.last_total.set(total);
        self.last_polls.set(polls);
        if count > 0 {
            let mean = u128::from(self.mean.get()) * u128::from(INERTIA) + u128::from(time);
            self.mean.set((mean / u128::from(count + INERTIA)) as u64);
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

    pub(crate) fn mean_poll_time(&self) -> Duration {
        Duration::from_nanos(self.mean.get())
    }

    fn now(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64 & !STANDS
    }
}
