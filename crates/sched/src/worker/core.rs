//! The core of a worker: the state that only its own thread touches, and what it does by it,
//! one step at a time.
//!
//! `docs/scheduler.md` has the states of a worker, the transitions of one that parks, and what
//! the monitor does.

use std::cell::{Cell, OnceCell};
use std::time::{Duration, Instant};

use raddle_primitives::CachePadded;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread::{self, ThreadId};
use raddle_queue::{Overflow, Owner};
use raddle_task::{LiveList, Outcome, Runnable};

use super::next_task::SlotUse;
use super::run_queue::RunQueue;
use super::searching::Searching;
use super::shared::{Remote, Shards, Shared};
use super::ticks::Ticks;
use super::yields::Yields;
use crate::config::hooks::TaskMeta;
use crate::config::policy::{Order, Policy};
use crate::context::{self, WorkerGuard};
use crate::counters::Counters;
use crate::counters::poll_average::PollAverage;
use crate::driver::BoxedDriver;
use crate::id::Id;
use crate::idle::{Duty, Parking};
use crate::monitor::{Looks, Progress};
use crate::parker::Place;
use crate::task::Task;

/// The outcome of a step.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A task was run.
    Ran,
    /// There is nothing to run: the worker should park.
    Idle,
    /// The scheduler is shutting down: the worker should be dropped.
    Shutdown,
}

/// The state of a worker that only its own thread touches.
pub(crate) struct Core {
    /// That of the scheduler, close at hand.
    pub(crate) scheduler: Id,
    shared: Arc<Shared>,
    index: usize,
    queue: RunQueue,
    pub(crate) live: LiveList,
    pub(crate) counters: Arc<CachePadded<Counters>>,
    /// Whether a hook or the histogram observes each poll.
    observes: bool,
    /// Where woken and spawned tasks go.
    order: Order,
    /// Whether they go through the next-task slot.
    has_slot: bool,
    /// The thread that runs a pinned worker.
    thread: Cell<Option<ThreadId>>,
    /// The whole scheduler, if this is the worker of a shard.
    shards: OnceCell<Arc<Shards>>,
    /// Whether there is another worker to notify of new work.
    has_others: bool,
    slot_use: SlotUse,
    ticks: Ticks,
    yields: Yields,
    /// Whether the time that steps take sets the length of a tick. It does not if the caller
    /// steps the worker, since any time may pass between two steps.
    timed: Cell<bool>,
    searching: Searching,
    /// Whether tasks are made ready by the driver, which wakes others once,
    /// when it is through.
    in_driver: Cell<bool>,
    /// When it looks at the others, as the monitor.
    looks: Looks,
}

impl Core {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, queue: Owner<Task>, order: Order) -> Self {
        let has_others = shared.remotes.len() > 1;
        let config = &shared.config;
        Self {
            queue: RunQueue::new(queue, has_others),
            counters: shared.remotes[index].counters.clone(),
            observes: config.observes_runs(),
            live: LiveList::new(),
            order,
            has_slot: order == Order::Slot && config.next_task_slot,
            thread: Cell::new(None),
            shards: OnceCell::new(),
            has_others,
            slot_use: SlotUse::default(),
            ticks: Ticks::new(config.global_queue_interval, config.event_interval),
            yields: Yields::default(),
            timed: Cell::new(false),
            searching: Searching::new(index),
            in_driver: Cell::new(false),
            looks: Looks::default(),
            scheduler: shared.id,
            shared,
            index,
        }
    }

    /// The worker that the calling thread is running.
    ///
    /// The reference is for immediate use: it is valid as long as the caller's
    /// caller has not returned to the loop that entered the worker.
    #[inline]
    pub(crate) fn current<'a>() -> Option<&'a Self> {
        // SAFETY: the pointer is null or was set by `enter`, whose guard outlives
        // everything that the worker calls, this caller included, and resets it.
        unsafe { context::worker().cast::<Self>().as_ref() }
    }

    /// The worker that the calling thread is running, if it belongs to the
    /// scheduler that was entered last.
    #[inline]
    pub(crate) fn current_of_entered<'a>() -> Option<&'a Self> {
        let (worker, scheduler) = context::worker_and_scheduler();
        // SAFETY: as in `current`.
        unsafe { worker.cast::<Self>().as_ref() }.filter(|core| Some(core.scheduler) == scheduler)
    }

    /// Runs code as the worker until the guard is dropped.
    ///
    /// # Panics
    ///
    /// If the worker is bound to another thread.
    pub(crate) fn enter(&self) -> WorkerGuard<'_> {
        self.bind();
        context::enter_worker(self)
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn shared_arc(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }

    /// Which of all workers of the scheduler it is.
    pub(crate) fn number(&self) -> usize {
        self.shared.first_worker + self.index
    }

    /// The whole scheduler, if this is the worker of a shard.
    pub(crate) fn shards(&self) -> Option<&Arc<Shards>> {
        self.shards.get()
    }

    /// What the scheduler consists of: several, if this is the worker of a shard.
    pub(crate) fn parts(&self) -> &[Arc<Shared>] {
        match self.shards() {
            None => std::slice::from_ref(&self.shared),
            Some(shards) => shards.all(),
        }
    }

    /// Says which shards the worker's is one of.
    pub(crate) fn join(&self, shards: &Arc<Shards>) {
        let joined = self.shards.set(shards.clone());
        debug_assert!(joined.is_ok(), "a worker is of one scheduler");
    }

    /// Says that the calling thread drives the worker.
    pub(crate) fn attach(&self) {
        self.remote().parker.attach();
        self.counters.clock.start();
    }

    /// Notes that no thread drives the worker for the time being.
    pub(crate) fn detach(&self) {
        self.counters.rest();
    }

    /// Lets the time that steps take count.
    pub(crate) fn keep_time(&self) {
        self.timed.set(cfg!(not(raddle_loom)));
    }
}

/// Workers that stay on their thread, because their tasks must. Why none ever leaves it stands
/// in `docs/policies.md`, with the numbered claims that are cited here.
impl Core {
    /// Whether the worker stays on its thread while it has tasks.
    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.shared.config.policy == Policy::Sharded
    }

    /// Whether the calling thread may run the worker.
    pub(crate) fn may_run_here(&self) -> bool {
        !self.is_pinned() || self.live.is_empty() || self.thread.get() == Some(thread::current_id())
    }

    /// Notes that the calling thread runs the worker (claim 1).
    ///
    /// # Panics
    ///
    /// If the worker has tasks that are bound to another thread.
    #[inline]
    fn bind(&self) {
        if self.is_pinned() {
            self.bind_pinned();
        }
    }

    fn bind_pinned(&self) {
        assert!(
            self.may_run_here(),
            "a worker of a sharded scheduler was used on another thread while it has tasks; keep \
             it on the thread that runs it"
        );
        self.thread.set(Some(thread::current_id()));
    }
}

/// Steps.
impl Core {
    #[inline]
    pub(crate) fn step(&self) -> Step {
        if self.ticks.step() {
            if let Some(step) = self.look_around() {
                return step;
            }
        }
        match self.next_task().or_else(|| self.search()) {
            Some(task) => self.run(task),
            None if self.shared.is_closed() => Step::Shutdown,
            None => Step::Idle,
        }
    }

    /// Sees to what is due before the worker's own queue. If that is a task, it
    /// is the step.
    #[cold]
    fn look_around(&self) -> Option<Step> {
        let busy = || self.timed.get().then(|| self.counters.take_time());
        let due = self.ticks.take(busy);
        if due.events {
            self.live.reclaim();
            self.look_at_driver();
            if self.shared.is_closed() {
                return Some(Step::Shutdown);
            }
        }
        let interval = self.shared.config.global_queue_interval;
        let limit = self.order.batch_of_turn(interval);
        let task = due.injection.then(|| self.take_injected(limit)).flatten()?;
        Some(self.run(task))
    }

    fn next_task(&self) -> Option<Task> {
        if self.slot_use.is_first() {
            if let Some(task) = self.take_slot() {
                self.slot_use.count();
                return Some(task);
            }
        }
        self.slot_use.restart();
        self.pop()
            .or_else(|| self.take_slot())
            .or_else(|| self.take_injected(self.order.batch()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks, into
    /// the local queue, and returns the first.
    fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shared.injection;
        if injection.is_empty() {
            return None;
        }
        let share = injection.len() / self.shared.remotes.len() + 1;
        let limit = limit.min(share).min(raddle_queue::local::CAPACITY / 2);
        let taken = injection.pop_into(limit, self.queue.owner())?;
        // While they were on their way here a searcher could see them nowhere,
        // and may have gone to sleep. A worker that searches itself notifies
        // when it runs the first.
        if taken.moved > 0 && self.has_others {
            match self.searching.is_counted() {
                true => self.shared.stealable.insert(self.index),
                false => self.shared.notify_of_push(self.index),
            }
        }
        Some(taken.first)
    }

    /// Runs a task. Afterwards the worker may be another thread's: that is
    /// `Step::Shutdown`, as far as this thread goes.
    #[inline]
    pub(crate) fn run(&self, task: Task) -> Step {
        if self.searching.take() {
            self.end_search();
        }
        let counters = &self.counters;
        counters.polls.add(1);
        let outcome = match self.observes {
            false => self.poll(task),
            true => self.poll_observed(task),
        };
        if !context::is_worker() {
            return self.end_displaced(outcome);
        }
        match outcome {
            Outcome::Idle => {}
            Outcome::Complete => counters.completed.add(1),
            Outcome::Again(task) => {
                counters.local_schedules.add(1);
                self.requeue(Task(task));
                if self.yields.take() {
                    self.count_yield();
                }
            }
            Outcome::CompleteElsewhere => self.count_completed_elsewhere(),
        }
        Step::Ran
    }

    /// Drops the future of a task, in the end.
    pub(crate) fn cancel(&self, task: Task) {
        match self.shared.config.task_hooks.cancel(task.0) {
            Outcome::Idle => {}
            Outcome::Complete => self.counters.completed.add(1),
            Outcome::Again(_) => unreachable!("a cancelled task has no future left to run"),
            Outcome::CompleteElsewhere => self.count_completed_elsewhere(),
        }
    }

    /// Counts a task of another worker's list that has completed here.
    fn count_completed_elsewhere(&self) {
        self.counters.completed.add(1);
        self.counters.completed_elsewhere.add(1);
    }

    /// Ends a run on a thread that was displaced during it: nothing that changes
    /// of the worker is looked at.
    #[cold]
    fn end_displaced(&self, outcome: Outcome) -> Step {
        match outcome {
            Outcome::Idle => {}
            Outcome::Complete => unreachable!("the list that went away has the task"),
            Outcome::Again(task) => self.shared.inject(Task(task)),
            Outcome::CompleteElsewhere => {
                let _ended = self.shared.retired.lock();
                self.shared.completed_displaced.add(1);
            }
        }
        Step::Shutdown
    }

    /// Leaves the search to another worker if there is anything more to find.
    #[cold]
    fn end_search(&self) {
        if self.shared.idle.end_search(self.index) && self.shared.has_work() {
            self.shared.notify();
        }
    }

    /// Counts a poll in the middle of a step, unless a turn is due first. Returns whether it was
    /// counted.
    #[inline]
    pub(crate) fn count_nested_poll(&self) -> bool {
        self.ticks.nested_step()
    }

    /// Has the next step look whether the scheduler is shutting down.
    pub(crate) fn end_soon(&self) {
        self.ticks.look_next();
    }

    #[inline]
    fn poll(&self, task: Task) -> Outcome {
        raddle_coop::budget(|| {
            let outcome = task.0.run_in(&self.live);
            // One whose budget ran out has yielded, too.
            if matches!(outcome, Outcome::Again(_))
                && !raddle_coop::has_budget_remaining()
                && context::is_worker()
            {
                self.counters.budget_yields.add(1);
                self.note_yield();
            }
            outcome
        })
    }

    /// Polls a task, calls the hooks and records the time of the poll.
    #[cold]
    fn poll_observed(&self, task: Task) -> Outcome {
        let hooks = &self.shared.config.task_hooks;
        let meta = TaskMeta::of(&task.0);
        hooks.before_poll(&meta);
        let outcome = match &self.counters.poll_times {
            None => self.poll(task),
            Some(histogram) => {
                let start = Instant::now();
                let outcome = self.poll(task);
                if context::is_worker() {
                    histogram.record(start.elapsed());
                }
                outcome
            }
        };
        hooks.after_poll(&meta);
        hooks.ended(&meta, &outcome);
        outcome
    }
}

/// Stealing.
impl Core {
    /// Looks for work in the other workers' queues.
    pub(crate) fn search(&self) -> Option<Task> {
        if !self.searching.is_counted() {
            if !self.shared.idle.transition_to_searching(self.index) {
                return None;
            }
            self.searching.set(true);
        }
        self.shared.stealable.remove(self.index);
        let start = self.searching.next_random() as usize % self.shared.remotes.len();
        self.shared
            .stealable
            .find_from(start, |victim| self.steal_from(victim))
            .or_else(|| self.take_injected(self.order.batch()))
    }

    /// Steals half of the queue of another worker, which leaves the stealable set if there
    /// is nothing in it.
    fn steal_from(&self, victim: usize) -> Option<Task> {
        let stealer = &self.shared.remotes[victim].stealer;
        match stealer.steal_into(self.queue.owner(), |n| n.div_ceil(2)) {
            Some(stolen) => {
                self.counters.stole(1 + stolen.moved);
                if stolen.moved > 0 {
                    // The end of the search has the fence.
                    self.shared.stealable.insert(self.index);
                }
                Some(stolen.first)
            }
            None => {
                // Another stealer may be at work there, and leave something.
                if stealer.is_empty() {
                    let stealable = &self.shared.stealable;
                    stealable.remove_if(victim, || stealer.is_empty());
                }
                None
            }
        }
    }

    /// A task of another worker, at the end: from wherever it waits for a poll to
    /// return.
    pub(crate) fn take_from_others(&self) -> Option<Task> {
        let others = self.shared.remotes.iter().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
    }
}

/// The next-task slot, the run queue, and what goes there.
impl Core {
    /// Schedules a task that this worker has spawned.
    #[inline]
    pub(crate) fn start(&self, task: Runnable) {
        if self.shared.is_closed() {
            self.shared.cancel(Task(task));
        } else {
            self.schedule_new(Task(task));
        }
    }

    /// Schedules a task that stays on this worker, which is pinned and has spawned it.
    pub(crate) fn start_local(&self, task: Runnable) {
        if !self.shared.is_closed() {
            // Not only after its first poll, as other tasks: until then it
            // would not keep the worker on its thread (claim 2).
            self.live.adopt(&task);
        }
        self.start(task);
    }

    /// Moves the task of the slot to the queue, where others can take it.
    pub(crate) fn empty_slot_into_queue(&self) {
        if let Some(task) = self.remote().slot.take() {
            if self.push_needs_notify(task) {
                self.notify_of_push();
            }
        }
    }

    /// Queues a task that was spawned on this worker: to be run next, unless
    /// there is such a task already. To displace that one would cost a
    /// read-modify-write, and many tasks spawned at once would run in an order
    /// of their own.
    #[inline]
    pub(crate) fn schedule_new(&self, task: Task) {
        self.counters.spawned.add(1);
        self.counters.local_schedules.add(1);
        let slot = &self.remote().slot;
        if !self.has_slot || !slot.is_empty() {
            return self.push_back(task);
        }
        // SAFETY: only the thread that runs the worker puts tasks in its slot.
        let displaced = unsafe { slot.put_alone(task) };
        debug_assert!(displaced.is_none(), "others only empty the slot");
        self.mind_slot();
    }

    /// Queues a task that was woken on this worker: to be run next, while what
    /// it needs is in the cache.
    #[inline]
    pub(crate) fn schedule(&self, task: Task) {
        self.counters.local_schedules.add(1);
        if !self.has_slot || self.is_woken_by_the_queue(&task) {
            return self.push_back(task);
        }
        // SAFETY: only the thread that runs the worker puts tasks in its slot.
        if let Some(displaced) = unsafe { self.remote().slot.put_alone(task) } {
            self.push_back(displaced);
        }
        self.mind_slot();
    }

    /// Queues a task that was woken while it ran, behind all others. If there are no others it
    /// runs next, and no worker is notified: a worker woken for it would find it gone. The next
    /// push notifies.
    #[inline]
    pub(crate) fn requeue(&self, task: Task) {
        let is_alone = self.queue.is_empty() && self.remote().slot.is_empty();
        if self.order != Order::Slot || !is_alone {
            return self.push_back(task);
        }
        let _not_notified = self.push_needs_notify(task);
        self.queue.force_notify();
        self.mind_slot();
    }

    /// Whether a task is woken over and over, and no other, while others
    /// wait: they are likely to wake it too, as what it joins or receives from.
    /// Behind them it is polled once for them all, instead of once for each.
    #[inline]
    fn is_woken_by_the_queue(&self, task: &Task) -> bool {
        self.slot_use.is_woken_again(task.0.id()) && !self.queue.is_empty()
    }

    /// Queues a task behind the others.
    #[inline]
    fn push_back(&self, task: Task) {
        if self.order != Order::Slot {
            return self.push_by_order(task);
        }
        if self.push_needs_notify(task) && !self.in_driver.get() {
            self.notify_of_push();
        }
    }

    #[inline]
    pub(crate) fn push_needs_notify(&self, task: Task) -> bool {
        self.queue.push_needs_notify(task, &Overflowing(self))
    }

    /// Notifies of what was pushed to the run queue.
    #[inline]
    pub(crate) fn notify_of_push(&self) {
        if self.has_others {
            self.shared.notify_of_push(self.index);
        }
    }

    /// Queues a task behind all others of a worker without a slot.
    fn push_by_order(&self, task: Task) {
        match self.order {
            Order::Slot => unreachable!("a worker with a slot displaces its content"),
            // The worker is the only one of its scheduler, so it notifies no other.
            Order::Queue => self.queue.push_in_order(task, &self.counters),
            Order::Common => {
                self.shared.push_common(task);
                if self.has_others && !self.in_driver.get() {
                    self.shared.notify();
                }
            }
        }
    }

    #[inline]
    fn pop(&self) -> Option<Task> {
        self.queue.pop(&self.counters)
    }

    /// Takes the task to run next out of the slot.
    #[inline]
    pub(crate) fn take_slot(&self) -> Option<Task> {
        let slot = &self.remote().slot;
        if self.has_others {
            return slot.take();
        }
        // SAFETY: only this worker puts tasks in, and only other workers of the
        // scheduler take any but their own; there are none.
        unsafe { slot.take_alone() }
    }

    /// Elects a monitor if workers are idle and none is one: no other worker takes a task from
    /// the slot before the present poll returns, unless the monitor finds this one stuck.
    #[inline]
    pub(crate) fn mind_slot(&self) {
        if self.has_others && !self.in_driver.get() && self.shared.idle.lacks_monitor() {
            self.shared.elect_monitor();
        }
    }

    /// Leaves the worker's tasks to the others: a hook or the driver panicked on it, or the
    /// caller who stepped it has dropped it.
    pub(crate) fn abandon(&self) {
        if self.searching.take() {
            // Whether or not it was the last searcher, a worker is woken below.
            let _ = self.shared.idle.end_search(self.index);
        }
        self.shared.idle.leave(self.index);
        let tasks = std::iter::from_fn(|| self.take_own());
        tasks.for_each(|task| self.shared.inject(task));
        // Another worker is to wait in the driver.
        self.shared.set_host(None);
        self.shared.notify();
    }

    fn take_own(&self) -> Option<Task> {
        self.take_slot().or_else(|| self.pop())
    }

    /// A task from anywhere but other workers, in no particular order.
    pub(crate) fn take_any(&self) -> Option<Task> {
        self.take_own().or_else(|| self.shared.injection.pop())
    }

    /// How many tasks the worker, which has no slot and no others beside it, runs before one
    /// that is queued now.
    pub(crate) fn due_len(&self) -> usize {
        self.queue.len() + self.shared.injection.len()
    }

    /// How many tasks are where the worker queues those that it wakes.
    fn queued_len(&self) -> usize {
        match self.order {
            Order::Slot | Order::Queue => self.queue.len(),
            Order::Common => self.shared.injection.len(),
        }
    }

    /// Whether there is something to run that the worker has queued.
    fn made_ready(&self) -> bool {
        match self.order {
            Order::Slot | Order::Queue => !self.queue.is_empty() || !self.remote().slot.is_empty(),
            Order::Common => !self.shared.injection.is_empty(),
        }
    }

    /// Whether there is more of it than the worker runs next.
    fn made_more_ready(&self) -> bool {
        match self.order {
            Order::Slot | Order::Queue => !self.queue.is_empty(),
            Order::Common => self.shared.injection.len() > 1,
        }
    }
}

/// Tasks that yield.
impl Core {
    /// Notes that a future yields in the present poll.
    #[inline]
    pub(crate) fn note_yield(&self) {
        self.yields.note();
    }

    /// Counts a task that has yielded and is queued again. If all that are queued
    /// have, the driver is looked at. Those that are queued behind one that
    /// yielded have not been counted, so the queue is longer than the count while
    /// another kind is in it, or the count is too high and the look too early.
    #[inline]
    fn count_yield(&self) {
        if self.yields.count() >= self.queued_len() && self.remote().slot.is_empty() {
            self.look_at_driver();
        }
    }

    /// Looks at the driver if the future of `block_on` has yielded, and there is
    /// nothing else to run.
    pub(crate) fn look_if_yielded(&self) {
        if self.yields.take() {
            self.look_at_driver();
        }
    }
}

/// A parked worker between two transitions: what it waits for.
pub(crate) struct Parked {
    /// The driver, if the worker waits in it. No other worker finds it meanwhile.
    pub(crate) driver: Option<BoxedDriver>,
    /// How long the wait takes at most.
    pub(crate) timeout: Option<Duration>,
    /// Whether it looks at the others when the wait ends.
    is_monitor: bool,
    /// For how long the caller lets it park, whatever happens.
    limit: Option<Duration>,
}

/// Parking: the transitions are the same for a worker that blocks its thread and for one that is
/// stepped. Blocking is what a thread does between two of them.
impl Core {
    /// Blocks until there may be something to do, at most for `limit`.
    pub(crate) fn park(&self, limit: Option<Duration>) {
        let mut waiting = Waiting {
            core: self,
            parked: self.begin_park(limit),
        };
        if waiting.parked.is_none() {
            // Another worker may be in the middle of a steal.
            raddle_primitives::thread::yield_now();
        }
        while let Some(parked) = &mut waiting.parked {
            match &mut parked.driver {
                Some(driver) => self.run_driver(driver, parked.timeout),
                None => self.remote().parker.block(parked.timeout),
            }
            waiting.parked = waiting
                .parked
                .take()
                .and_then(|parked| self.end_wait(parked));
        }
    }

    /// From running or searching to parked. None if there is something to do after all.
    pub(crate) fn begin_park(&self, limit: Option<Duration>) -> Option<Parked> {
        self.live.reclaim();
        if let Some(hook) = &self.shared.config.on_thread_park {
            hook();
            // The driver has its turn between steps.
            if self.made_ready() {
                return None;
            }
        }
        if !self.mark_parked() {
            return None;
        }
        self.looks.restart();
        // A worker that comes from running waits in the driver if it is free.
        self.begin_wait(limit, false, !self.leaves_driver_to_another())
    }

    /// Marks the worker as parked. False, and the worker is searching again, if
    /// there is work after all.
    fn mark_parked(&self) -> bool {
        let idle = &self.shared.idle;
        let parking = idle.transition_to_parked(self.index, self.searching.take());
        let is_wanted = || {
            // CHECK: a task that came before its pusher could see that this worker is
            // parked.
            self.shared.has_work()
                // CHECK: the end. Each worker is unparked after it, and would
                // look again; this spares that park.
                || self.shared.is_closed()
        };
        if parking == Parking::LookAgain && is_wanted() {
            idle.cancel_parking(self.index);
            self.searching.set(true);
            if idle.was_monitor(self.index) {
                self.shared.elect_monitor();
            }
            return false;
        }
        self.counters.park();
        true
    }

    /// From parked to waiting, unless there is a reason not to.
    fn begin_wait(
        &self,
        limit: Option<Duration>,
        mut left_driver: bool,
        mut takes_driver: bool,
    ) -> Option<Parked> {
        loop {
            let lingers = self.looks.lingers();
            let duty = self.shared.idle.duty(self.index, lingers);
            if duty == Duty::Leave {
                return self.finish_park(left_driver);
            }
            let is_monitor = duty == Duty::Monitor;
            let interval = is_monitor.then(|| self.looks.interval());
            let parked = Parked {
                driver: takes_driver.then(|| self.take_driver()).flatten(),
                timeout: [limit, interval].into_iter().flatten().min(),
                is_monitor,
                limit,
            };
            left_driver = parked.driver.is_some();
            let place = match left_driver {
                true => Place::Driver,
                false => Place::Thread,
            };
            if left_driver {
                self.shared.set_host(Some(self.index));
            }
            if self.remote().parker.enter(place) {
                return Some(parked);
            }
            self.return_driver(parked.driver);
            if !self.stays_parked(limit, is_monitor) {
                return self.finish_park(left_driver);
            }
            takes_driver = left_driver || self.watches_over_stuck();
        }
    }

    /// From waiting to parked, and on to the next wait unless there is a reason not to.
    pub(crate) fn end_wait(&self, parked: Parked) -> Option<Parked> {
        let Parked {
            is_monitor, limit, ..
        } = parked;
        let left_driver = parked.driver.is_some();
        self.leave_wait(parked);
        if !self.stays_parked(limit, is_monitor) {
            return self.finish_park(left_driver);
        }
        self.begin_wait(limit, left_driver, left_driver || self.watches_over_stuck())
    }

    /// Leaves the parker, and the driver if the worker was in it.
    fn leave_wait(&self, parked: Parked) {
        self.remote().parker.leave();
        self.return_driver(parked.driver);
    }

    /// Whether a worker whose wait has ended has no reason to stop parking. A
    /// monitor looks at the others.
    fn stays_parked(&self, limit: Option<Duration>, is_monitor: bool) -> bool {
        if limit.is_some()
            // CHECK: what the driver has just made ready, which no other worker may know of.
            || self.made_ready()
            // CHECK: the end, for which the worker was unparked.
            || self.shared.is_closed()
        {
            return false;
        }
        match is_monitor {
            true => !self.keep_watch(),
            // Elected as the monitor, or unparked for nothing: to leave would be to
            // have another elected. A worker without others may be wanted
            // by the thread that drives it.
            false => self.has_others,
        }
    }

    /// Ends the parking of a worker, whatever it waits for.
    pub(crate) fn abort_park(&self, parked: Parked) {
        let left_driver = parked.driver.is_some();
        self.leave_wait(parked);
        let _running = self.finish_park(left_driver);
    }

    /// From parked to running, or to searching if the worker has been claimed.
    fn finish_park(&self, left_driver: bool) -> Option<Parked> {
        self.unmark_parked();
        self.counters.clock.start();
        self.counters.unparks.add(1);
        // A thread that claims a worker outside the driver elects no monitor, so that a task
        // from outside costs an idle pool one wake-up: see `mind_slot`.
        let idle = &self.shared.idle;
        let may_lack = left_driver || !self.searching.is_counted() || idle.was_monitor(self.index);
        if may_lack && idle.lacks_monitor() {
            self.shared.elect_monitor();
        }
        self.notify_of_events();
        if let Some(hook) = &self.shared.config.on_thread_unpark {
            hook();
        }
        None
    }

    fn unmark_parked(&self) {
        let is_claimed = self.shared.idle.transition_to_running(self.index);
        self.searching.set(is_claimed);
    }
}

/// The driver.
impl Core {
    /// Takes the driver, unless there is none or another worker has it.
    fn take_driver(&self) -> Option<BoxedDriver> {
        self.shared.driver.take()
    }

    fn return_driver(&self, driver: Option<BoxedDriver>) {
        if let Some(driver) = driver {
            let former = self.shared.driver.put(driver);
            debug_assert!(former.is_none(), "there is one driver");
        }
    }

    /// Waits in the driver at most for `timeout`. It makes tasks ready without waking
    /// others for each.
    pub(crate) fn run_driver(&self, driver: &mut BoxedDriver, timeout: Option<Duration>) {
        self.in_driver.set(true);
        let _out = Clear(&self.in_driver);
        driver.park(timeout, self.event_limit());
    }

    /// Lets the driver wake what is ready, unless another worker has it.
    #[cold]
    pub(crate) fn look_at_driver(&self) {
        self.yields.restart();
        let mut lent = LentDriver {
            core: self,
            driver: self.take_driver(),
        };
        let Some(driver) = &mut lent.driver else {
            return;
        };
        self.run_driver(driver, Some(Duration::ZERO));
        drop(lent);
        self.notify_of_events();
        if !self.remote().slot.is_empty() {
            self.mind_slot();
        }
    }

    /// Wakes another worker if events made more tasks ready than this one runs
    /// next, unless it gets through them before that would be worth while.
    fn notify_of_events(&self) {
        if !self.has_others || !self.made_more_ready() {
            return;
        }
        if self.order == Order::Common {
            self.shared.notify();
        } else if self.trusts(self.index) {
            // Should one of them make more work, a worker is notified of that.
            self.queue.force_notify();
            self.shared.stealable.insert_unless_present(self.index);
        } else {
            self.shared.notify_of_push(self.index);
        }
    }

    /// Whether another worker, which has come out of the driver, will be back
    /// there soon. If both waited in it, by turns, both would be woken again and
    /// again for half as many events at a time.
    ///
    /// The caller is marked as parked. A host that is parked too may have found
    /// the driver taken, and wait, or be about to, on its own thread: it will not be back.
    /// So the last to be parked leaves the driver to no other.
    fn leaves_driver_to_another(&self) -> bool {
        self.shared.host().is_some_and(|host| {
            host != self.index && self.trusts(host) && !self.shared.idle.is_parked(host)
        })
    }

    /// Whether a worker needs no help with what is in its queue, as far as its
    /// past says. Who is not there any more when that turns out to be wrong is
    /// found out by the watch.
    pub(crate) fn trusts(&self, worker: usize) -> bool {
        self.timed.get()
            && self.order == Order::Slot
            && self.shared.config.keeps_watch
            && self.shared.remotes[worker].keeps_up()
    }

    /// How many events the driver may make tasks ready by: as many as the queue
    /// has room for. A full queue takes one nevertheless, lest tasks that are
    /// always ready keep the events out for ever. One that stays empty, since the
    /// tasks go elsewhere, gives its size.
    fn event_limit(&self) -> usize {
        self.queue.room().max(1)
    }
}

/// The monitor: it looks at the workers that run, and takes what waits behind a poll that does
/// not return.
impl Core {
    /// Looks at the other workers. Whether there is something to run now.
    pub(crate) fn keep_watch(&self) -> bool {
        let shared = self.shared();
        let workers = shared.remotes.iter().enumerate();
        let progress = workers.map(|(worker, remote)| Progress {
            polls: polls(remote),
            parks: remote.counters.parks.get(),
            is_running: worker != self.index && !remote.parker.is_parked(),
        });
        let monitor = &shared.monitor;
        monitor.look(&self.looks, progress, PollAverage::is_long, |stuck| {
            let task = shared.remotes[stuck].slot.take();
            let is_rescued = task.is_some();
            if let Some(task) = task {
                self.counters.stole(1);
                let _ = self.push_needs_notify(task);
            }
            is_rescued
        });
        if !self.queue.is_empty() {
            shared.stealable.insert_and_fence(self.index);
            return true;
        }
        !shared.injection.is_empty() || self.is_help_wanted()
    }

    /// Whether there is something in the queue of a worker that is stuck, or is
    /// slow, or has more than it gets through. Its push may have notified no worker, so
    /// that it is not in the stealable set.
    fn is_help_wanted(&self) -> bool {
        let monitor = &self.shared.monitor;
        let mut workers = self.shared.remotes.iter().enumerate();
        let wanted = workers.find(|&(worker, remote)| {
            let is_behind =
                || monitor.was_stuck(worker) || monitor.was_slow(worker) || !self.trusts(worker);
            !remote.stealer.is_empty() && is_behind()
        });
        if let Some((worker, _)) = wanted {
            self.shared.stealable.insert(worker);
        }
        wanted.is_some()
    }

    /// Whether the monitor should wait in the driver, because the worker that
    /// came out of it makes no progress, or is expected back soon though it
    /// has become slow. As long as all do, it leaves the driver to that one: if
    /// an event woke the monitor, another would have to be woken to be that.
    pub(crate) fn watches_over_stuck(&self) -> bool {
        let monitor = &self.shared.monitor;
        let mut workers = self.shared.remotes.iter().enumerate();
        workers.any(|(worker, remote)| {
            let is_still_stuck = || {
                monitor.was_stuck(worker)
                    && monitor.polls(worker) == polls(remote)
                    && !remote.parker.is_parked()
            };
            is_still_stuck() || (monitor.was_slow(worker) && self.trusts(worker))
        })
    }
}

/// A hint: what is taken on the strength of it is taken by a read-modify-write.
fn polls(remote: &Remote) -> u64 {
    remote.counters.polls.get()
}

/// A worker that blocks its thread. A panic of the driver ends the parking.
struct Waiting<'a> {
    core: &'a Core,
    parked: Option<Parked>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(parked) = self.parked.take() {
            self.core.leave_wait(parked);
            self.core.unmark_parked();
        }
    }
}

/// The driver in the hands of a worker that only looks at it. A panic gives it back.
struct LentDriver<'a> {
    core: &'a Core,
    driver: Option<BoxedDriver>,
}

impl Drop for LentDriver<'_> {
    fn drop(&mut self) {
        self.core.return_driver(self.driver.take());
    }
}

/// Clears a flag when it is dropped, also by a panic of the driver.
struct Clear<'a>(&'a Cell<bool>);

impl Drop for Clear<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Passes tasks on to the injection queue, and counts that.
struct Overflowing<'a>(&'a Core);

impl Overflow<Task> for Overflowing<'_> {
    fn push_batch(&self, tasks: impl Iterator<Item = Task>) {
        self.0.counters.overflows.add(1);
        Overflow::push_batch(&self.0.shared.injection, tasks);
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
