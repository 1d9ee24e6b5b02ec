//! Scheduler configuration.

pub(crate) mod hooks;
pub(crate) mod observer;
pub(crate) mod policy;
pub(crate) mod relief;

use std::fmt;
use std::sync::Arc;
use std::task::Poll;

use raddle_primitives::contain;

use crate::counters::histogram::HistogramConfiguration;
use crate::panics::UnhandledPanic;
use hooks::TaskHooks;
use observer::Observer;
use policy::Policy;
use relief::Relief;

/// A function that is called at some point of a worker's life.
pub type Hook = Arc<dyn Fn() + Send + Sync>;

/// A function that is called with the number of a worker and its loop, and must
/// run that.
pub type AroundWorker = Arc<dyn Fn(usize, &mut dyn FnMut()) + Send + Sync>;

/// A function that has a [`Relief`] run on another thread.
pub type RelieveWorker = Arc<dyn Fn(Relief) + Send + Sync>;

/// The settings of a scheduler.
#[derive(Clone)]
pub struct Config {
    /// How many workers a pool has. The current-thread scheduler has one.
    pub workers: usize,
    /// Which worker of a pool runs a task. Means nothing to the current-thread
    /// scheduler.
    pub policy: Policy,
    /// Names the threads of a pool.
    pub thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    /// The stack size of the threads of a pool, in bytes; std's default if
    /// none.
    pub thread_stack_size: Option<usize>,
    /// A worker takes from the injection queue before its own each time it has
    /// taken this many steps, or fewer while they take long: as
    /// `event_interval`, in proportion. A worker with a next-task slot takes its
    /// share, up to as many tasks as this; others take one. Not zero.
    pub global_queue_interval: u32,
    /// A busy worker looks at the driver after this many steps. While polls are slow it
    /// looks after fewer, so that about 3 ms pass between two looks; the steps of a worker
    /// that the caller steps are not timed. At most this many tasks are polled between two
    /// polls of the future of [`CurrentThread::block_on`]. Not zero.
    ///
    /// [`CurrentThread::block_on`]: crate::CurrentThread::block_on
    pub event_interval: u32,
    /// Whether a worker of [`Policy::WorkStealing`] has a next-task slot. Without it
    /// tasks that are spawned and woken on a worker run in that order.
    pub next_task_slot: bool,
    /// Whether a parked worker monitors those that run, and takes what
    /// waits behind a poll that does not return. Costs a timed park now and
    /// then while some workers run and others are parked.
    pub has_monitor: bool,
    /// Runs around each worker's whole loop, on the worker's thread.
    pub around_worker: Option<AroundWorker>,
    /// Gets a thread that drives a worker while the present one is in
    /// [`block_in_place`](crate::block_in_place): it is to have
    /// [`Relief::run`] called there, soon. It is to drop what it is given if no
    /// thread can be had. Without this function, workers stay where they are.
    pub relief: Option<RelieveWorker>,
    /// Runs before a worker blocks.
    pub on_thread_park: Option<Hook>,
    /// Runs after a worker has blocked.
    pub on_thread_unpark: Option<Hook>,
    /// Run at points of each task's life.
    pub task_hooks: TaskHooks,
    /// Is called for the events of workers and tasks.
    pub observer: Option<Arc<dyn Observer>>,
    /// Time each poll, and count it in one of these buckets, for
    /// [`Metrics::poll_time_count`](crate::Metrics::poll_time_count): two reads
    /// of the clock a poll.
    pub poll_time_histogram: Option<HistogramConfiguration>,
    /// What the panic of a task does to the scheduler.
    pub unhandled_panic: UnhandledPanic,
}

impl Default for Config {
    /// One worker; work stealing with a next-task slot; intervals of 31 and 61 steps; a monitor; no
    /// hooks; panics go to the join handles alone.
    fn default() -> Self {
        Self {
            workers: 1,
            policy: Policy::default(),
            thread_name: Arc::new(|| "raddle-worker".to_owned()),
            thread_stack_size: None,
            global_queue_interval: 31,
            event_interval: 61,
            next_task_slot: true,
            // In a model a timed park returns at once, so that a monitor would
            // only multiply the executions.
            has_monitor: cfg!(not(raddle_loom)),
            around_worker: None,
            relief: None,
            on_thread_park: None,
            on_thread_unpark: None,
            task_hooks: TaskHooks::default(),
            observer: None,
            poll_time_histogram: None,
            unhandled_panic: UnhandledPanic::Ignore,
        }
    }
}

impl Config {
    /// Whether the observer, a hook or the histogram needs each run of a task.
    pub(crate) fn observes_runs(&self) -> bool {
        self.poll_time_histogram.is_some() || self.observes_tasks()
    }

    /// Whether the observer or a hook needs each task.
    pub(crate) fn observes_tasks(&self) -> bool {
        self.observer.is_some() || self.task_hooks.are_set()
    }

    /// Calls the observer, if there is one. A panic is contained.
    #[inline]
    pub(crate) fn notify(&self, call: impl FnOnce(&dyn Observer)) {
        if let Some(observer) = &self.observer {
            contain(|| call(&**observer));
        }
    }

    /// Polls the future of a `block_on`, and says so to the observer, if there is one.
    pub(crate) fn notify_of_root_poll<T>(
        &self,
        worker: Option<usize>,
        poll: impl FnOnce() -> Poll<T>,
    ) -> Poll<T> {
        let Some(_observer) = &self.observer else {
            return poll();
        };
        self.notify(|observer| observer.root_poll_started(worker));
        let mut finish = FinishRootPoll {
            config: self,
            worker,
            is_ready: false,
        };
        let polled = poll();
        finish.is_ready = polled.is_ready();
        polled
    }

    /// # Panics
    ///
    /// If a setting makes no sense.
    pub(crate) fn check(&self) {
        assert!(self.workers > 0, "a scheduler needs at least one worker");
        assert!(
            self.workers <= crate::idle::MAX_WORKERS,
            "a scheduler has at most {} workers",
            crate::idle::MAX_WORKERS
        );
        assert!(
            self.global_queue_interval > 0 && self.event_interval > 0,
            "an interval must be greater than zero"
        );
    }
}

/// Says that the poll of a `block_on` has ended, also by a panic.
struct FinishRootPoll<'a> {
    config: &'a Config,
    worker: Option<usize>,
    is_ready: bool,
}

impl Drop for FinishRootPoll<'_> {
    fn drop(&mut self) {
        self.config
            .notify(|observer| observer.root_poll_finished(self.worker, self.is_ready));
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
            .field("task_hooks", &self.task_hooks)
            .field("observer", &self.observer.is_some())
            .field("poll_time_histogram", &self.poll_time_histogram)
            .field("unhandled_panic", &self.unhandled_panic)
            .finish_non_exhaustive()
    }
}
