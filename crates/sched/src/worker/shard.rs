//! A shard: the state that workers share, and what they do for each other with it.

use std::pin::Pin;
use std::task::{Context, Poll};

use crate::counters::WorkerCounters;
use crate::events::{PollResult, TaskMeta, TaskRef};
use raddle_idle::{Alarm, BlockedOn, IdleSet, Monitor, Parker, StealableSet};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use raddle_primitives::{CachePadded, Count, Epoch, named};
use raddle_queue::{Injection, Owner, Slot, Stealer};
use raddle_task::Outcome;
use scopeguard::guard;

use crate::config::policy::Policy;
use crate::config::{Config, call_hook};
use crate::context;
use crate::driver::{BoxedDriver, Driver, Unpark};
use crate::id::Id;
use crate::panics::Panics;
use crate::task::Task;

/// Workers that share an injection queue, an idle set and a driver. A sharded scheduler consists of
/// shards of one worker; any other scheduler is one shard. What workers write often is on cache
/// lines of its own, apart from what each spawn reads.
pub(crate) struct Shard {
    pub(crate) id: Id,
    /// The number of its first worker in the whole scheduler: not zero in the later shards.
    pub(crate) first_worker: usize,
    /// Whether each task stays on the thread of its worker.
    pub(crate) pins_tasks: bool,
    /// Whether the threads that call `block_on` drive the worker.
    pub(crate) is_current_thread: bool,
    /// The other shards of the scheduler, in the first one.
    other_shards: Box<[Arc<Self>]>,
    /// The number of tasks that other threads have spawned on the shards.
    spawns_on_shards: AtomicUsize,
    pub(crate) config: Config,
    /// Whether the observer or a hook needs each task.
    pub(crate) observes_tasks: bool,
    /// Whether each task remembers where it was spawned.
    pub(crate) locates_tasks: bool,
    pub(crate) injection: CachePadded<Injection<Task>>,
    /// Written under the injection queue's lock.
    pub(crate) injected: CachePadded<InjectedCounts>,
    pub(crate) idle: IdleSet,
    pub(crate) monitor: Monitor,
    /// For the monitor on standby. `None` without a monitor, for workers that the caller drives, in
    /// a model, and where there is no such timer.
    pub(crate) alarm: Option<Box<Alarm>>,
    pub(crate) stealable: StealableSet,
    /// The workers.
    pub(crate) peers: Box<[Peer]>,
    /// Empty while a worker has the driver, and if there is none.
    pub(crate) driver: CachePadded<Slot<BoxedDriver>>,
    /// The worker that was in the driver last. A hint.
    last_poller: AtomicUsize,
    driver_unparker: Option<std::sync::Arc<dyn Unpark>>,
    closed: AtomicBool,
    pub(crate) panics: Panics,
    /// How many tasks have completed on threads that do not run a worker of this scheduler: in a
    /// handed-off poll, or cancelled because the injection queue is closed.
    completed_outside: AtomicU64,
    /// How many tasks were refused, and cancelled at once. They complete, but do not count as
    /// spawned.
    refused: AtomicU64,
}

/// A worker as the other workers of its shard see it.
pub(crate) struct Peer {
    pub(crate) stealer: Stealer<Task>,
    /// The task to run next. Only its worker puts tasks in.
    pub(crate) slot: Slot<Task>,
    pub(crate) parker: Parker,
    pub(crate) counters: Arc<CachePadded<WorkerCounters>>,
}

/// What drives the workers of a scheduler.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DrivenBy {
    /// The threads of a pool.
    Pool,
    /// The threads that call `block_on`.
    BlockOn,
    /// A caller that steps them, or runs each on a thread.
    Caller,
}

/// Counts of tasks from outside the workers. Written under the lock of the injection queue.
#[derive(Debug, Default)]
pub(crate) struct InjectedCounts {
    pub(crate) schedules: Count,
    pub(crate) spawned: Count,
}

impl Shard {
    /// Makes a shard, and the run queues of its workers.
    pub(crate) fn new(
        id: Id,
        first_worker: usize,
        config: Config,
        driver: Option<Box<dyn Driver>>,
        driven: DrivenBy,
        other_shards: Vec<Arc<Self>>,
    ) -> (Arc<Self>, Vec<Owner<Task>>) {
        let epoch = Epoch::now();
        let has_monitor = config.has_monitor && config.workers > 1;
        let (owners, peers): (Vec<_>, Vec<_>) = (0..config.workers)
            .map(|_| {
                let (owner, stealer) = raddle_queue::local::new();
                let peer = Peer {
                    stealer,
                    slot: Slot::new(),
                    parker: Parker::default(),
                    counters: Arc::new(CachePadded::new(WorkerCounters::new(
                        config.poll_time_histogram.as_ref(),
                        epoch,
                    ))),
                };
                (owner, peer)
            })
            .unzip();
        let shard = Arc::new(Self {
            id,
            first_worker,
            is_current_thread: driven == DrivenBy::BlockOn,
            pins_tasks: config.policy == Policy::Sharded && driven != DrivenBy::BlockOn,
            other_shards: other_shards.into(),
            spawns_on_shards: AtomicUsize::new(0),
            observes_tasks: config.observer.is_some() || config.task_hooks.are_set(),
            locates_tasks: config.needs_locations(),
            injection: CachePadded::new(Injection::new()),
            injected: CachePadded::default(),
            monitor: Monitor::new(config.workers),
            alarm: (has_monitor && driven == DrivenBy::Pool && cfg!(not(raddle_loom)))
                .then(Alarm::new)
                .flatten()
                .map(Box::new),
            idle: IdleSet::new(config.workers, has_monitor),
            stealable: StealableSet::new(config.workers),
            peers: peers.into(),
            driver_unparker: driver.as_ref().map(|driver| driver.unparker()),
            driver: CachePadded::new(Slot::new()),
            last_poller: named("last poller of the driver", AtomicUsize::new(0)),
            closed: named("shutdown flag", AtomicBool::new(false)),
            panics: Panics::new(config.unhandled_panic),
            completed_outside: named("tasks completed outside", AtomicU64::new(0)),
            refused: named("refused tasks", AtomicU64::new(0)),
            config,
        });
        let shard = named("references of the scheduler", shard);
        shard.return_driver(driver.map(Box::new));
        (shard, owners)
    }

    /// All shards of a scheduler, from its first one.
    pub(crate) fn all(first: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::once(first).chain(&first.other_shards)
    }

    /// The shard that gets the next task that is spawned outside the workers. Shards get tasks in
    /// turn, as long as they are not closed.
    #[inline]
    pub(crate) fn for_spawn(first: &Arc<Self>) -> &Arc<Self> {
        if first.other_shards.is_empty() {
            return first;
        }
        // ORDERING: any distribution is correct.
        let spawns = first.spawns_on_shards.fetch_add(1, Ordering::Relaxed);
        let turn = spawns % (1 + first.other_shards.len());
        let mut in_turn = Self::all(first).skip(turn).chain(Self::all(first));
        in_turn.find(|shard| !shard.is_closed()).unwrap_or(first)
    }

    /// Queues a task from outside the workers, and wakes a worker for it. After the shutdown of the
    /// scheduler, the task is cancelled at once.
    pub(crate) fn inject(&self, task: Task) {
        match self
            .injection
            .push_with(task, || self.injected.schedules.add(1))
        {
            Ok(()) => self.notify(),
            Err(task) => drop(self.cancel(task)),
        }
        // Checked after the push: a panic before it would drop the task on this thread.
        self.injection.check_lock_order();
    }

    /// Drops the future of a task outside a run of it, and notifies the observer and the hooks.
    pub(crate) fn cancel(&self, task: Task) -> Outcome {
        let (id, meta) = (task.0.id(), TaskRef::new(&task.0).meta());
        let outcome = task.0.cancel(None);
        self.notify_if_ended(PollResult::of(&outcome), id, &meta);
        outcome
    }

    /// Cancels a new task, which a scheduler that is shutting down does not accept.
    #[cold]
    pub(crate) fn refuse(&self, task: Task) {
        // ORDERING: as in `count_completed_outside`, which follows.
        self.refused.fetch_add(1, Ordering::Release);
        drop(self.cancel(task));
    }

    /// Counts the completion of a task on a thread that does not run a worker of this scheduler.
    #[cold]
    pub(crate) fn count_completed_outside(&self) {
        // ORDERING: Release pairs with `completed_outside`: a thread that sees the completion sees
        // the spawn, too.
        self.completed_outside.fetch_add(1, Ordering::Release);
    }

    /// The number of tasks that have completed outside the workers.
    pub(crate) fn completed_outside(&self) -> u64 {
        // ORDERING: pairs with `count_completed_outside`.
        self.completed_outside.load(Ordering::Acquire)
    }

    /// The number of tasks that were refused.
    pub(crate) fn refused(&self) -> u64 {
        // ORDERING: pairs with `refuse`.
        self.refused.load(Ordering::Acquire)
    }

    /// Calls the hook and the observer for the end of a task that was run or cancelled on this
    /// thread, if that was its last run.
    pub(crate) fn notify_if_ended(
        &self,
        result: PollResult,
        task: raddle_task::Id,
        meta: &Option<TaskMeta<'_>>,
    ) {
        if result == PollResult::Ended {
            call_hook(&self.config.task_hooks.on_terminate, meta);
            self.config
                .notify(|observer| observer.task_ended(task, context::end_reason()));
        }
    }

    /// Like [`inject`](Self::inject), for a new task: a scheduler that is shutting down does not
    /// accept it either.
    pub(crate) fn inject_spawned(&self, task: Task) {
        if self.is_closed() {
            // If it were queued, a worker that has not seen the flag yet might run it.
            return self.refuse(task);
        }
        match self.push_spawned(task) {
            Ok(()) => self.notify(),
            Err(task) => self.refuse(task),
        }
    }

    /// Queues a new task from outside, and notifies no worker. Gives the task back if the queue
    /// is closed.
    #[inline]
    pub(crate) fn push_spawned(&self, task: Task) -> Result<(), Task> {
        self.injection.push_with(task, || {
            self.injected.schedules.add(1);
            self.injected.spawned.add(1);
        })
    }

    /// Wakes a worker, if one is asleep and none is searching.
    #[inline]
    pub(crate) fn notify(&self) {
        if let Some(worker) = self.idle.claim_to_wake(|| self.worker_in_driver()) {
            self.wake(worker);
        }
    }

    /// Like [`notify`](Self::notify), for tasks that a worker has pushed to its queue.
    #[inline]
    pub(crate) fn notify_of_push(&self, worker: usize) {
        self.stealable.insert_and_fence(worker);
        if let Some(worker) = self.idle.claim_after_fence(|| self.worker_in_driver()) {
            self.wake(worker);
        }
    }

    /// Wakes a worker that was claimed.
    #[cold]
    pub(crate) fn wake(&self, worker: usize) {
        if self.unpark(worker) == Some(BlockedOn::Driver) {
            // No worker follows it into the driver.
            self.elect_monitor();
        }
    }

    /// Makes a parked worker the monitor of those that run, if there is none.
    #[cold]
    pub(crate) fn elect_monitor(&self) {
        if let Some(monitor) = self.idle.elect_monitor(self.worker_in_driver()) {
            match &self.alarm {
                Some(alarm) if self.peers[monitor].parker.is_on_alarm() => {
                    alarm.set(Monitor::STANDBY_INTERVAL);
                }
                _ => {
                    self.unpark(monitor);
                }
            }
        }
    }

    /// Ends a worker's park, or the next one. Returns what the worker was blocked on, if it was
    /// blocked.
    #[cold]
    pub(crate) fn unpark(&self, worker: usize) -> Option<BlockedOn> {
        let _pinned = context::pin();
        self.peers[worker].parker.unpark(|blocked_on| {
            if let (BlockedOn::Alarm, Some(alarm)) = (blocked_on, &self.alarm) {
                return alarm.notify();
            }
            let unparker = self.driver_unparker.as_ref();
            let unparker = unparker.expect("a worker parked on the driver");
            // User code may panic; the caller may still have workers to unpark or tasks to queue.
            raddle_primitives::contain(|| unparker.unpark());
        })
    }

    /// The worker that is parked in the driver, if any.
    pub(crate) fn worker_in_driver(&self) -> Option<usize> {
        // ORDERING: a hint, which worker to wake first.
        let poller = self.last_poller.load(Ordering::Relaxed);
        let is_there = self.peers[poller].parker.is_in_driver();
        is_there.then_some(poller)
    }

    /// Records which worker waits in the driver from now on.
    pub(crate) fn set_last_poller(&self, poller: usize) {
        // ORDERING: a hint, see `worker_in_driver`. Mostly it is the same as before, and
        // others keep the cache line.
        if self.last_poller.load(Ordering::Relaxed) != poller {
            self.last_poller.store(poller, Ordering::Relaxed);
        }
    }

    /// Puts back the driver that a worker has taken.
    pub(crate) fn return_driver(&self, driver: Option<BoxedDriver>) {
        if let Some(driver) = driver {
            let former = self.driver.put(driver);
            debug_assert!(former.is_none(), "there is one driver");
        }
    }

    /// Whether there is anything that an idle worker could take. A search must be able to take
    /// whatever this finds: otherwise a worker that parks would search and find nothing, forever.
    pub(crate) fn has_work(&self) -> bool {
        let is_stealable = |worker: usize| (!self.peers[worker].stealer.is_empty()).then_some(());
        // CHECK: a task from outside.
        !self.injection.is_empty()
            // CHECK: a task of another worker, which relied on this one to search.
            || self.stealable.find_from(0, is_stealable).is_some()
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        // ORDERING: Acquire pairs with `close`: a thread whose task is refused sees what was done
        // before the shutdown. A worker reads the flag again, since it is unparked.
        self.closed.load(Ordering::Acquire)
    }

    /// Sets the shutdown flag and unparks every worker.
    pub(crate) fn close(&self) {
        // ORDERING: Release pairs with `is_closed`. Each worker is unparked afterwards, and reads
        // the flag again. Nothing depends on what a thread that closed it before has done.
        let was_closed = self.closed.swap(true, Ordering::Release);
        // Shards close together: the first one notifies the observer.
        if !was_closed && self.first_worker == 0 {
            self.config.notify(|observer| observer.shutdown_started());
        }
        for worker in 0..self.peers.len() {
            self.unpark(worker);
        }
    }

    /// Shuts the driver down, if that has not happened yet. No worker is in it.
    pub(crate) fn shut_down_driver(&self) {
        if let Some(mut driver) = self.driver.take() {
            raddle_primitives::contain(|| driver.shutdown());
            raddle_primitives::contain(|| drop(driver));
        }
    }

    /// Polls the future of a `block_on`, on the thread that drives `worker`, and notifies the
    /// observer. Returns `None` if a task's panic has shut the scheduler down.
    pub(crate) fn poll_root<F: Future>(
        &self,
        worker: Option<usize>,
        future: Pin<&mut F>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<F::Output>> {
        if self.panics.is_fatal() {
            return Poll::Ready(None);
        }
        self.config
            .notify(|observer| observer.root_poll_started(worker));
        // Also if the poll panics.
        let mut is_ready = guard(false, |is_ready| {
            self.config
                .notify(|observer| observer.root_poll_finished(worker, is_ready));
        });
        let waker = cx.waker().data().addr();
        let polled = raddle_leaf::coop::budget_of(waker, || future.poll(cx));
        *is_ready = polled.is_ready();
        drop(is_ready);
        // The future may have waited for the task that panicked.
        polled.map(|output| (!self.panics.is_fatal()).then_some(output))
    }
}
