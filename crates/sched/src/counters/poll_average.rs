//! Whether a worker gets through its tasks as fast as they come.

use std::time::Duration;

use raddle_primitives::Count;

/// How long a task that an event made ready may wait for those before it, until
/// it is worth while to wake another worker. Each wake-up is a system call on
/// either side, and what the task works on is in the first worker's cache.
const WORTH_A_WAKE: Duration = Duration::from_micros(100);

/// From what mean time of a poll on it is worth while for a single task.
const LONG_POLL: Duration = Duration::from_micros(20);

/// By how much a spell of work may be longer than expected.
const UNUSUAL: Duration = Duration::from_micros(100);

/// How many spells of work in a row must have been no longer than expected. Where
/// one request in a hundred takes long, a worker seldom comes so far, and the
/// other requests do not wait behind that one. Many more, and a worker that has
/// to share its core with other processes would never be trusted.
const STEADY: u64 = 64;

/// Polls that weigh as much as what went before them.
const INERTIA: u64 = 9;

/// How fast a worker has been, from one look at the clock to the next. Written
/// by it alone; to others it is a hint.
#[derive(Debug, Default)]
pub(crate) struct PollAverage {
    /// At the last look: how long it had been busy in all, in nanoseconds, and
    /// how many polls that were.
    busy: Count,
    polls: Count,
    /// The moving average of the time of a poll.
    mean: Count,
    /// How many looks in a row found nothing unusual.
    steady: Count,
}

impl PollAverage {
    /// Takes note of how long the worker has been busy, and how many polls that
    /// were, in all.
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
        self.steady
            .set(match u128::from(time) > expected + UNUSUAL.as_nanos() {
                true => 0,
                false => self.steady.get() + 1,
            });
        let weighted = u128::from(self.mean.get()) * u128::from(INERTIA) + u128::from(time);
        self.mean
            .set((weighted / u128::from(count + INERTIA)) as u64);
    }

    /// Whether the worker is likely to come to the last of so many tasks before
    /// another, woken for it, would be worth while.
    pub(crate) fn keeps_up(&self, tasks: usize) -> bool {
        let mean = u128::from(self.mean.get());
        self.steady.get() >= STEADY
            && mean < LONG_POLL.as_nanos()
            && mean * tasks as u128 <= WORTH_A_WAKE.as_nanos()
    }

    /// Whether so many polls took longer than those of a worker that is trusted.
    pub(crate) fn is_long(time: Duration, polls: u64) -> bool {
        u128::from(polls) * LONG_POLL.as_nanos() < time.as_nanos()
    }

    pub(crate) fn mean_poll_time(&self) -> Duration {
        Duration::from_nanos(self.mean.get())
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
