//! The builder of a runtime.

#[cfg(feature = "mio")]
mod events;
mod local;
mod observe;
mod panics;
mod policy;
mod pools;
mod random;
mod time;

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use raddle_primitives::random::Random;

use crate::runtime::context::{self, Inside};
use crate::runtime::driver::{self, Driver};
use crate::runtime::flight_recorder::Settings;
use crate::runtime::handle::Inner;
use crate::runtime::observers::Observers;
use crate::runtime::runtime::Scheduler;
use crate::runtime::{Handle, HistogramConfiguration, RngSeed, Runtime, RuntimeFlavor};
use crate::runtime::{console, dumps, watching};

/// The variables that say how many workers a runtime has by default. The first
/// that is set counts.
const WORKERS_VARIABLES: [&str; 2] = ["RADDLE_WORKER_THREADS", "TOKIO_WORKER_THREADS"];

type Hook = Arc<dyn Fn() + Send + Sync>;
type Around = Arc<dyn Fn(usize, &mut dyn FnMut()) + Send + Sync>;

/// Builds a [`Runtime`].
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
    flavor: RuntimeFlavor,
    name: Option<String>,
    /// What of the scheduler's settings has its place there. The others follow from the rest.
    scheduler: raddle_sched::Config,
    worker_threads: Option<usize>,
    enable_io: bool,
    enable_time: bool,
    max_io_events_per_tick: usize,
    max_io_events_per_busy_tick: Option<usize>,
    max_blocking_threads: usize,
    thread_keep_alive: Duration,
    on_thread_start: Option<Hook>,
    on_thread_stop: Option<Hook>,
    poll_time_histogram: bool,
    poll_time_buckets: HistogramConfiguration,
    start_paused: bool,
    rng_seed: Option<RngSeed>,
    pub(super) observers: Observers,
    pub(super) recorder: Settings,
    pub(super) dumps: dumps::Settings,
    pub(super) watchdog: watching::Options,
    pub(super) console: console::Options,
}

impl Builder {
    /// For a runtime that runs its tasks on workers of its own.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .enable_all()
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "rt-multi-thread")]
    pub fn new_multi_thread() -> Self {
        Self::new(RuntimeFlavor::MultiThread)
    }

    /// For a runtime that runs its tasks inside [`Runtime::block_on`], on the
    /// thread that calls it.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_current_thread()
    ///     .enable_all()
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new_current_thread() -> Self {
        Self::new(RuntimeFlavor::CurrentThread)
    }

    fn new(flavor: RuntimeFlavor) -> Self {
        Self {
            flavor,
            name: None,
            scheduler: raddle_sched::Config::default(),
            worker_threads: None,
            enable_io: false,
            enable_time: false,
            max_io_events_per_tick: 1024,
            max_io_events_per_busy_tick: None,
            max_blocking_threads: 512,
            thread_keep_alive: Duration::from_secs(10),
            on_thread_start: None,
            on_thread_stop: None,
            poll_time_histogram: false,
            poll_time_buckets: HistogramConfiguration::default(),
            start_paused: false,
            rng_seed: None,
            observers: Observers::default(),
            recorder: Settings::default(),
            dumps: dumps::Settings::default(),
            watchdog: watching::Options::default(),
            console: console::Options::default(),
        }
    }

    /// Sets how many workers a multi-thread runtime has. A current-thread
    /// runtime has none and ignores it.
    ///
    /// Default: the environment variable `RADDLE_WORKER_THREADS`, without it
    /// `TOKIO_WORKER_THREADS`, and without either the number of cores that the
    /// calling thread may use, or the CPU quota of the process's control group
    /// (`cpu.max` of cgroup v2), rounded up, if that is less.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
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

    /// Names the threads of the runtime, workers and those for blocking work.
    /// Default: `raddle-worker`.
    ///
    /// # Panics
    ///
    /// If the name has a zero byte.
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
        let name = name.into();
        assert!(
            !name.contains('\0'),
            "a thread's name must not contain a zero byte; change thread_name"
        );
        self.thread_name_fn(move || name.clone())
    }

    /// Calls `name` for the name of each thread of the runtime. One with a zero
    /// byte fails the build; given to a thread for blocking work, it panics
    /// where that is spawned.
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
        self.scheduler.thread_name = Arc::new(name);
        self
    }

    /// Sets the stack of the runtime's threads, in bytes. Default: std's.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .thread_stack_size(4 * 1024 * 1024)
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn thread_stack_size(&mut self, bytes: usize) -> &mut Self {
        self.scheduler.thread_stack_size = Some(bytes);
        self
    }

    /// Sets how many threads for blocking work there may be at a time; work
    /// beyond that waits. Default: 512.
    ///
    /// [`block_in_place`](crate::task::block_in_place) has as many of its own.
    ///
    /// # Panics
    ///
    /// If `count` is zero.
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

    /// Sets how long a thread for blocking work stays when it has none.
    /// Default: 10 seconds.
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
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&calls);
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .on_thread_start(move || drop(counted.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// // Waits for the threads.
    /// drop(runtime);
    /// assert_eq!(calls.load(Ordering::Relaxed), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_start<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.on_thread_start = Some(Arc::new(f));
        self
    }

    /// Calls `f` on each thread of the runtime before it ends.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let calls = Arc::new(AtomicUsize::new(0));
    /// let counted = Arc::clone(&calls);
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .on_thread_stop(move || drop(counted.fetch_add(1, Ordering::Relaxed)))
    ///     .build()?;
    /// // Waits for the threads.
    /// drop(runtime);
    /// assert_eq!(calls.load(Ordering::Relaxed), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_stop<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.on_thread_stop = Some(Arc::new(f));
        self
    }

    /// Calls `f` each time a worker is about to wait. It may spawn and wake.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .on_thread_park(|| println!("{:?} is waiting", std::thread::current().name()))
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_park<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.scheduler.on_thread_park = Some(Arc::new(f));
        self
    }

    /// Calls `f` each time a worker has waited, or has found after the call of
    /// [`on_thread_park`](Self::on_thread_park) that there is something to do.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .on_thread_unpark(|| println!("{:?} is running", std::thread::current().name()))
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_thread_unpark<F>(&mut self, f: F) -> &mut Self
    where
        F: Fn() + Send + Sync + 'static,
    {
        self.scheduler.on_thread_unpark = Some(Arc::new(f));
        self
    }

    /// Sets after how many polls of its own tasks a worker takes tasks from the common queue; while
    /// polls take long, it does so earlier. The multi-thread runtime then takes its share of that
    /// queue, up to `polls` tasks; one that keeps tasks in order takes one.
    ///
    /// # Panics
    ///
    /// If `polls` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .global_queue_interval(31)
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
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

    /// Sets after how many polls a busy worker looks at sockets and timers. While polls take long
    /// it does so earlier, after about 3 ms. On the current-thread runtime, as many tasks at most
    /// go before the future of `block_on`.
    ///
    /// # Panics
    ///
    /// If `polls` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .event_interval(31)
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn event_interval(&mut self, polls: u32) -> &mut Self {
        assert!(polls > 0, "event_interval is zero; set it to 1 or more");
        self.scheduler.event_interval = polls;
        self
    }

    /// Makes the workers of a multi-thread runtime run tasks in the order in which they were
    /// spawned or woken, not the latest first. Two tasks that send each other messages then wait
    /// for all other tasks of the worker at each message. Other kinds of runtimes always keep this
    /// order.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .disable_lifo_slot()
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn disable_lifo_slot(&mut self) -> &mut Self {
        self.scheduler.next_task_slot = false;
        self
    }

    /// Builds the runtime. The builder may be used again.
    ///
    /// # Errors
    ///
    /// If the system has no threads or descriptors for it.
    ///
    /// # Panics
    ///
    /// If a variable of [`worker_threads`](Self::worker_threads) is needed and is not a number from
    /// 1 up, and as [`start_paused`](Self::start_paused) says.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .enable_all()
    ///     .build()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn build(&mut self) -> io::Result<Runtime> {
        let workers = match (self.flavor, self.worker_threads) {
            (RuntimeFlavor::CurrentThread, _) => 1,
            (RuntimeFlavor::MultiThread, Some(count)) => count,
            (RuntimeFlavor::MultiThread, None) => default_workers(),
        };
        let drivers = self.drivers(workers)?;
        let mut observers = self.observers.clone();
        let recorder = self.recorder.attach(&mut observers);
        let dumps = self.dumps.attach(&mut observers)?;
        let page = self.console.bind(&mut observers)?;
        let watchdog = self.watchdog.start(&mut observers, &page)?;
        let mut blocking = None;
        let inner = Arc::new_cyclic(|inner| {
            let pool = self.blocking_pool(inner, &observers);
            let pool = blocking.insert(pool);
            Inner {
                scheduler: OnceLock::new(),
                drivers: drivers.iter().flat_map(Driver::handles).collect(),
                blocking: pool.handle().clone(),
                flavor: self.flavor,
                name: self.name.clone(),
                random: self.rng_seed.clone().map(Random::new),
                recorder: recorder.clone(),
                dumps: dumps.clone(),
            }
        });
        let blocking = blocking.expect("the closure that makes the handle sets it");

        let config = raddle_sched::Config {
            observer: observers.of_tasks(),
            ..self.scheduler_config(workers, &inner)
        };
        let mut drivers = drivers.into_iter().map(driver::boxed);
        let (scheduler, handle) = match self.flavor {
            RuntimeFlavor::CurrentThread => {
                let scheduler = raddle_sched::CurrentThread::new(config, drivers.next());
                let handle = scheduler.handle().clone();
                (Scheduler::CurrentThread(Box::new(scheduler)), handle)
            }
            RuntimeFlavor::MultiThread => {
                let handoffs = self.handoffs(&Arc::downgrade(&inner), workers);
                let config = raddle_sched::Config {
                    handoff: Some(pools::handoff(&handoffs)),
                    ..config
                };
                let pool = policy::start(config, drivers)?;
                let handle = pool.handle().clone();
                (Scheduler::MultiThread { pool, handoffs }, handle)
            }
        };
        inner.scheduler.get_or_init(|| handle);
        let mut runtime = Runtime::from_parts(Handle { inner }, scheduler, blocking, watchdog);
        let page = page.serve(runtime.handle())?;
        runtime.set_console(page);
        Ok(runtime)
    }

    fn scheduler_config(&self, workers: usize, inner: &Arc<Inner>) -> raddle_sched::Config {
        raddle_sched::Config {
            workers,
            around_worker: Some(self.around(&Arc::downgrade(inner), |handle, worker, run| {
                let scheduler = &handle.inner.scheduler;
                scheduler.get_or_init(raddle_sched::Handle::current);
                let _entered = context::enter_worker(handle, worker);
                let random = handle.inner.random.as_ref();
                let _random = random.map(|random| random.enter_worker(worker));
                run();
            })),
            poll_time_histogram: self
                .poll_time_histogram
                .then(|| self.poll_time_buckets.clone()),
            ..self.scheduler.clone()
        }
    }

    /// What runs around the loop of each thread: the user's hooks, inside the
    /// runtime, which `enter` enters.
    ///
    /// It refers to the runtime weakly, for it is held by parts of it. A
    /// thread that comes up after the runtime is gone has nothing to do but
    /// end.
    fn around(&self, inner: &Weak<Inner>, enter: fn(&Handle, usize, &mut dyn FnMut())) -> Around {
        let inner = Weak::clone(inner);
        let start = self.on_thread_start.clone();
        let stop = self.on_thread_stop.clone();
        Arc::new(move |worker, run| {
            let Some(inner) = inner.upgrade() else {
                return run();
            };
            let _inside = Inside::enter();
            enter(&Handle { inner }, worker, &mut || {
                if let Some(start) = &start {
                    start();
                }
                run();
                if let Some(stop) = &stop {
                    stop();
                }
            });
        })
    }
}

#[track_caller]
fn default_workers() -> usize {
    for variable in WORKERS_VARIABLES {
        match std::env::var(variable) {
            Ok(text) => match text.parse() {
                Ok(count) if count > 0 => return count,
                _ => panic!("{variable} is {text:?}; set it to 1 or more"),
            },
            Err(std::env::VarError::NotPresent) => {}
            Err(error) => panic!("{variable}: {error}; set it to 1 or more"),
        }
    }
    raddle_primitives::thread::available_parallelism()
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("flavor", &self.flavor)
            .field("name", &self.name)
            .field("policy", &self.scheduler.policy)
            .field("worker_threads", &self.worker_threads)
            .field("enable_io", &self.enable_io)
            .field("enable_time", &self.enable_time)
            .field("max_blocking_threads", &self.max_blocking_threads)
            .field("thread_keep_alive", &self.thread_keep_alive)
            .finish_non_exhaustive()
    }
}
