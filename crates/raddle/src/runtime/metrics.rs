//! The metrics of a runtime.

use std::fmt;
use std::ops::Range;
use std::thread::ThreadId;
use std::time::Duration;

use raddle_sched::{Histogram, WorkerMetrics};

use crate::runtime::Handle;

/// A view of a runtime's metrics. Each method reads the current value.
///
/// Counting is always on, except for the histogram of poll times, which has to be
/// [enabled](crate::runtime::Builder::enable_metrics_poll_time_histogram). Workers continue to run
/// while the metrics are read, so values that are read one after the other may be slightly
/// inconsistent. A count of events never decreases. The worker of a current-thread runtime is the
/// thread in [`Runtime::block_on`](crate::runtime::Runtime::block_on); the future that it blocks on
/// is not a task, and is not counted.
///
/// ```
/// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
/// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
/// let metrics = runtime.metrics();
/// assert_eq!(metrics.worker_poll_count(0), 1);
/// assert_eq!(metrics.num_alive_tasks(), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Panics
///
/// The methods that take the index of a worker panic if it is not below
/// [`num_workers`](Self::num_workers).
#[derive(Clone)]
pub struct RuntimeMetrics {
    handle: Handle,
}

impl RuntimeMetrics {
    pub(crate) fn new(handle: Handle) -> Self {
        Self { handle }
    }

    fn scheduler(&self) -> raddle_sched::Metrics {
        self.handle.scheduler().metrics()
    }

    #[track_caller]
    fn worker(&self, worker: usize) -> WorkerMetrics {
        self.scheduler_of(worker).worker(worker)
    }

    /// Returns the counts of the scheduler, which also has those of spare workers.
    #[track_caller]
    fn scheduler_of(&self, worker: usize) -> raddle_sched::Metrics {
        let scheduler = self.scheduler();
        let workers = scheduler.workers();
        assert!(
            worker < workers,
            "there is no worker {worker}; pass a number below {workers}, the number of workers"
        );
        scheduler
    }

    /// Returns the number of workers; 1 on a current-thread runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().num_workers(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_workers(&self) -> usize {
        self.scheduler().workers()
    }

    /// Returns the number of [spare workers](crate::runtime::Builder::max_spare_workers) that serve
    /// now. [`num_workers`](Self::num_workers) and the counts per worker do not include them.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_multi_thread().build()?;
    /// assert_eq!(runtime.metrics().num_spare_workers(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_spare_workers(&self) -> usize {
        self.scheduler().spare_workers()
    }

    /// Returns how often a spare worker was started, including starts for which the system refused
    /// the thread. It grows if polls block, and if the polls of all workers take more than half a
    /// millisecond while events arrive. `Builder::watchdog` names the polls above its threshold.
    pub fn spare_worker_start_count(&self) -> u64 {
        self.scheduler().spare_starts()
    }

    /// Returns the number of tasks that have been spawned and have not completed, excluding
    /// blocking work and the tasks of a [`LocalSet`](crate::task::LocalSet). A task is no longer
    /// counted when its join handle is ready.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().num_alive_tasks(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_alive_tasks(&self) -> usize {
        self.scheduler().alive_tasks()
    }

    /// The former name of [`num_alive_tasks`](Self::num_alive_tasks).
    #[deprecated = "use num_alive_tasks"]
    pub fn active_tasks_count(&self) -> usize {
        self.num_alive_tasks()
    }

    /// Returns the number of tasks that have been spawned, including completed ones.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().spawned_tasks_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawned_tasks_count(&self) -> u64 {
        self.scheduler().spawned_tasks()
    }

    /// Returns the number of tasks in the injection queue, which all workers share.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().global_queue_depth(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler().injection_depth()
    }

    /// Returns the number of times that a task was queued from outside the workers.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{} tasks queued from outside", runtime.metrics().remote_schedule_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler().remote_schedules()
    }

    /// Returns the number of polls that have used up their [budget](crate::task::coop), so that the
    /// task yielded.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{} polls used up their budget", runtime.metrics().budget_forced_yield_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn budget_forced_yield_count(&self) -> u64 {
        let scheduler = self.scheduler();
        let workers = 0..scheduler.workers() + scheduler.made_spare_workers();
        workers
            .map(|worker| scheduler.worker(worker).budget_yields)
            .sum()
    }

    /// Returns the thread that a worker runs on, or ran on last. It changes after
    /// [`block_in_place`](crate::task::block_in_place) and, on a current-thread runtime, after a
    /// `block_on` on another thread. `None` before the first thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{:?}", runtime.metrics().worker_thread_id(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.scheduler_of(worker).worker_thread_id(worker)
    }

    /// Returns the number of times that a worker has parked because it had no work.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} parks", metrics.worker_park_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_park_count(&self, worker: usize) -> u64 {
        self.worker(worker).parks
    }

    /// Returns the number of times that a worker has parked or stopped parking: odd while it is
    /// parked.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("worker 0: {} parks and wake-ups", runtime.metrics().worker_park_unpark_count(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let worker = self.worker(worker);
        worker.parks + worker.unparks
    }

    /// Returns the number of times that a worker has parked again without running a task.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("worker 0: {} parks without work", runtime.metrics().worker_noop_count(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        self.worker(worker).noops
    }

    /// Returns the number of tasks that a worker has stolen from others.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("worker 0: {} tasks stolen", runtime.metrics().worker_steal_count(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.worker(worker).steals
    }

    /// Returns the number of steal operations of a worker.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("worker 0: {} steals", runtime.metrics().worker_steal_operations(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.worker(worker).steal_operations
    }

    /// Returns the number of tasks that a worker has run: polled, or dropped because they were
    /// aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().worker_poll_count(0), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.worker(worker).polls
    }

    /// Returns the total time that a worker has been busy: not parked and, on a current-thread
    /// runtime, driven by a thread in `block_on`. The current busy period is included.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{:?}", runtime.metrics().worker_total_busy_duration(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.worker(worker).busy
    }

    /// Returns the number of times that a worker has itself queued a task that was spawned or woken
    /// on it.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// assert_eq!(runtime.metrics().worker_local_schedule_count(0), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.worker(worker).local_schedules
    }

    /// Returns the number of times that a worker's queue was full and moved tasks to the injection
    /// queue. On a current-thread runtime it is always zero.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("worker 0: {} overflows", runtime.metrics().worker_overflow_count(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.worker(worker).overflows
    }

    /// Returns the number of tasks that have completed on a worker after they began on another one,
    /// or after they blocked in place. Tokio does not have this metric.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{} tasks of others", runtime.metrics().worker_completed_elsewhere_count(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_completed_elsewhere_count(&self, worker: usize) -> u64 {
        self.worker(worker).completed_elsewhere
    }

    /// Returns the number of tasks in a worker's own queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().worker_local_queue_depth(0), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        self.worker(worker).local_queue_depth
    }

    /// Returns the mean duration of a worker's polls, including the work between polls: a moving
    /// average of the intervals between parks and checks for other work, in which an interval of
    /// `n` polls has the weight `n / (n + 9)`.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// println!("{:?}", runtime.metrics().worker_mean_poll_time(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        self.worker(worker).mean_poll_time
    }

    /// Returns whether polls are timed.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert!(!runtime.metrics().poll_time_histogram_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.scheduler().poll_times(0).is_some()
    }

    /// Returns the number of buckets of the histogram of poll times; zero if polls are not timed.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .build()?;
    /// assert!(runtime.metrics().poll_time_histogram_num_buckets() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        let scheduler = self.scheduler();
        scheduler.poll_times(0).map_or(0, Histogram::num_buckets)
    }

    /// Returns the range of a bucket. Each range begins where the previous one ends, the first at
    /// zero; the last ends at `u64::MAX` nanoseconds. Empty if polls are not timed.
    ///
    /// # Panics
    ///
    /// Panics if polls are timed and `bucket` is not below
    /// [`poll_time_histogram_num_buckets`](Self::poll_time_histogram_num_buckets).
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .build()?;
    /// let metrics = runtime.metrics();
    /// let buckets = 0..metrics.poll_time_histogram_num_buckets();
    /// let ranges: Vec<_> =
    ///     buckets.map(|bucket| metrics.poll_time_histogram_bucket_range(bucket)).collect();
    /// assert_eq!(ranges[0].end, ranges[1].start);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn poll_time_histogram_bucket_range(&self, bucket: usize) -> Range<Duration> {
        match self.scheduler().poll_times(0) {
            Some(times) => times.range(bucket),
            None => Duration::ZERO..Duration::ZERO,
        }
    }

    /// Returns the number of polls of a worker whose duration is in a bucket; zero if polls are not
    /// timed.
    ///
    /// # Panics
    ///
    /// Panics if the worker does not exist, or if polls are timed and the bucket does not exist.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// let buckets = 0..metrics.poll_time_histogram_num_buckets();
    /// let polls: u64 =
    ///     buckets.map(|bucket| metrics.poll_time_histogram_bucket_count(0, bucket)).sum();
    /// assert_eq!(polls, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn poll_time_histogram_bucket_count(&self, worker: usize, bucket: usize) -> u64 {
        match self.scheduler_of(worker).poll_times(worker) {
            Some(times) => times.count(bucket),
            None => 0,
        }
    }

    /// Returns the number of threads for blocking work.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().num_blocking_threads(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_blocking_threads(&self) -> usize {
        self.handle.inner.blocking.threads()
    }

    /// Returns the number of idle threads for blocking work.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().num_idle_blocking_threads(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.handle.inner.blocking.idle_threads()
    }

    /// Returns the number of event sources, such as sockets, that have been registered with the
    /// runtime's reactors.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_io().build()?;
    /// println!("{} registered", runtime.metrics().io_driver_fd_registered_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn io_driver_fd_registered_count(&self) -> u64 {
        self.reactors(|counts| counts.registered)
    }

    /// Returns the number of event sources that have been deregistered.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_io().build()?;
    /// println!("{} deregistered", runtime.metrics().io_driver_fd_deregistered_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn io_driver_fd_deregistered_count(&self) -> u64 {
        self.reactors(|counts| counts.deregistered)
    }

    /// Returns the number of events that the operating system has reported for event sources.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_io().build()?;
    /// println!("{} events", runtime.metrics().io_driver_ready_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn io_driver_ready_count(&self) -> u64 {
        self.reactors(|counts| counts.events)
    }

    #[cfg(feature = "mio")]
    fn reactors(&self, count: fn(raddle_reactor::Metrics) -> u64) -> u64 {
        let drivers = self.handle.inner.drivers.iter();
        let reactors = drivers.filter_map(|driver| driver.reactor.as_ref());
        let mut reactors: Vec<_> = reactors.collect();
        // Workers that share a driver have one reactor.
        reactors.dedup_by(|reactor, former| reactor.is_same_reactor(former));
        reactors
            .into_iter()
            .map(|reactor| count(reactor.metrics()))
            .sum()
    }

    /// Returns the number of blocking jobs that wait for a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// assert_eq!(runtime.metrics().blocking_queue_depth(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocking_queue_depth(&self) -> usize {
        self.handle.inner.blocking.queued()
    }
}

impl fmt::Debug for RuntimeMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeMetrics")
            .field("num_workers", &self.num_workers())
            .field("num_alive_tasks", &self.num_alive_tasks())
            .field("global_queue_depth", &self.global_queue_depth())
            .field("num_blocking_threads", &self.num_blocking_threads())
            .finish_non_exhaustive()
    }
}
