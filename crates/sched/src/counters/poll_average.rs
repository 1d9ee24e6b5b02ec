//! Whether a worker is keeping up: `docs/scheduler.md`, a worker that is keeping up.

use std::time::Duration;

use raddle_primitives::Count;

/// The longest time that a task which an event made ready may wait for the tasks before it, before
/// another worker is woken. A wake-up costs a system call on either side, and the task's data is in
/// the first worker's cache.
const MAX_DELAY: Duration = Duration::from_micros(100);

/// The mean duration of a poll from which on waking another worker pays for a single task.
const LONG_POLL: Duration = Duration::from_micros(20);

/// How much longer than the average predicts a sample may be.
const MAX_EXCESS: Duration = Duration::from_micros(100);

/// The number of samples in a row that must not have exceeded the prediction by more than
/// [`MAX_EXCESS`]. Where one request in a hundred takes long, a worker rarely has so many, and the
/// other requests do not wait behind the long one. With a much larger number, a worker that shares
/// its core with other processes would never be keeping up.
const MIN_SAMPLES: u64 = 64;

/// The weight of the old average, in polls.
const EWMA_WEIGHT: u64 = 9;

/// The moving average of a worker's poll times. A sample is the time from one reading of the clock
/// to the next. Only the worker writes it; other threads read it as a hint.
#[derive(Debug, Default)]
pub(crate) struct PollAverage {
    /// At the last reading of the clock: the total busy time in nanoseconds, and the total number
    /// of polls.
    busy: Count,
    polls: Count,
    /// The moving average, in nanoseconds.
    mean: Count,
    /// The number of samples in a row that were not longer than predicted.
    regular_samples: Count,
}

impl PollAverage {
    /// Adds a sample: the total busy time and number of polls by now.
    pub(crate) fn note(&self, busy: Duration, polls: u64) {
        let busy = busy.as_nanos() as u64;
        let time = busy.saturating_sub(self.busy.get());
        let count = polls - self.polls.get();
        self.busy.set(busy);
        self.polls.set(polls);
        if count == 0 {
            return;
        }
        let expected = u128::from(self.mean.get()) * u128::from(count);
        self.regular_samples
            .set(match u128::from(time) > expected + MAX_EXCESS.as_nanos() {
                true => 0,
                false => self.regular_samples.get() + 1,
            });
        let weighted = u128::from(self.mean.get()) * u128::from(EWMA_WEIGHT) + u128::from(time);
        self.mean
            .set((weighted / u128::from(count + EWMA_WEIGHT)) as u64);
    }

    /// Whether the worker is likely to run this many tasks before waking another worker for them
    /// would pay.
    pub(crate) fn keeps_up(&self, tasks: usize) -> bool {
        let mean = u128::from(self.mean.get());
        self.regular_samples.get() >= MIN_SAMPLES
            && mean < LONG_POLL.as_nanos()
            && mean * tasks as u128 <= MAX_DELAY.as_nanos()
    }

    /// Whether this many polls took longer than those of a worker that is keeping up.
    pub(crate) fn is_long(time: Duration, polls: u64) -> bool {
        u128::from(polls) * LONG_POLL.as_nanos() < time.as_nanos()
    }

    pub(crate) fn mean_poll_time(&self) -> Duration {
        Duration::from_nanos(self.mean.get())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
