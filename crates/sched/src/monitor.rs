//! The monitor: a parked worker that looks at those that run, and takes what waits
//! behind a poll that does not return. `docs/scheduler.md`, the monitor.

use std::time::Duration;

use raddle_primitives::{Count, Epoch};

/// How long the monitor sleeps before its first look.
pub(crate) const FIRST_LOOK: Duration = Duration::from_millis(1);
/// How long it sleeps at most: two looks see that a worker makes no progress, and
/// what it leaves undone is to be served within 10 ms.
const LONGEST_LOOK: Duration = Duration::from_millis(4);
/// What the monitor has seen of the workers: one for a scheduler. The worker that is the
/// monitor writes it, with plain stores; if there are two for a moment, each look is
/// still a look.
pub(crate) struct Monitor {
    sights: Box<[Sight]>,
    epoch: Epoch,
    /// When it looked last, in nanoseconds since the epoch; zero before its first look.
    looked: Count,
}

/// What was last seen of one worker.
#[derive(Default)]
struct Sight {
    polls: Count,
    parks: Count,
    /// Not zero if it ran, and had made no progress since the look before.
    stuck: Count,
    /// Not zero if it had run all the time since then, and its polls were long: its
    /// average, of which it takes note every so many polls, may not show it yet.
    slow: Count,
}

/// What the monitor looks at of one worker.
pub(crate) struct Progress {
    pub(crate) polls: u64,
    pub(crate) parks: u64,
    pub(crate) is_running: bool,
}

/// How long the monitor sleeps until its next look, if it has slept for `interval`.
pub(crate) fn next_interval(interval: Duration, has_rescued: bool) -> Duration {
    match has_rescued {
        true => FIRST_LOOK,
        false => (interval * 2).min(LONGEST_LOOK),
    }
}

impl Monitor {
    pub(crate) fn new(workers: usize, epoch: Epoch) -> Self {
        Self {
            sights: (0..workers).map(|_| Sight::default()).collect(),
            epoch,
            looked: Count::default(),
        }
    }

    /// Looks at each worker, and hands those that are stuck to `rescue`, which says whether it
    /// took anything. Returns whether it did. `is_long` says whether so many polls in such a time
    /// were long.
    pub(crate) fn look(
        &self,
        workers: impl Iterator<Item = Progress>,
        is_long: impl Fn(Duration, u64) -> bool,
        mut rescue: impl FnMut(usize) -> bool,
    ) -> bool {
        let now = self.epoch.nanos();
        let passed = match self.looked.get() {
            // Nothing is known of the polls before the first look.
            0 => Duration::ZERO,
            looked => Duration::from_nanos(now.saturating_sub(looked)),
        };
        self.looked.set(now);
        let mut has_rescued = false;
        for (index, (sight, progress)) in self.sights.iter().zip(workers).enumerate() {
            let polls = progress.polls.wrapping_sub(sight.polls.get());
            let has_parked = sight.parks.get() != progress.parks;
            let is_stuck = progress.is_running && polls == 0;
            let is_slow = progress.is_running && !has_parked && is_long(passed, polls);
            sight.stuck.set(u64::from(is_stuck));
            sight.slow.set(u64::from(is_slow));
            sight.polls.set(progress.polls);
            sight.parks.set(progress.parks);
            has_rescued |= is_stuck && rescue(index);
        }
        has_rescued
    }

    /// Whether a worker was stuck at the last look.
    pub(crate) fn was_stuck(&self, worker: usize) -> bool {
        self.sights[worker].stuck.get() != 0
    }

    /// Whether a worker was slow at the last look.
    pub(crate) fn was_slow(&self, worker: usize) -> bool {
        self.sights[worker].slow.get() != 0
    }

    /// How many polls a worker had begun at the last look.
    pub(crate) fn polls(&self, worker: usize) -> u64 {
        self.sights[worker].polls.get()
    }
}
