//! The monitor: a parked worker that looks at the running ones, and takes tasks that wait behind a
//! poll that does not return. `docs/scheduler.md`, the monitor.

use std::time::Duration;

use raddle_primitives::Count;

/// How long the monitor sleeps before its first look.
pub(crate) const FIRST_LOOK: Duration = Duration::from_millis(1);
/// The longest time that it sleeps. Within two looks it finds that a worker makes no progress, and
/// the tasks behind it must be served within 10 ms.
const LONGEST_LOOK: Duration = Duration::from_millis(4);

/// What the monitor has seen of the workers, once for each scheduler. The worker that is the
/// monitor writes it with plain stores. If there are two monitors for a moment, the looks of both
/// count.
pub(crate) struct Monitor(Box<[Observation]>);

/// What was last seen of one worker.
#[derive(Default)]
struct Observation {
    polls: Count,
    /// Not zero if the worker ran, and had begun no poll since the look before.
    stuck: Count,
}

/// What the monitor looks at of one worker.
pub(crate) struct Progress {
    pub(crate) polls: u64,
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
    pub(crate) fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Observation::default()).collect())
    }

    /// Looks at each worker, and calls `rescue` for those that are stuck; `rescue` returns whether
    /// it took a task. Returns whether any call did.
    pub(crate) fn look(
        &self,
        workers: impl Iterator<Item = Progress>,
        mut rescue: impl FnMut(usize) -> bool,
    ) -> bool {
        let mut has_rescued = false;
        for (index, (seen, progress)) in self.0.iter().zip(workers).enumerate() {
            let is_stuck = progress.is_running && progress.polls == seen.polls.get();
            seen.stuck.set(u64::from(is_stuck));
            seen.polls.set(progress.polls);
            has_rescued |= is_stuck && rescue(index);
        }
        has_rescued
    }

    /// Whether a worker was stuck at the last look.
    pub(crate) fn was_stuck(&self, worker: usize) -> bool {
        self.0[worker].stuck.get() != 0
    }

    /// The number of polls that a worker had begun at the last look.
    pub(crate) fn polls(&self, worker: usize) -> u64 {
        self.0[worker].polls.get()
    }
}
