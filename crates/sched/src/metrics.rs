//! A view of a scheduler's counters.

use crate::counters::{
    Histogram, HistogramRecorder, SampledTimes, WorkerCounters, WorkerMetrics, WorkerTimes,
};

use crate::handle::{Handle, no_worker};
use crate::worker::shard::{Peer, Shard};

/// A view of a scheduler's counters. Each method reads the current values.
///
/// Workers run while a method reads, so two counters that are read one after the other may be
/// slightly inconsistent. Counters of events never decrease, and stay available after the shutdown.
///
/// ```
/// use raddle_sched::{Config, Pool, Step};
///
/// let (handle, mut workers) = Pool::stepped(Config { workers: 2, ..Config::default() }, None);
/// let metrics = handle.metrics();
/// assert_eq!(metrics.workers(), 2);
/// let _entered = handle.enter();
/// handle.spawn(async {});
/// // This thread is not a worker, so the task waits in the injection queue.
/// assert_eq!((metrics.alive_tasks(), metrics.injection_depth()), (1, 1));
/// assert_eq!(metrics.remote_schedules(), 1);
///
/// assert_eq!(workers[1].step(), Step::Ran);
/// assert_eq!((metrics.spawned_tasks(), metrics.alive_tasks()), (1, 0));
/// assert_eq!((metrics.worker(0).polls, metrics.worker(1).polls), (0, 1));
/// ```
#[derive(Clone, Debug)]
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
    /// Returns the number of workers, without spare ones.
    pub fn workers(&self) -> usize {
        self.handle.workers()
    }

    /// Returns the number of spare workers that serve now, or are about to.
    pub fn spare_workers(&self) -> usize {
        self.handle.first_shard.spares.active()
    }

    /// Returns the number of spare workers that have been made. Their indexes follow those of the
    /// workers.
    pub fn made_spare_workers(&self) -> usize {
        self.handle.first_shard.spares.iter().count()
    }

    /// Returns how often a spare worker was started.
    pub fn spare_starts(&self) -> u64 {
        self.handle.first_shard.spares.starts()
    }

    /// Returns how often tasks waited behind polls that do not return while all spare workers were
    /// in use, at most once every 10 s.
    pub fn spare_shortages(&self) -> u64 {
        self.handle.first_shard.spares.shortages()
    }

    /// Returns the highest number of spare workers.
    pub fn max_spare_workers(&self) -> usize {
        self.handle.first_shard.spares.max()
    }

    /// Returns the number of tasks that were spawned and have not completed. A task is not counted
    /// any more when its join handle is ready.
    pub fn alive_tasks(&self) -> usize {
        // Completions are read first: a completion that is seen makes its spawn visible, so the
        // difference is not negative.
        let completed = self.sum(Shard::completed_outside, |worker| worker.completed.get());
        let refused = self.sum(Shard::refused, |_| 0);
        (self.spawned_tasks() + refused - completed) as usize
    }

    /// Returns the number of tasks that were spawned.
    pub fn spawned_tasks(&self) -> u64 {
        self.sum(
            |shard| shard.injected.spawned.get(),
            |worker| worker.spawned.get(),
        )
    }

    /// Returns the number of tasks in the injection queue, or in those of all shards.
    pub fn injection_depth(&self) -> usize {
        self.sum(|shard| shard.injection.len() as u64, |_| 0) as usize
    }

    /// Returns how often a thread that is not a worker of the scheduler, or is one of another
    /// shard, queued a task, in the injection queue.
    pub fn remote_schedules(&self) -> u64 {
        self.sum(|shard| shard.injected.schedules.get(), |_| 0)
    }

    /// The sum of a count of each shard and of a count of each worker.
    fn sum(&self, of_shard: fn(&Shard) -> u64, of_worker: fn(&WorkerCounters) -> u64) -> u64 {
        let shards = Shard::all(&self.handle.first_shard).map(|shard| of_shard(shard));
        let workers = self.handle.peers();
        let workers = workers.map(|peer| of_worker(&peer.counters));
        shards.chain(workers).sum()
    }

    /// Returns the counts of a worker, or of a spare worker that was made.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker with that index.
    #[track_caller]
    pub fn worker(&self, index: usize) -> WorkerMetrics {
        let peer = self.peer(index);
        let queued = peer.stealer.len() + usize::from(!peer.slot.is_empty());
        peer.counters.metrics(queued)
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
        let recorder = self.peer(worker).counters.poll_times.as_ref();
        recorder.map(HistogramRecorder::histogram)
    }

    /// Returns the durations of polls, spare workers included, or `None` if
    /// [`Config::samples_times`](crate::Config::samples_times) is false. A poll in which the worker
    /// was handed off does not count.
    ///
    /// ```
    /// use raddle_sched::{Config, Pool, Step};
    ///
    /// let config = Config { samples_times: true, ..Config::default() };
    /// let (handle, mut workers) = Pool::stepped(config, None);
    /// let _entered = handle.enter();
    /// handle.spawn(async { std::thread::sleep(std::time::Duration::from_millis(3)) });
    /// assert_eq!(workers[0].step(), Step::Ran);
    /// let times = handle.metrics().sampled_poll_times().unwrap();
    /// assert_eq!(times.count(), 1);
    /// assert!(times.sum().as_millis() >= 3);
    /// assert_eq!(handle.metrics().sampled_delays().unwrap().count(), 1);
    /// ```
    pub fn sampled_poll_times(&self) -> Option<SampledTimes> {
        self.sampled().map(|(polls, _)| polls)
    }

    /// Returns how long tasks have waited from the time when they were spawned, woken or queued
    /// again to their next poll, or `None` if
    /// [`Config::samples_times`](crate::Config::samples_times) is false.
    pub fn sampled_delays(&self) -> Option<SampledTimes> {
        self.sampled().map(|(_, delays)| delays)
    }

    fn sampled(&self) -> Option<(SampledTimes, SampledTimes)> {
        let peers = self.handle.peers();
        let mut times = peers.filter_map(|peer| peer.counters.sampled.as_deref());
        let (mut polls, mut delays) = (SampledTimes::default(), SampledTimes::default());
        let mut add = |times: &WorkerTimes| times.add_to(&mut polls, &mut delays);
        add(times.next()?);
        times.for_each(add);
        Some((polls, delays))
    }

    /// Returns the thread that drives a worker, or drove it last; `None` if no thread has.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker with that index.
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<std::thread::ThreadId> {
        self.peer(worker).parker.thread_id()
    }

    #[track_caller]
    fn peer(&self, worker: usize) -> &Peer {
        match self.handle.peers().nth(worker) {
            Some(peer) => peer,
            None => no_worker(worker, self.handle.peers().count()),
        }
    }
}
