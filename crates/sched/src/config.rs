//! Scheduler configuration.

pub(crate) mod policy;

use std::fmt;
use std::sync::Arc;

use crate::counters::HistogramConfiguration;
use crate::events::{Observer, TaskHook, TaskHooks, TaskMeta};
use raddle_primitives::contain;

use crate::context;
use crate::handoff::Handoff;
use crate::idle::MAX_WORKERS;
use crate::panics::UnhandledPanic;
use crate::worker::ticks::DEFAULT_EVENT_INTERVAL;
use policy::Policy;

/// A function that a worker calls, for example before it parks.
pub type Hook = Arc<dyn Fn() + Send + Sync>;

/// A callback for tasks that wait while all spare workers are in use. It gets the names of the
/// types of the futures that spare workers are in long polls of.
pub type SparesHook = Arc<dyn Fn(&[&'static str]) + Send + Sync>;

/// A function that wraps the loop of a worker. It is called with the worker's index and the loop,
/// and must call the loop.
pub type AroundWorker = Arc<dyn Fn(usize, &mut dyn FnMut()) + Send + Sync>;

/// A function that calls [`Handoff::run`] on another thread.
pub type StartHandoff = Arc<dyn Fn(Handoff) + Send + Sync>;

/// The settings of a scheduler.
///
/// ```
/// use std::sync::Arc;
///
/// use raddle_sched::{Config, Policy, Pool};
///
/// let config = Config {
///     workers: 2,
///     policy: Policy::Shared,
///     thread_name: Arc::new(|| "request-worker".to_owned()),
///     event_interval: Some(31),
///     ..Config::default()
/// };
/// let pool = Pool::start(config, None)?;
/// let name = pool.handle().spawn(async {
///     std::thread::current().name().map(str::to_owned)
/// });
/// let name = pool.handle().block_on(name).unwrap();
/// assert_eq!(name.as_deref(), Some("request-worker"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Config {
    /// The number of workers of a pool, from 1 to [`MAX_WORKERS`](Self::MAX_WORKERS). The
    /// current-thread scheduler has one.
    pub workers: usize,
    /// Which worker of a pool runs a task. The current-thread scheduler ignores it.
    pub policy: Policy,
    /// Returns the name of each thread of a pool.
    pub thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    /// The stack size of the threads of a pool, in bytes; std's default if `None`.
    pub thread_stack_size: Option<usize>,
    /// The number of steps after which a worker takes from the injection queue before its own
    /// queue; fewer while they would take longer than a millisecond. A worker with a next-task slot
    /// takes its share of the injection queue, at most this many tasks; other workers take one
    /// task. Must not be zero.
    pub global_queue_interval: u32,
    /// The number of steps after which a busy worker polls the driver. It does so after about a
    /// millisecond at the latest; a worker that the caller steps does not measure time. If `None`,
    /// it is 61 for a worker that the caller steps and for one that is alone in its shard, and
    /// other workers go by time only. It is also the highest number of tasks that are polled
    /// between two polls of the future of [`CurrentThread::block_on`]. Must not be zero.
    ///
    /// [`CurrentThread::block_on`]: crate::CurrentThread::block_on
    pub event_interval: Option<u32>,
    /// Whether a worker of [`Policy::WorkStealing`] has a next-task slot. Without the slot, tasks
    /// run in the order in which they are spawned and woken on a worker.
    pub next_task_slot: bool,
    /// Whether the tasks behind a poll that does not return go to other workers: to parked ones, or
    /// else to spare ones. One thread of the process checks for such polls while workers run.
    pub has_monitor: bool,
    /// The highest number of spare workers, up to [`MAX_WORKERS`](Self::MAX_WORKERS). While tasks
    /// or events wait behind long polls and no worker is parked, spare workers run what waits.
    /// [`handoff`](Self::handoff) starts their threads; without one there are no spare workers.
    /// [`Policy::Sharded`] and the current-thread scheduler cannot have any.
    pub max_spare_workers: usize,
    /// Wraps the whole loop of each worker, on the worker's thread.
    pub around_worker: Option<AroundWorker>,
    /// Called when the thread of a worker enters [`block_in_place`](crate::block_in_place), and
    /// when a spare worker is needed. The function must soon call [`Handoff::run`] on another
    /// thread, or drop the handoff if no thread is available. If it is `None`, workers stay on
    /// their threads.
    pub handoff: Option<StartHandoff>,
    /// Runs before a worker blocks.
    pub on_thread_park: Option<Hook>,
    /// Runs after a worker has blocked, or has found after [`on_thread_park`](Self::on_thread_park)
    /// that there is something to do.
    pub on_thread_unpark: Option<Hook>,
    /// Called when tasks wait and all spare workers are in polls that do not return: on the
    /// monitor's thread, at most every 10 s. It must not block, since the thread serves all pools.
    /// Not called if [`max_spare_workers`](Self::max_spare_workers) is zero.
    pub on_spares_used_up: Option<SparesHook>,
    /// Called after a worker was unparked, with its index, on the thread that has unparked it: for
    /// a caller that steps the workers, and must step this one. It must not panic.
    pub on_unpark: Option<Arc<dyn Fn(usize) + Send + Sync>>,
    /// Called when a task is spawned, before and after each poll, and when the task ends.
    pub task_hooks: TaskHooks,
    /// The observer, which is called for the events of workers and tasks.
    pub observer: Option<Arc<dyn Observer>>,
    /// The buckets in which [`Metrics::poll_times`](crate::Metrics::poll_times) counts
    /// the duration of each poll. Costs two reads of the clock for each poll.
    pub poll_time_histogram: Option<HistogramConfiguration>,
    /// Whether workers measure the times of polls, and how long tasks wait from their wakes to
    /// their polls, for [`Metrics::sampled_poll_times`](crate::Metrics::sampled_poll_times) and
    /// [`Metrics::sampled_delays`](crate::Metrics::sampled_delays): of each poll and wake of a
    /// worker if they are 4 us or more apart, and of fewer the closer they are, 1 of 128 at least.
    pub samples_times: bool,
    /// What a panic of a task does to the scheduler.
    pub unhandled_panic: UnhandledPanic,
}

impl Default for Config {
    /// One worker; work stealing with a next-task slot; takes from the injection queue every 31
    /// steps; a monitor; 32 spare workers if there is a function that starts their threads; no
    /// hooks; only the join handles receive panics.
    fn default() -> Self {
        Self {
            workers: 1,
            policy: Policy::default(),
            thread_name: Arc::new(|| "raddle-worker".to_owned()),
            thread_stack_size: None,
            global_queue_interval: 31,
            event_interval: None,
            next_task_slot: true,
            // In a model a timed park returns at once, so a monitor would only multiply the
            // executions.
            has_monitor: cfg!(not(raddle_loom)),
            max_spare_workers: 32,
            around_worker: None,
            handoff: None,
            on_thread_park: None,
            on_thread_unpark: None,
            on_spares_used_up: None,
            on_unpark: None,
            task_hooks: TaskHooks::default(),
            observer: None,
            poll_time_histogram: None,
            samples_times: false,
            unhandled_panic: UnhandledPanic::Ignore,
        }
    }
}

impl Config {
    /// The highest number of workers of a pool, and of its spare workers.
    pub const MAX_WORKERS: usize = MAX_WORKERS;

    /// Whether each task remembers where it was spawned.
    pub(crate) fn needs_locations(&self) -> bool {
        let observer = self.observer.as_ref();
        self.task_hooks.are_set() || observer.is_some_and(|observer| observer.needs_locations())
    }

    /// Calls the observer, if there is one, while the thread is pinned to its worker. A panic is
    /// caught.
    #[inline]
    pub(crate) fn notify(&self, call: impl Fn(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            call_observer(&**observer, &call);
        }
    }

    /// The number of steps after which a worker polls the driver that is alone in its shard, or
    /// does not measure time.
    pub(crate) fn polls_between_events(&self) -> u32 {
        self.event_interval.unwrap_or(DEFAULT_EVENT_INTERVAL)
    }

    /// # Panics
    ///
    /// Panics if a setting is invalid.
    #[track_caller]
    pub(crate) fn check(&self) {
        assert!(
            (1..=MAX_WORKERS).contains(&self.workers),
            "a scheduler cannot have {} workers; set Config::workers from 1 to {MAX_WORKERS}",
            self.workers
        );
        assert!(
            self.max_spare_workers <= MAX_WORKERS,
            "a scheduler cannot have {} spare workers; set Config::max_spare_workers to \
             {MAX_WORKERS} or less",
            self.max_spare_workers
        );
        assert!(
            self.global_queue_interval > 0,
            "an interval cannot be zero; set Config::global_queue_interval to 1 or more"
        );
        assert!(
            self.event_interval != Some(0),
            "an interval cannot be zero; set Config::event_interval to None, or to 1 or more"
        );
    }
}

/// Not generic, since there are many kinds of calls.
fn call_observer(observer: &dyn Observer, call: &dyn Fn(&dyn Observer)) {
    let _pinned = context::pin();
    contain(|| call(observer));
}

/// Calls a hook for a task. A panic is contained, and the worker is not handed off meanwhile.
pub(crate) fn call_hook(hook: &Option<TaskHook>, task: &Option<TaskMeta<'_>>) {
    if let (Some(hook), Some(task)) = (hook, task) {
        let _pinned = context::pin();
        contain(|| hook(task));
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("workers", &self.workers)
            .field("policy", &self.policy)
            .field("thread_stack_size", &self.thread_stack_size)
            .field("global_queue_interval", &self.global_queue_interval)
            .field("event_interval", &self.event_interval)
            .field("next_task_slot", &self.next_task_slot)
            .field("has_monitor", &self.has_monitor)
            .field("max_spare_workers", &self.max_spare_workers)
            .field("task_hooks", &self.task_hooks)
            .field("observer", &self.observer.is_some())
            .field("poll_time_histogram", &self.poll_time_histogram)
            .field("samples_times", &self.samples_times)
            .field("unhandled_panic", &self.unhandled_panic)
            .finish_non_exhaustive()
    }
}
