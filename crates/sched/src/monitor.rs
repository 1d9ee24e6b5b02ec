//! The monitor: a parked worker that looks at the running ones, and takes tasks that wait behind a
//! poll that does not return. `docs/scheduler.md`, the monitor.

use std::time::Duration;

use raddle_primitives::{Count, Epoch};

/// How long the monitor sleeps before its first look.
pub(crate) const FIRST_LOOK: Duration = Duration::from_millis(1);
/// The longest time that it sleeps. Within two looks it finds that a worker makes no progress, and
/// the tasks behind it must be served within 10 ms.
const LONGEST_LOOK: Duration = Duration::from_millis(4);
/// What the monitor has seen of the workers, once for each scheduler. The worker that is the
/// monitor writes it with plain stores. If there are two monitors for a moment, the looks of both
/// count.
pub(crate) struct Monitor {
    observations: Box<[Observation]>,
    epoch: Epoch,
    /// When the monitor looked last, in nanoseconds since the epoch; zero before its first look.
    looked: Count,
}

/// What was last seen of one worker.
#[derive(Default)]
struct Observation {
    polls: Count,
    parks: Count,
    /// Not zero if the worker ran, and had begun no poll since the look before.
    stuck: Count,
    /// Not zero if the worker had run all the time since the look before, and its polls were long.
    /// Its poll-time average, which it updates once for many polls, may not show that yet.
    slow: Count,
}

/// What the monitor looks at of one worker.
pub(crate) struct Progress {
    pub(crate) polls: u64,
    pub(crate) parks: u64,
    pub(crate) is_running: bool,
}

/// The time that the monitor sleeps until its next look, after it has slept for `interval`.
pub(crate) fn next_interval(interval: Duration, has_rescued: bool) -> Duration {
    match has_rescued {
        true => FIRST_LOOK,
        false => (interval * 2).min(LONGEST_LOOK),
    }
}

impl Monitor {
    pub(crate) fn new(workers: usize, epoch: Epoch) -> Self {
        Self {
            observations: (0..workers).map(|_| Observation::default()).collect(),
            epoch,
            looked: Count::default(),
        }
    }

    /// Looks at each worker, and calls `rescue` for those that are stuck; `rescue` returns whether
    /// it took a task. Returns whether any call did. `is_long` is whether this many polls in this
    /// time were long.
    pub(crate) fn look(
        &self,
        workers: impl Iterator<Item = Progress>,
        is_long: impl Fn(Duration, u64) -> bool,
        mut rescue: impl FnMut(usize) -> bool,
    ) -> bool {
        let now = self.epoch.nanos();
        let passed = match self.looked.get() {
            // The durations of polls before the first look are not known.
            0 => Duration::ZERO,
            looked => Duration::from_nanos(now.saturating_sub(looked)),
        };
        self.looked.set(now);
        let mut has_rescued = false;
        for (index, (seen, progress)) in self.observations.iter().zip(workers).enumerate() {
            let polls = progress.polls.wrapping_sub(seen.polls.get());
            let has_parked = seen.parks.get() != progress.parks;
            let is_stuck = progress.is_running && polls == 0;
            let is_slow = progress.is_running && !has_parked && is_long(passed, polls);
            seen.stuck.set(u64::from(is_stuck));
            seen.slow.set(u64::from(is_slow));
            seen.polls.set(progress.polls);
            seen.parks.set(progress.parks);
            has_rescued |= is_stuck && rescue(index);
        }
        has_rescued
    }

    /// Whether a worker was stuck at the last look.
    pub(crate) fn was_stuck(&self, worker: usize) -> bool {
        self.observations[worker].stuck.get() != 0
    }

    /// Whether a worker was slow at the last look.
    pub(crate) fn was_slow(&self, worker: usize) -> bool {
        self.observations[worker].slow.get() != 0
    }

    /// The number of polls that a worker had begun at the last look.
    pub(crate) fn polls(&self, worker: usize) -> u64 {
        self.observations[worker].polls.get()
    }
}
