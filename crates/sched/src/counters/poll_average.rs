//! The moving average of poll times.

use std::time::Duration;

use raddle_primitives::Count;

/// The weight of the old average, in polls.
const EWMA_WEIGHT: u64 = 9;

/// The moving average of poll durations. A sample is the time between two readings of the clock.
/// One thread at a time writes it.
#[derive(Debug, Default)]
pub(crate) struct PollAverage {
    /// At the last reading of the clock: the total busy time in nanoseconds, and the total number
    /// of polls.
    busy: Count,
    polls: Count,
    /// The moving average, in nanoseconds.
    mean: Count,
}

impl PollAverage {
    /// Adds a sample: the total busy time and the total number of polls so far.
    #[inline]
    pub(crate) fn update(&self, busy: Duration, polls: u64) {
        let busy = busy.as_nanos() as u64;
        let time = busy.saturating_sub(self.busy.get());
        let count = polls - self.polls.get();
        self.busy.set(busy);
        self.polls.set(polls);
        if count == 0 {
            return;
        }
        let weighted = u128::from(self.mean.get()) * u128::from(EWMA_WEIGHT) + u128::from(time);
        self.mean
            .set((weighted / u128::from(count + EWMA_WEIGHT)) as u64);
    }

    /// Returns the current average.
    pub(crate) fn mean_poll_time(&self) -> Duration {
        Duration::from_nanos(self.mean.get())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
