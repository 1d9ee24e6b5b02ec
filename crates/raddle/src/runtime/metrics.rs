//! The metrics of a runtime.

use std::fmt;
use std::ops::Range;
use std::thread::ThreadId;
use std::time::Duration;

use raddle_sched::{Histogram, WorkerMetrics};

use crate::runtime::Handle;

/// The counts of a runtime: a view that reads them when it is asked.
///
/// Counting is always on; only the histogram of poll times has to be [asked
/// for](crate::runtime::Builder::enable_metrics_poll_time_histogram). Workers keep running while
/// the counts are read, so counts that are read one after the other need not be consistent. A count
/// of events never decreases. The worker of a current-thread runtime is the thread in
/// [`Runtime::block_on`](crate::runtime::Runtime::block_on); the future that it blocks on is no
/// task and is not counted.
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
/// The methods that take the number of a worker do if it is not below
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
        self.scheduler().worker(worker)
    }

    /// How many workers there are; 1 on a current-thread runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.num_workers(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_workers(&self) -> usize {
        self.scheduler().workers()
    }

    /// How many tasks have been spawned and have not ended. Blocking work and
    /// the tasks of a [`LocalSet`](crate::task::LocalSet) are not among them. A
    /// task may count for a moment longer than its join handle waits.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.num_alive_tasks(), 0);
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

    /// How many tasks have been spawned, those that have ended included.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.spawned_tasks_count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawned_tasks_count(&self) -> u64 {
        self.scheduler().spawned_tasks()
    }

    /// How many tasks wait in the queue that is common to all workers.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.global_queue_depth(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn global_queue_depth(&self) -> usize {
        self.scheduler().injection_depth()
    }

    /// How many times a task was queued from outside the workers.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{} tasks queued from outside", metrics.remote_schedule_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn remote_schedule_count(&self) -> u64 {
        self.scheduler().remote_schedules()
    }

    /// How many polls used up their [budget](crate::task::coop), so that the task
    /// yielded.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{} polls ended for want of budget", metrics.budget_forced_yield_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn budget_forced_yield_count(&self) -> u64 {
        let workers = 0..self.num_workers();
        workers
            .map(|worker| self.worker(worker).budget_yields)
            .sum()
    }

    /// The thread that a worker runs on, or ran on last: another one after a
    /// [`block_in_place`](crate::task::block_in_place), or, on a current-thread
    /// runtime, after a `block_on` elsewhere. None before the first.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{:?}", metrics.worker_thread_id(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_thread_id(&self, worker: usize) -> Option<ThreadId> {
        self.scheduler().worker_thread_id(worker)
    }

    /// How many times a worker has parked for want of work.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
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

    /// How many times a worker has parked or come back from that: odd while it
    /// is parked.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} parks and wake-ups", metrics.worker_park_unpark_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_park_unpark_count(&self, worker: usize) -> u64 {
        let worker = self.worker(worker);
        worker.parks + worker.unparks
    }

    /// How many times a worker has parked again without having run a task.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} parks without work in between", metrics.worker_noop_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_noop_count(&self, worker: usize) -> u64 {
        self.worker(worker).noops
    }

    /// How many tasks a worker has taken from others.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} tasks stolen", metrics.worker_steal_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_steal_count(&self, worker: usize) -> u64 {
        self.worker(worker).steals
    }

    /// In how many goes a worker took what it has taken from others.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} steals", metrics.worker_steal_operations(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_steal_operations(&self, worker: usize) -> u64 {
        self.worker(worker).steal_operations
    }

    /// How many tasks a worker has run: polled, or dropped since they were
    /// aborted.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.worker_poll_count(0), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_poll_count(&self, worker: usize) -> u64 {
        self.worker(worker).polls
    }

    /// How long a worker has been busy: the time in which it was not parked and, on a
    /// current-thread runtime, a thread was in `block_on`. The present busy period is included.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{:?}", metrics.worker_total_busy_duration(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_total_busy_duration(&self, worker: usize) -> Duration {
        self.worker(worker).busy
    }

    /// How many times a worker queued a task itself: one that was spawned or
    /// woken on it.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.worker_local_schedule_count(0), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_local_schedule_count(&self, worker: usize) -> u64 {
        self.worker(worker).local_schedules
    }

    /// How many times a worker's queue was full and passed tasks on to the
    /// common one. That of a current-thread runtime never does.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} overflows", metrics.worker_overflow_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_overflow_count(&self, worker: usize) -> u64 {
        self.worker(worker).overflows
    }

    /// How many tasks a worker has ended that began on another one. Not in
    /// Tokio: the memory of such a task goes back to where it began.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// for worker in 0..metrics.num_workers() {
    ///     println!("worker {worker}: {} tasks of other workers", metrics.worker_completed_elsewhere_count(worker));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_completed_elsewhere_count(&self, worker: usize) -> u64 {
        self.worker(worker).completed_elsewhere
    }

    /// How many tasks wait in a worker's own queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.worker_local_queue_depth(0), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_local_queue_depth(&self, worker: usize) -> usize {
        self.worker(worker).local_queue_depth
    }

    /// The mean time of a worker's polls, what it does between them included:
    /// a moving average of the stretches between parks, in which one of `n`
    /// polls weighs `n / (n + 9)`. Changes when the worker parks.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{:?}", metrics.worker_mean_poll_time(0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_mean_poll_time(&self, worker: usize) -> Duration {
        self.worker(worker).mean_poll_time
    }

    /// Whether polls are timed.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert!(!metrics.poll_time_histogram_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll_time_histogram_enabled(&self) -> bool {
        self.scheduler().poll_times(0).is_some()
    }

    /// How many buckets the histogram of poll times has; zero if polls are not
    /// timed.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert!(metrics.poll_time_histogram_num_buckets() > 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poll_time_histogram_num_buckets(&self) -> usize {
        let scheduler = self.scheduler();
        scheduler.poll_times(0).map_or(0, Histogram::num_buckets)
    }

    /// The times that a bucket counts. Each begins where the one before ends,
    /// the first at zero; the last ends at `u64::MAX` nanoseconds. Empty if polls
    /// are not timed.
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
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
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

    /// How many polls of a worker took as long as a bucket says; zero if polls are
    /// not timed.
    ///
    /// # Panics
    ///
    /// Panics if there is no such worker, or polls are timed and there is no such bucket.
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
        match self.scheduler().poll_times(worker) {
            Some(times) => times.count(bucket),
            None => 0,
        }
    }

    /// How many threads there are for blocking work.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.num_blocking_threads(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_blocking_threads(&self) -> usize {
        self.handle.inner.blocking.threads()
    }

    /// How many of the threads for blocking work have none.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.num_idle_blocking_threads(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn num_idle_blocking_threads(&self) -> usize {
        self.handle.inner.blocking.idle_threads()
    }

    /// How many sources of events, such as sockets, have been registered with the
    /// runtime's reactors.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{} descriptors registered", metrics.io_driver_fd_registered_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn io_driver_fd_registered_count(&self) -> u64 {
        self.reactors(|counts| counts.registered)
    }

    /// How many of them are registered no more.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{} descriptors deregistered", metrics.io_driver_fd_deregistered_count());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn io_driver_fd_deregistered_count(&self) -> u64 {
        self.reactors(|counts| counts.deregistered)
    }

    /// The number of events that the operating system has reported for such sources.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// println!("{} events", metrics.io_driver_ready_count());
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

    /// How many pieces of blocking work wait for a thread.
    ///
    /// # Examples
    ///
    /// ```
    /// let runtime = raddle::runtime::Builder::new_current_thread().build()?;
    /// runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.blocking_queue_depth(), 0);
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
