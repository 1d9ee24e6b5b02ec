//! A view of a scheduler's counters. `docs/metrics.md` says what each counter means and what
//! counting costs.

use std::fmt;

use raddle_counters::{Histogram, WorkerMetrics};

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
        let queued = remote.stealer.len() + usize::from(!remote.slot.is_empty());
        remote.counters.metrics(queued)
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
