//! A view of a scheduler's counters. `docs/metrics.md` says what each counter means and what
//! counting costs.

use std::fmt;
use std::time::Duration;

use raddle_counters::Histogram;

use crate::handle::Handle;
use crate::worker::shared::Remote;

/// A view of a scheduler's counters. Each method reads the current values.
///
/// Workers run while a method reads, so two counters that are read one after the other may be
/// slightly inconsistent. Counters of events never decrease, and stay available after the shutdown.
#[derive(Clone)]
pub struct Metrics {
    handle: Handle,
}

/// The counts of one worker since the scheduler was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// The number of polls, and of drops of aborted tasks.
    pub polls: u64,
    /// The number of times the worker has parked.
    pub parks: u64,
    /// The number of times that the worker has stopped parking.
    pub unparks: u64,
    /// The number of parks without a poll since the park before.
    pub noops: u64,
    /// The number of tasks that it has stolen from other workers.
    pub steals: u64,
    /// The number of steal operations.
    pub steal_operations: u64,
    /// The number of times its full run queue moved tasks to the injection queue.
    pub overflows: u64,
    /// The number of polls that used up their budget, so that the task yielded.
    pub budget_yields: u64,
    /// The number of times the worker itself queued a task: one that was spawned or woken on it, or
    /// woken while it ran there.
    pub local_schedules: u64,
    /// The number of tasks that completed on this worker and are in the live list of another one:
    /// those that another worker ran first or spawned, and those from whose poll this worker was
    /// handed off.
    pub completed_elsewhere: u64,
    /// The number of tasks in its run queue and its next-task slot.
    pub local_queue_depth: usize,
    /// The time during which a thread drove the worker and it was not parked.
    pub busy: Duration,
    /// The mean duration of a poll, including what the worker does between polls. It is a moving
    /// average of samples: a sample lasts from one park or poll of the driver to the next, and one
    /// of `n` polls has the weight `n / (n + 9)`.
    pub mean_poll_time: Duration,
}

impl Handle {
    /// Returns the view of the scheduler's counters.
    pub fn metrics(&self) -> Metrics {
        Metrics {
            handle: self.clone(),
        }
    }
}

impl Metrics {
    /// Returns the number of workers.
    pub fn workers(&self) -> usize {
        self.handle.workers()
    }

    /// Returns the number of tasks that were spawned and have not completed. A task is counted for
    /// a moment after its join handle is ready.
    pub fn alive_tasks(&self) -> usize {
        // Completions are read first: a completion that is seen makes its spawn visible, so the
        // difference is not negative.
        let workers = self.handle.remotes();
        let completed: u64 = workers.map(|remote| remote.counters.completed.get()).sum();
        let parts = self.handle.parts().iter();
        let handed_off = parts.map(|part| part.completed_handed_off.get());
        let completed = completed + handed_off.sum::<u64>();
        (self.spawned_tasks() - completed) as usize
    }

    /// Returns the number of tasks that were spawned.
    pub fn spawned_tasks(&self) -> u64 {
        let workers = self.handle.remotes();
        let spawned: u64 = workers.map(|remote| remote.counters.spawned.get()).sum();
        let parts = self.handle.parts().iter();
        let outside = parts.map(|part| part.outside.spawned.get());
        spawned + outside.sum::<u64>()
    }

    /// Returns the number of tasks in the injection queue, or in those of all shards.
    pub fn injection_depth(&self) -> usize {
        let parts = self.handle.parts().iter();
        parts.map(|part| part.injection.len()).sum()
    }

    /// Returns how often a thread that is not a worker of the scheduler queued a task, in the
    /// injection queue.
    pub fn remote_schedules(&self) -> u64 {
        let parts = self.handle.parts().iter();
        parts.map(|part| part.outside.schedules.get()).sum()
    }

    /// Returns the counts of a worker.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker with that index.
    #[track_caller]
    pub fn worker(&self, index: usize) -> WorkerMetrics {
        let remote = self.remote(index);
        let counters = &remote.counters;
        WorkerMetrics {
            polls: counters.polls.get(),
            parks: counters.parks.get(),
            unparks: counters.unparks.get(),
            noops: counters.noops.get(),
            steals: counters.steals.get(),
            steal_operations: counters.steal_operations.get(),
            overflows: counters.overflows.get(),
            budget_yields: counters.budget_yields.get(),
            local_schedules: counters.local_schedules.get(),
            completed_elsewhere: counters.completed_elsewhere.get(),
            local_queue_depth: remote.stealer.len()
                + usize::from(!remote.slot.is_empty())
                + counters.backlog.get() as usize,
            busy: counters.clock.busy(),
            mean_poll_time: counters.poll_average.mean_poll_time(),
        }
    }

    /// Returns the histogram of the durations of a worker's polls, or `None` if
    /// [`Config::poll_time_histogram`](crate::Config::poll_time_histogram) is. The histograms of
    /// all workers have the same buckets.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker with that index.
    #[track_caller]
    pub fn poll_times(&self, worker: usize) -> Option<&Histogram> {
        self.remote(worker).counters.poll_times.as_ref()
    }

    /// Returns the thread that drives a worker, or drove it last; `None` if no thread has.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker with that index.
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<std::thread::ThreadId> {
        self.remote(worker).parker.thread_id()
    }

    #[track_caller]
    fn remote(&self, worker: usize) -> &Remote {
        let Some(remote) = self.handle.remotes().nth(worker) else {
            panic!(
                "there is no worker {worker}: the scheduler has {}",
                self.workers()
            );
        };
        remote
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics")
            .field("alive_tasks", &self.alive_tasks())
            .field("injection_depth", &self.injection_depth())
            .field("remote_schedules", &self.remote_schedules())
            .finish_non_exhaustive()
    }
}
