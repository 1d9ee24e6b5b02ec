//! The builder of a runtime.

mod build;
mod hooks;
#[cfg(feature = "time")]
mod timers;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::runtime::driver;
use crate::runtime::tools::Selected;
use crate::runtime::{HistogramConfiguration, Policy, RngSeed, RuntimeFlavor, UnhandledPanic};

type Hook = Arc<dyn Fn() + Send + Sync>;
type ThreadName = Arc<dyn Fn() -> String + Send + Sync>;

const MAX_WORKERS: usize = raddle_sched::Config::MAX_WORKERS;

/// Builds a [`Runtime`](crate::runtime::Runtime).
///
/// ```
/// use raddle::runtime::Builder;
///
/// let runtime = Builder::new_multi_thread()
///     .worker_threads(4)
///     .thread_name("my-worker")
///     .enable_all()
///     .build()?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Builder {
    pub(in crate::runtime) flavor: RuntimeFlavor,
    name: Option<String>,
    /// The scheduler's settings that methods of the builder write directly. `scheduler_config`
    /// derives the others.
    pub(in crate::runtime) scheduler: raddle_sched::Config,
    pub(in crate::runtime) worker_threads: Option<usize>,
    /// `None` if each kind of thread has its default name.
    thread_name: Option<ThreadName>,
    blocking_thread_name: Option<ThreadName>,
    driver: driver::Settings,
    max_blocking_threads: usize,
    thread_keep_alive: Duration,
    on_thread_start: Hook,
    on_thread_stop: Hook,
    poll_time_histogram: bool,
    poll_time_buckets: HistogramConfiguration,
    rng_seed: Option<RngSeed>,
    pub(super) tools: Selected,
}

impl Builder {
    /// Returns a builder for a multi-thread runtime, which runs its tasks on worker threads.
    #[cfg(feature = "rt-multi-thread")]
    pub fn new_multi_thread() -> Self {
        Self::new(RuntimeFlavor::MultiThread)
    }

    /// Returns a builder for a current-thread runtime, which runs its tasks inside
    /// [`block_on`](crate::runtime::Runtime::block_on), on the thread that calls it.
    pub fn new_current_thread() -> Self {
        Self::new(RuntimeFlavor::CurrentThread)
    }

    pub(in crate::runtime) fn new(flavor: RuntimeFlavor) -> Self {
        Self {
            flavor,
            name: None,
            scheduler: raddle_sched::Config::default(),
            worker_threads: None,
            thread_name: None,
            blocking_thread_name: None,
            driver: driver::Settings::default(),
            max_blocking_threads: 512,
            thread_keep_alive: Duration::from_secs(10),
            on_thread_start: Arc::new(|| ()),
            on_thread_stop: Arc::new(|| ()),
            poll_time_histogram: false,
            poll_time_buckets: HistogramConfiguration::default(),
            rng_seed: None,
            tools: Selected::default(),
        }
    }

    /// Sets the number of workers of a multi-thread runtime. A current-thread runtime ignores it.
    ///
    /// Default: the environment variable `RADDLE_WORKER_THREADS`; if it is not set,
    /// `TOKIO_WORKER_THREADS`; if neither is set, the number of cores that the calling thread may
    /// use, or the CPU quota of the process's control group (`cpu.max` of cgroup v2), rounded up,
    /// if that is less.
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero or more than 65535.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().worker_threads(3).build()?;
    /// assert_eq!(runtime.metrics().num_workers(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn worker_threads(&mut self, count: usize) -> &mut Self {
        assert!(
            count > 0,
            "a runtime needs at least one worker; set worker_threads to 1 or more"
        );
        assert!(
            count <= MAX_WORKERS,
            "a runtime cannot have {count} workers; set worker_threads to {MAX_WORKERS} or less"
        );
        self.worker_threads = Some(count);
        self
    }

    /// Enables sockets and timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Duration, sleep};
    ///
    /// let runtime = Builder::new_current_thread().enable_all().build()?;
    /// runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enable_all(&mut self) -> &mut Self {
        #[cfg(feature = "mio")]
        self.enable_io();
        #[cfg(feature = "time")]
        self.enable_time();
        self
    }

    /// Sets the name of the runtime's threads, both workers and threads for blocking work. Default:
    /// `raddle-worker` for workers, and `raddle-blocking` for threads for blocking work. Only
    /// [`blocking_thread_name`](Self::blocking_thread_name) gives the latter another name.
    ///
    /// # Panics
    ///
    /// Panics if the name has a zero byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .thread_name("web")
    ///     .build()?;
    /// let name = runtime.block_on(async {
    ///     raddle::spawn(async { std::thread::current().name().map(str::to_owned) }).await.unwrap()
    /// });
    /// assert_eq!(name.as_deref(), Some("web"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.thread_name = Some(constant_name(name.into(), "thread_name"));
        self
    }

    /// Calls `name` for the name of each thread of the runtime, unless
    /// [`blocking_thread_name`](Self::blocking_thread_name) names those for blocking work. If the
    /// name of a worker has a zero byte, the build fails; if that of a thread for blocking work has
    /// one, spawning the work panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let count = AtomicUsize::new(0);
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .thread_name_fn(move || format!("web-{}", count.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// let name = runtime.block_on(async {
    ///     raddle::spawn(async { std::thread::current().name().map(str::to_owned) }).await.unwrap()
    /// });
    /// assert_eq!(name.as_deref(), Some("web-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.thread_name = Some(Arc::new(name));
        self
    }

    /// Sets the name of the threads for blocking work, so that tools can tell them from workers.
    /// Default: that of [`thread_name`](Self::thread_name), if it is set, or else
    /// `raddle-blocking`.
    ///
    /// A thread that takes a worker over during
    /// [`block_in_place`](crate::task::block_in_place) has the name of a worker.
    ///
    /// # Panics
    ///
    /// Panics if the name has a zero byte.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .thread_name("web")
    ///     .blocking_thread_name("web-blocking")
    ///     .build()?;
    /// let call = runtime.spawn_blocking(|| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(runtime.block_on(call).unwrap().as_deref(), Some("web-blocking"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn blocking_thread_name(&mut self, name: impl Into<String>) -> &mut Self {
        self.blocking_thread_name = Some(constant_name(name.into(), "blocking_thread_name"));
        self
    }

    /// Calls `name` for the name of each thread for blocking work. If the name has a zero byte,
    /// spawning the work panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let count = AtomicUsize::new(0);
    /// let runtime = Builder::new_current_thread()
    ///     .blocking_thread_name_fn(move || format!("file-{}", count.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// let call = runtime.spawn_blocking(|| std::thread::current().name().map(str::to_owned));
    /// assert_eq!(runtime.block_on(call).unwrap().as_deref(), Some("file-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn blocking_thread_name_fn<F>(&mut self, name: F) -> &mut Self
    where
        F: Fn() -> String + Send + Sync + 'static,
    {
        self.blocking_thread_name = Some(Arc::new(name));
        self
    }

    /// Sets the stack size of the runtime's threads, in bytes. Default: std's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().thread_stack_size(4 * 1024 * 1024).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.scheduler.thread_stack_size = Some(bytes);
        self
    }

    /// Sets the maximum number of threads for blocking work; further work waits. Default: 512.
    ///
    /// [`block_in_place`](crate::task::block_in_place) has a separate pool with the same maximum.
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().max_blocking_threads(1).build()?;
    /// // One after the other.
    /// let calls = [1, 2].map(|number| runtime.spawn_blocking(move || number));
    /// for call in calls {
    ///     runtime.block_on(call).unwrap();
    /// }
    /// assert_eq!(runtime.metrics().num_blocking_threads(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn max_blocking_threads(&mut self, count: usize) -> &mut Self {
        assert!(
            count > 0,
            "blocking work needs at least one thread; set max_blocking_threads to 1 or more"
        );
        self.max_blocking_threads = count;
        self
    }

    /// Sets the maximum number of spare workers of a multi-thread runtime. Default: 32.
    ///
    /// While tasks or events wait behind long polls, for instance because these block, and no
    /// worker is idle, spare workers run what waits. The runtime notices this within about 10 ms.
    /// With 0, tasks wait for the polls, as on Tokio; that suits a program that keeps state in the
    /// thread-locals of its worker threads. The guide `docs/guide/blocking.md` says what is
    /// guaranteed.
    ///
    /// If tasks wait and all spare workers block, too, the runtime's watchdog reports the running
    /// polls, at most every 10 seconds. Without a watchdog, the feature `tracing` gives a warning
    /// that names the types of the futures.
    ///
    /// The threads of spare workers have the name, the stack size and the hooks of workers, do not
    /// count for [`max_blocking_threads`](Self::max_blocking_threads), and end when they are idle
    /// for [`thread_keep_alive`](Self::thread_keep_alive). A current-thread runtime and one of
    /// [`Policy::Sharded`] have no spare workers, since their tasks stay on their threads.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    ///
    /// let runtime = raddle::runtime::Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .max_spare_workers(4)
    ///     .build()?;
    /// // The only worker blocks. The other task does not wait for it.
    /// let blocked = runtime.spawn(async { std::thread::sleep(Duration::from_millis(500)) });
    /// let start = Instant::now();
    /// runtime.block_on(runtime.spawn(async {})).unwrap();
    /// assert!(start.elapsed() < Duration::from_millis(400));
    /// # drop(blocked);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `count` is more than 65535.
    #[track_caller]
    pub fn max_spare_workers(&mut self, count: usize) -> &mut Self {
        assert!(
            count <= MAX_WORKERS,
            "a runtime cannot have {count} spare workers; set max_spare_workers to {MAX_WORKERS} \
             or less"
        );
        self.scheduler.max_spare_workers = count;
        self
    }

    /// Sets how long an idle thread for blocking work is kept. Default: 10 seconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use std::time::Duration;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .thread_keep_alive(Duration::from_secs(60))
    ///     .build()?;
    /// runtime.block_on(async { raddle::task::spawn_blocking(|| ()).await.unwrap() });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_keep_alive(&mut self, duration: Duration) -> &mut Self {
        self.thread_keep_alive = duration;
        self
    }

    /// Calls `f` on each thread of the runtime when it starts.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_start(|| println!("{:?} starts", std::thread::current().name()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.on_thread_start = Arc::new(f);
        self
    }

    /// Calls `f` on each thread of the runtime before it exits.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_stop(|| println!("{:?} stops", std::thread::current().name()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.on_thread_stop = Arc::new(f);
        self
    }

    /// Calls `f` each time a worker is about to park. `f` may spawn and wake tasks.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_park(|| println!("{:?} is waiting", std::thread::current().name()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.scheduler.on_thread_park = Some(Arc::new(f));
        self
    }

    /// Calls `f` each time a worker has parked, or has found work after the call of
    /// [`on_thread_park`](Self::on_thread_park).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .on_thread_unpark(|| println!("{:?} is running", std::thread::current().name()))
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.scheduler.on_thread_unpark = Some(Arc::new(f));
        self
    }

    /// Sets the number of polls after which a worker takes tasks from the injection queue before
    /// its own; while polls are slow, it does so earlier. A worker of the multi-thread runtime
    /// takes its share of that queue, up to `polls` tasks; one that keeps its tasks in order takes
    /// one.
    ///
    /// # Panics
    ///
    /// Panics if `polls` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().global_queue_interval(31).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn global_queue_interval(&mut self, polls: u32) -> &mut Self {
        assert!(
            polls > 0,
            "global_queue_interval is zero; set it to 1 or more"
        );
        self.scheduler.global_queue_interval = polls;
        self
    }

    /// Sets the number of polls after which a busy worker checks sockets and timers. It does so
    /// about a millisecond after the last check at the latest. Default: 61 on a runtime with one
    /// worker and for [`Policy::Sharded`]; other workers go by time only. On the current-thread
    /// runtime it is also the maximum number of tasks that are polled between two polls of the
    /// future of `block_on`.
    ///
    /// # Panics
    ///
    /// Panics if `polls` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().event_interval(31).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[track_caller]
    pub fn event_interval(&mut self, polls: u32) -> &mut Self {
        assert!(polls > 0, "event_interval is zero; set it to 1 or more");
        self.scheduler.event_interval = Some(polls);
        self
    }

    /// Makes the workers of a multi-thread runtime run tasks in the order in which they were
    /// spawned or woken, instead of running the most recently woken task first. Two tasks that send
    /// each other messages then wait for all other tasks of the worker at each message. Other kinds
    /// of runtimes always keep this order.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread().disable_lifo_slot().build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn disable_lifo_slot(&mut self) -> &mut Self {
        self.scheduler.next_task_slot = false;
        self
    }

    /// Enables sockets, pipes, child processes, signals and everything else that waits for a
    /// descriptor.
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_io().build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "mio")]
    pub fn enable_io(&mut self) -> &mut Self {
        self.driver.io = true;
        self
    }

    /// Sets the maximum number of events that a worker takes from the operating system at a time.
    /// Default: 1,024.
    ///
    /// A worker of the multi-thread runtime takes no more than its run queue has room for, so a
    /// smaller number is rarely useful.
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_io()
    ///     .max_io_events_per_tick(128)
    ///     .build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    #[cfg(feature = "mio")]
    #[track_caller]
    pub fn max_io_events_per_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(
            capacity > 0,
            "max_io_events_per_tick must be non-zero; set it to 1 or more"
        );
        self.driver.max_events = capacity;
        self
    }

    /// Sets the maximum number of events that a busy worker takes from the operating system between
    /// two polls. The others stay in the kernel until it checks again. Default: the value of
    /// [`max_io_events_per_tick`](Self::max_io_events_per_tick).
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .enable_all()
    ///     .max_io_events_per_busy_tick(64)
    ///     .build()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "mio")]
    #[track_caller]
    pub fn max_io_events_per_busy_tick(&mut self, capacity: usize) -> &mut Self {
        assert!(
            capacity > 0,
            "max_io_events_per_busy_tick must be non-zero; set it to 1 or more"
        );
        self.driver.max_busy_events = Some(capacity);
        self
    }

    /// Enables timers.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Duration, sleep};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().build()?;
    /// runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "time")]
    pub fn enable_time(&mut self) -> &mut Self {
        self.driver.time = true;
        self
    }

    /// Sets whether the runtime starts with its clock [paused](crate::time::pause). Default: false.
    ///
    /// It needs a current-thread runtime with timers; [building](Self::build) any other panics.
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::Builder;
    /// use raddle::time::{Instant, sleep};
    ///
    /// let runtime = Builder::new_current_thread().enable_time().start_paused(true).build()?;
    /// runtime.block_on(async {
    ///     let start = Instant::now();
    ///     sleep(Duration::from_secs(3600)).await;
    ///     assert_eq!(start.elapsed(), Duration::from_secs(3600));
    /// });
    /// # Ok::<(), std::io::Error>(())
    /// ```
    #[cfg(feature = "test-util")]
    pub fn start_paused(&mut self, start_paused: bool) -> &mut Self {
        self.driver.start_paused = start_paused;
        self
    }

    /// Sets the policy that decides which worker of a multi-thread runtime runs a task, and whether
    /// each worker has its own sockets and timers. Default: [`Policy::WorkStealing`]. A
    /// current-thread runtime ignores it.
    ///
    /// ```
    /// use raddle::runtime::{Builder, Policy};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .scheduler(Policy::Sharded)
    ///     .build()?;
    /// let task = runtime.handle().spawn_on(1, || async {
    ///     let text = std::rc::Rc::new("not Send");
    ///     raddle::task::spawn_local(async move { text.len() }).await.unwrap()
    /// });
    /// assert_eq!(runtime.block_on(task).unwrap(), 8);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn scheduler(&mut self, policy: Policy) -> &mut Self {
        self.scheduler.policy = policy;
        self
    }

    /// Sets the name of the runtime, which [`Handle::name`](crate::runtime::Handle::name) returns.
    /// Default: none.
    ///
    /// # Panics
    ///
    /// Panics if the name is empty, or blank.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .name("web")
    ///     .build()?;
    /// assert_eq!(runtime.handle().name(), Some("web"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn name(&mut self, name: impl Into<String>) -> &mut Self {
        let name = name.into();
        assert!(
            !name.trim().is_empty(),
            "the name of the runtime is blank; pass a name, or do not set one"
        );
        self.name = Some(name);
        self
    }

    /// Makes each worker measure its polls, for
    /// [`RuntimeMetrics::poll_time_histogram_bucket_count`](crate::runtime::RuntimeMetrics::poll_time_histogram_bucket_count).
    /// That costs two reads of the clock for each poll.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread().enable_metrics_poll_time_histogram().build()?;
    /// assert!(runtime.metrics().poll_time_histogram_enabled());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enable_metrics_poll_time_histogram(&mut self) -> &mut Self {
        self.poll_time_histogram = true;
        self
    }

    /// Sets the buckets of the histogram of poll times. The histogram exists only if it is
    /// [enabled](Self::enable_metrics_poll_time_histogram). Default:
    /// [`LogHistogram::default`](crate::runtime::LogHistogram::default).
    ///
    /// ```
    /// use std::time::Duration;
    /// use raddle::runtime::{Builder, HistogramConfiguration};
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_metrics_poll_time_histogram()
    ///     .metrics_poll_time_histogram_configuration(HistogramConfiguration::linear(
    ///         Duration::from_micros(50),
    ///         20,
    ///     ))
    ///     .build()?;
    /// let metrics = runtime.metrics();
    /// assert_eq!(metrics.poll_time_histogram_num_buckets(), 20);
    /// assert_eq!(
    ///     metrics.poll_time_histogram_bucket_range(1),
    ///     Duration::from_micros(50)..Duration::from_micros(100)
    /// );
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn metrics_poll_time_histogram_configuration(
        &mut self,
        configuration: HistogramConfiguration,
    ) -> &mut Self {
        self.poll_time_buckets = configuration;
        self
    }

    /// Sets the effect of a task's panic on the runtime, of either flavor. Default:
    /// [`UnhandledPanic::Ignore`].
    ///
    /// With [`UnhandledPanic::ShutdownRuntime`], if a task panics in a poll, or in the drop of its
    /// future after it was ready, the runtime
    ///
    /// - drops its other tasks, whose handles return an error that
    ///   [`is_cancelled`](crate::task::JoinError::is_cancelled): at once on a current-thread
    ///   runtime, and as soon as the current polls have returned on a multi-thread one;
    /// - ends each current and later `block_on` of [`Runtime`](crate::runtime::Runtime) and
    ///   [`Handle`](crate::runtime::Handle) with a panic. Their futures are not polled again, and
    ///   an output that one has just returned is dropped;
    /// - cancels tasks that are spawned later.
    ///
    /// The handle of the task that has panicked returns the panic, as always.
    ///
    /// These panics do not count: one in the drop of an aborted future or of an output, one of the
    /// future of `block_on`, and one in blocking work. A [`LocalSet`](crate::task::LocalSet) has
    /// [its own setting](crate::task::LocalSet::unhandled_panic); this one also applies to the
    /// local tasks of a [`LocalRuntime`](crate::runtime::LocalRuntime). Blocking work continues
    /// until the runtime is dropped.
    ///
    /// ```should_panic
    /// use raddle::runtime::{Builder, UnhandledPanic};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(1)
    ///     .unhandled_panic(UnhandledPanic::ShutdownRuntime)
    ///     .build()
    ///     .unwrap();
    /// runtime.spawn(async { panic!("the task's own message") });
    /// // Panics too, instead of waiting forever.
    /// runtime.block_on(std::future::pending::<()>());
    /// ```
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        self.scheduler.unhandled_panic = behavior;
        self
    }

    /// Seeds the random numbers of the runtime. On a current-thread runtime, `select!` then begins
    /// with the same branches in each run of a deterministic program, for each call of `block_on`.
    /// The seed does not determine which worker steals from which. Default: no seed.
    ///
    /// ```
    /// use raddle::runtime::{Builder, RngSeed};
    ///
    /// let draw = || -> std::io::Result<Vec<u32>> {
    ///     let seed = RngSeed::from_bytes(b"a seed");
    ///     let runtime = Builder::new_current_thread().rng_seed(seed).build()?;
    ///     Ok(runtime.block_on(async {
    ///         let mut drawn = Vec::new();
    ///         for _ in 0..32 {
    ///             drawn.push(raddle::select! {
    ///                 _ = async {} => 0,
    ///                 _ = async {} => 1,
    ///             });
    ///         }
    ///         drawn
    ///     }))
    /// };
    /// assert_eq!(draw()?, draw()?);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn rng_seed(&mut self, seed: RngSeed) -> &mut Self {
        self.rng_seed = Some(seed);
        self
    }
}

/// Returns a function that returns `name`, which `method` has set.
#[track_caller]
fn constant_name(name: String, method: &str) -> ThreadName {
    assert!(
        !name.as_bytes().contains(&0),
        "a thread's name must not contain a zero byte; change {method}"
    );
    Arc::new(move || name.clone())
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("flavor", &self.flavor)
            .field("name", &self.name)
            .field("policy", &self.scheduler.policy)
            .field("worker_threads", &self.worker_threads)
            .field("enable_io", &self.driver.io)
            .field("enable_time", &self.driver.time)
            .field("max_blocking_threads", &self.max_blocking_threads)
            .field("thread_keep_alive", &self.thread_keep_alive)
            .finish_non_exhaustive()
    }
}
