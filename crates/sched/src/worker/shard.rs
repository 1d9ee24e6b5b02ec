//! A shard: the state that workers share, and what they do for each other with it.

use std::num::NonZeroU64;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::counters::{Probes, WorkerCounters};
use crate::events::{PollResult, TaskMeta, TaskRef};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{
    AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};
use raddle_primitives::{CachePadded, Count, Epoch, named};
use raddle_queue::{Injection, Owner, Slot, Stealer};
use raddle_task::Outcome;
use scopeguard::guard;

use super::sharing::{Sharing, barrier};
use crate::config::policy::Policy;
use crate::config::{Config, call_hook};
use crate::context;
use crate::driver::{BoxedDriver, Driver, Unpark};
use crate::erased::ErasedFuture;
use crate::id::Id;
use crate::idle::{IdleSet, Parker, StealableSet};
use crate::monitor::MonitorState;
use crate::monitor::spares::{Spare, Spares};
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
    /// Whether these or the sample of times need each spawn and wake.
    pub(crate) observes_wakes: bool,
    /// `Some` if times are measured on a sample.
    pub(crate) probes: Option<Arc<Probes>>,
    /// Whether each task remembers where it was spawned.
    pub(crate) locates_tasks: bool,
    pub(crate) injection: CachePadded<Injection<Task>>,
    /// Written under the injection queue's lock.
    pub(crate) injected: CachePadded<InjectedCounts>,
    pub(crate) idle: IdleSet,
    /// `None` if no other worker can take the tasks of a stuck one, or none may.
    pub(crate) monitor: Option<MonitorState>,
    pub(crate) stealable: StealableSet,
    /// The workers, without the spare ones.
    pub(crate) peers: Box<[Peer]>,
    pub(crate) spares: Spares,
    /// `Some` if the pool has one worker, whose queue spare workers share only at times.
    pub(crate) sharing: Option<Sharing>,
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
    /// The [`Delay`] of its tasks, as the monitor has seen it last.
    delay: AtomicU32,
}

/// Which other workers may take the tasks of a worker that is in a long poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub(crate) enum Delay {
    /// Others steal from its queue only.
    None,
    /// It has begun no poll between two checks: a worker that searches also takes the task of its
    /// slot.
    Unmoved,
    /// It may not return: spare workers take its tasks too.
    Stuck,
}

impl Peer {
    /// Makes a worker that has not started, and its run queue.
    pub(crate) fn new(config: &Config, epoch: Epoch) -> (Self, Owner<Task>) {
        let (owner, stealer) = raddle_queue::local::new();
        let histogram = config.poll_time_histogram.as_ref();
        let counters = WorkerCounters::new(histogram, config.samples_times, epoch);
        let peer = Self {
            stealer,
            slot: Slot::new(),
            parker: Parker::default(),
            counters: Arc::new(CachePadded::new(counters)),
            delay: named("delay of a worker", AtomicU32::new(Delay::None as u32)),
        };
        (peer, owner)
    }

    /// Whether a task waits behind the worker's current poll.
    pub(crate) fn has_queued(&self) -> bool {
        !self.slot.is_empty() || !self.stealer.is_empty()
    }

    /// Whether the delay is at least `delay`.
    pub(crate) fn is_delayed(&self, delay: Delay) -> bool {
        // ORDERING: a hint for workers that search; the queues have their own order.
        self.delay.load(Ordering::Relaxed) >= delay as u32
    }

    /// Records the delay, on the thread of the monitor.
    pub(crate) fn set_delay(&self, delay: Delay) {
        let delay = delay as u32;
        // ORDERING: as in `is_delayed`. Others read the line, so it is only written when it
        // changes.
        if self.delay.load(Ordering::Relaxed) != delay {
            // ORDERING: as above.
            self.delay.store(delay, Ordering::Relaxed);
        }
    }
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
        let is_current_thread = driven == DrivenBy::BlockOn;
        let may_share = config.policy != Policy::Sharded && config.has_monitor;
        let max_spares = match may_share && config.handoff.is_some() {
            true => config.max_spare_workers,
            false => 0,
        };
        let has_monitor = may_share && config.workers + max_spares > 1;
        let (peers, owners): (Vec<_>, Vec<_>) = (0..config.workers)
            .map(|_| Peer::new(&config, epoch))
            .unzip();
        let observes_tasks = config.observer.is_some() || config.task_hooks.are_set();
        let shard = Arc::new(Self {
            id,
            first_worker,
            is_current_thread,
            pins_tasks: config.policy == Policy::Sharded && !is_current_thread,
            other_shards: other_shards.into(),
            spawns_on_shards: AtomicUsize::new(0),
            observes_tasks,
            observes_wakes: observes_tasks || config.samples_times,
            probes: config.samples_times.then(|| Arc::new(Probes::new(epoch))),
            locates_tasks: config.needs_locations(),
            injection: CachePadded::new(Injection::new()),
            injected: CachePadded::default(),
            monitor: has_monitor.then(MonitorState::default),
            idle: IdleSet::new(config.workers),
            stealable: StealableSet::new(config.workers + max_spares),
            peers: peers.into(),
            spares: Spares::new(max_spares, epoch),
            // A worker that the caller steps is in no poll when it is stuck.
            sharing: (config.workers == 1
                && max_spares > 0
                && driven == DrivenBy::Pool
                && barrier::is_supported())
            .then(Sharing::exclusive),
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
            Ok(()) => self.notify_from_outside(),
            Err(task) => drop(self.cancel(task)),
        }
        // Checked after the push: a panic before it would drop the task on this thread.
        self.injection.check_lock_order();
    }

    /// Counts a task that is about to be queued from outside, for the sample of times.
    pub(crate) fn count_wake(&self, task: raddle_task::Id) {
        let Some(probes) = &self.probes else { return };
        let number = self.injected.schedules.get();
        let is_measured = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 == 0;
        // A push to a queue that has few tasks probably wakes a worker, which takes longer than to
        // read the clock.
        match (self.injection.len() < 8, is_measured) {
            (true, _) => probes.put(NonZeroU64::from(task).get(), 1, probes.now()),
            (false, true) => probes.put(NonZeroU64::from(task).get(), 8, probes.now()),
            (false, false) => {}
        }
    }

    /// Queues a task of a worker in the injection queue, and notifies no worker.
    pub(crate) fn push_back(&self, task: Task) {
        if let Err(task) = self.injection.push(task) {
            drop(self.cancel(task));
        }
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
            Ok(()) => self.notify_from_outside(),
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

    /// Wakes a worker, if one is parked and none is searching. Returns whether one was woken.
    #[inline]
    pub(crate) fn notify(&self) -> bool {
        let claimed = self.idle.claim_to_wake(|| self.worker_in_driver());
        if let Some(worker) = claimed {
            self.unpark(worker);
        }
        claimed.is_some()
    }

    /// Like [`notify`](Self::notify), for tasks that a worker has pushed to its queue.
    #[inline]
    pub(crate) fn notify_of_push(&self, worker: usize) {
        self.stealable.insert_and_fence(worker);
        if let Some(worker) = self.idle.claim_after_fence(|| self.worker_in_driver()) {
            self.unpark(worker);
        }
    }

    /// Like [`notify`](Self::notify), for a task from outside. If no worker is claimed, the
    /// attendant is called, if there is one.
    #[inline]
    pub(crate) fn notify_from_outside(&self) {
        if let Some(worker) = self.claim_from_outside() {
            self.unpark(worker);
        }
    }

    /// Claims the worker to unpark for a task from outside.
    #[inline]
    pub(crate) fn claim_from_outside(&self) -> Option<usize> {
        let claimed = self.idle.claim_to_wake(|| self.worker_in_driver());
        claimed.or_else(|| {
            let spare = self.spares.attendant()?;
            self.spares.get(spare).call();
            Some(self.peers.len() + spare)
        })
    }

    /// Has a spare worker look for tasks. It may take one from the injection queue.
    #[cold]
    pub(crate) fn call_spare(&self, spare: usize) {
        self.spares.get(spare).call();
        self.unpark(self.peers.len() + spare);
    }

    /// Ends a worker's park, or the next one.
    #[cold]
    pub(crate) fn unpark(&self, worker: usize) {
        let _pinned = context::pin();
        self.peer(worker).parker.unpark(|| {
            let unparker = self.driver_unparker.as_ref();
            let unparker = unparker.expect("a worker parked on the driver");
            // User code may panic; the caller may still have workers to unpark or tasks to queue.
            raddle_primitives::contain(|| unparker.unpark());
        });
        if let Some(hook) = &self.config.on_unpark {
            hook(worker);
        }
    }

    /// A worker, also a spare one that was made.
    #[inline]
    pub(crate) fn peer(&self, worker: usize) -> &Peer {
        match self.peers.get(worker) {
            Some(peer) => peer,
            None => &self.spare_of(worker).peer,
        }
    }

    #[cold]
    pub(crate) fn spare_of(&self, worker: usize) -> &Spare {
        self.spares.get(worker - self.peers.len())
    }

    /// All workers, and the spare ones that were made.
    pub(crate) fn all_peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers
            .iter()
            .chain(self.spares.iter().map(|spare| &spare.peer))
    }

    /// Lets spare workers take the tasks of the workers. Returns false if they must not, because
    /// the only worker is in no poll.
    pub(crate) fn share_queues(&self) -> bool {
        let counters = &self.peers[0].counters;
        let is_in_poll = || counters.polls.get() != counters.ended.get();
        self.sharing
            .as_ref()
            .is_none_or(|sharing| sharing.request(is_in_poll))
    }

    /// Whether no worker makes progress.
    pub(crate) fn is_stuck(&self) -> bool {
        self.peers.iter().all(|peer| peer.is_delayed(Delay::Stuck))
    }

    /// Whether there are events and timers to wait for.
    pub(crate) fn has_driver(&self) -> bool {
        self.driver_unparker.is_some()
    }

    /// Whether a worker runs, or a spare one may.
    pub(crate) fn is_any_running(&self) -> bool {
        !self.is_closed() && (self.idle.is_any_running() || self.spares.active() > 0)
    }

    /// Wakes the monitor, if it sleeps, since the calling worker begins to run. The caller has
    /// passed a fence after it cleared its mark in the idle set.
    #[inline]
    pub(crate) fn wake_monitor(&self) {
        if let Some(monitor) = &self.monitor {
            monitor.wake_thread();
        }
    }

    /// The worker that is parked in the driver, if any.
    pub(crate) fn worker_in_driver(&self) -> Option<usize> {
        // ORDERING: a hint, which worker to wake first. Acquire pairs with `set_last_poller`: a
        // spare worker is found made.
        let poller = self.last_poller.load(Ordering::Acquire);
        let is_there = self.peer(poller).parker.is_in_driver();
        is_there.then_some(poller)
    }

    /// Records which worker waits in the driver from now on.
    pub(crate) fn set_last_poller(&self, poller: usize) {
        // ORDERING: a hint, see `worker_in_driver`. Mostly it is the same as before, and
        // others keep the cache line.
        if self.last_poller.load(Ordering::Relaxed) != poller {
            self.last_poller.store(poller, Ordering::Release);
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
        let is_stealable = |worker: usize| (!self.peer(worker).stealer.is_empty()).then_some(());
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
        // ORDERING: pairs with the fence in `Retirement::take_spare`: a spare worker that is not
        // found here sees the flag before it starts.
        fence(Ordering::SeqCst);
        for worker in 0..self.all_peers().count() {
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
    pub(crate) fn poll_root(
        &self,
        worker: Option<usize>,
        future: &mut ErasedFuture<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<()>> {
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
        let polled = raddle_leaf::coop::budget_of(waker, || Pin::new(future).poll(cx));
        *is_ready = polled.is_ready();
        drop(is_ready);
        // The future may have waited for the task that panicked.
        polled.map(|()| (!self.panics.is_fatal()).then_some(()))
    }
}
