//! The observations of the monitor, a parked worker that checks the running ones and takes tasks
//! that wait behind a poll that does not return. See "The monitor" in `docs/scheduler.md`.

use std::time::Duration;

use raddle_primitives::Count;

/// The longest time that the monitor sleeps. It needs two checks to find that a worker makes no
/// progress, and the tasks behind that worker must be served within 10 ms.
const MAX_INTERVAL: Duration = Duration::from_millis(4);

/// The monitor's observations of all workers. A scheduler has one. The worker that is the monitor
/// writes it with plain stores. If there are two monitors for a short time, the checks of both
/// count.
///
/// ```
/// use raddle_idle::{Monitor, Progress};
///
/// let monitor = Monitor::new(2);
/// let stuck_workers = |polls: [u64; 2]| {
///     let workers = polls.map(|polls| Progress { polls, is_running: true });
///     let mut stuck = Vec::new();
///     monitor.check(workers.into_iter(), |worker| {
///         stuck.push(worker);
///         false
///     });
///     stuck
/// };
/// assert_eq!(stuck_workers([5, 7]), []);
/// // Worker 1 is still in the poll of the previous check.
/// assert_eq!(stuck_workers([8, 7]), [1]);
/// ```
#[derive(Debug)]
pub struct Monitor(Box<[Observation]>);

/// The last observation of one worker.
#[derive(Debug, Default)]
struct Observation {
    polls: Count,
    /// Not zero if the worker was running, and had begun no poll since the previous check.
    stuck: Count,
}

/// The state of a worker, as the monitor reads it.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The number of polls that the worker has begun.
    pub polls: u64,
    /// Whether the worker is neither parked nor the monitor.
    pub is_running: bool,
}

impl Monitor {
    /// The time that the monitor sleeps before its first check.
    pub const FIRST_INTERVAL: Duration = Duration::from_millis(1);

    /// The time after which the [`Alarm`](crate::Alarm) of the monitor on standby is due. It is
    /// longer than a tick of a kernel with 250 ticks a second: for a shorter time, the kernel has
    /// to program the hardware when the alarm is set and again when it is cleared.
    pub const STANDBY_INTERVAL: Duration = Duration::from_millis(5);

    /// Returns the time that the monitor sleeps before its next check, after it has slept for
    /// `interval`.
    pub fn next_interval(interval: Duration, has_rescued: bool) -> Duration {
        match has_rescued {
            true => Self::FIRST_INTERVAL,
            false => (interval * 2).min(MAX_INTERVAL),
        }
    }

    /// Makes a monitor of `workers` workers, without observations.
    pub fn new(workers: usize) -> Self {
        Self((0..workers).map(|_| Observation::default()).collect())
    }

    /// Checks each worker, and calls `rescue` for those that are stuck. `rescue` returns whether it
    /// took a task; `check` returns whether any call did.
    pub fn check(
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

    /// Returns whether a worker was stuck at the last check.
    ///
    /// # Panics
    ///
    /// Panics if the monitor has no worker of this number.
    #[inline]
    pub fn was_stuck(&self, worker: usize) -> bool {
        self.0[worker].stuck.get() != 0
    }

    /// Returns the number of polls that a worker had begun at the last check.
    ///
    /// # Panics
    ///
    /// Panics if the monitor has no worker of this number.
    #[inline]
    pub fn polls(&self, worker: usize) -> u64 {
        self.0[worker].polls.get()
    }
}
