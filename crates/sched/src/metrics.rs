//! What a scheduler counts, and the view of it from outside. `docs/metrics.md`
//! says what each count means, and what counting costs.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::counters::histogram::Histogram;
use crate::handle::Handle;
use crate::worker::shared::Remote;

/// The counts of a scheduler: a view that reads them when it is asked.
///
/// Workers go on while it reads, so that counts read one after the other need
/// not fit each other exactly. Counts of what has happened never decrease;
/// they are kept after the scheduler's end.
#[derive(Clone)]
pub struct Metrics {
    handle: Handle,
}

/// The counts of one worker at some moment, from the start of the scheduler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerMetrics {
    /// How many tasks it has run: polled, or, if they were aborted, dropped.
    pub polls: u64,
    /// How many times it has blocked for want of work.
    pub parks: u64,
    /// How many times it has come back from that.
    pub unparks: u64,
    /// How many times it has blocked a second time without having run a task.
    pub noops: u64,
    /// How many tasks it has taken from other workers.
    pub steals: u64,
    /// In how many goes it took them.
    pub steal_operations: u64,
    /// How many times its queue was full and handed tasks to the injection
    /// queue.
    pub overflows: u64,
    /// How many polls used up their budget, so that the task yielded.
    pub budget_yields: u64,
    /// How many times a task was queued by the worker itself: spawned or woken
    /// on it, or woken while it ran there.
    pub local_schedules: u64,
    /// How many tasks it has completed that another worker had been the first
    /// to run, or had spawned, or during a poll of which the worker went to
    /// another thread. Their memory goes back by way of a stack.
    pub completed_elsewhere: u64,
    /// How many tasks wait in its queue and its next-task slot.
    pub local_queue_depth: usize,
    /// How long it has been driven without being parked.
    pub busy: Duration,
    /// The mean time of a poll, what a worker does between polls included: a
    /// moving average of the stretches from one park, or look at the driver, to
    /// the next, in which one of `n` polls weighs `n / (n + 9)`.
    pub mean_poll_time: Duration,
}

impl Handle {
    /// What the scheduler counts.
    pub fn metrics(&self) -> Metrics {
        Metrics {
            handle: self.clone(),
        }
    }
}

impl Metrics {
    /// How many workers there are.
    pub fn workers(&self) -> usize {
        self.handle.workers()
    }

    /// How many tasks have been spawned and have not completed. A task counts
    /// for a moment longer than its join handle waits.
    pub fn alive_tasks(&self) -> usize {
        // First what has completed: every completion that is seen makes the
        // spawn before it seen, so that the difference is not negative.
        let workers = self.handle.remotes();
        let completed: u64 = workers.map(|remote| remote.counters.completed.get()).sum();
        let parts = self.handle.parts().iter();
        let handed_off = parts.map(|part| part.completed_handed_off.get());
        let completed = completed + handed_off.sum::<u64>();
        (self.spawned_tasks() - completed) as usize
    }

    /// How many tasks have been spawned.
    pub fn spawned_tasks(&self) -> u64 {
        let workers = self.handle.remotes();
        let spawned: u64 = workers.map(|remote| remote.counters.spawned.get()).sum();
        let parts = self.handle.parts().iter();
        let outside = parts.map(|part| part.outside.spawned.get());
        spawned + outside.sum::<u64>()
    }

    /// How many tasks wait in the injection queue, or in those of all shards.
    pub fn injection_depth(&self) -> usize {
        let parts = self.handle.parts().iter();
        parts.map(|part| part.injection.len()).sum()
    }

    /// How many times a task was queued by a thread that is not a worker of
    /// the scheduler, through the injection queue.
    pub fn remote_schedules(&self) -> u64 {
        let parts = self.handle.parts().iter();
        parts.map(|part| part.outside.schedules.get()).sum()
    }

    /// The counts of a worker.
    ///
    /// # Panics
    ///
    /// If there is no worker of that index.
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

    /// How many buckets the histograms of poll times have; zero if
    /// [`Config::poll_time_histogram`](crate::Config::poll_time_histogram) is
    /// none.
    pub fn poll_time_buckets(&self) -> usize {
        self.histogram(0).map_or(0, Histogram::num_buckets)
    }

    /// The times that a bucket counts. Each bucket begins where the one before
    /// ends; the first begins at zero, the last ends at `u64::MAX` nanoseconds.
    /// Empty if polls are not timed.
    ///
    /// # Panics
    ///
    /// If polls are timed and there is no such bucket.
    #[track_caller]
    pub fn poll_time_bucket_range(&self, bucket: usize) -> Range<Duration> {
        self.check_bucket(bucket);
        let histogram = self.histogram(0);
        histogram.map_or(Duration::ZERO..Duration::ZERO, |h| h.range(bucket))
    }

    /// How many of a worker's polls took as long as a bucket says; zero if polls
    /// are not timed.
    ///
    /// # Panics
    ///
    /// If there is no such worker, or polls are timed and there is no such bucket.
    #[track_caller]
    pub fn poll_time_count(&self, worker: usize, bucket: usize) -> u64 {
        self.check_bucket(bucket);
        self.histogram(worker).map_or(0, |h| h.count(bucket))
    }

    /// The thread that drives a worker, or did last. None before the first.
    ///
    /// # Panics
    ///
    /// If there is no worker of that index.
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<std::thread::ThreadId> {
        self.remote(worker).parker.thread_id()
    }

    #[track_caller]
    fn histogram(&self, worker: usize) -> Option<&Histogram> {
        self.remote(worker).counters.poll_times.as_ref()
    }

    #[track_caller]
    fn check_bucket(&self, bucket: usize) {
        let buckets = self.poll_time_buckets();
        assert!(
            bucket < buckets || buckets == 0,
            "there is no bucket {bucket}: the histogram of poll times has {buckets}"
        );
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
