//! The queues of one worker: its next-task slot and its run queue, what goes there, and where it
//! takes tasks from when both are empty.

use std::cell::Cell;
use std::time::{Duration, Instant};

use crate::counters::WorkerCounters;
use crate::events::Observer;
use raddle_primitives::sync::Arc;
use raddle_primitives::{CachePadded, hint};
use raddle_queue::local::CAPACITY;
use raddle_queue::{Injection, Overflow, Owner};
use scopeguard::guard;

use super::next_task::SlotUse;
use super::shared::{Remote, Shared};
use crate::config::policy::Policy;
use crate::driver::BoxedDriver;
use crate::task::Task;

/// The queues of a worker, as the thread that drives the worker uses them.
pub(crate) struct Queues {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) counters: Arc<CachePadded<WorkerCounters>>,
    /// Besides its own tasks, the worker puts stolen and injected ones here.
    pub(super) run_queue: Owner<Task>,
    /// Whether the next push to the run queue needs a notification, whatever it finds: the last one
    /// did without.
    pub(super) force_notify: Cell<bool>,
    /// The tasks for which the run queue had no room, if the worker keeps its tasks in order.
    backlog: Injection<Task>,
    /// A copy of the policy: spawned and woken tasks go to the run queue and the next-task slot, to
    /// the injection queue if it is `Shared`, or, in order, to the run queue and its backlog if it
    /// is `Sharded`.
    pub(super) policy: Policy,
    /// Whether tasks go through the next-task slot.
    has_slot: bool,
    /// Whether there is another worker to notify of new work.
    pub(super) has_others: bool,
    slot_use: SlotUse,
    /// The number of steps until the run queue has only tasks that have run since the future of
    /// `block_on` was polled, and have woken themselves. Kept by a worker that has no slot.
    steps_to_future: Cell<usize>,
    /// Whether the worker runs in the loop of a thread. If it is stepped, any time may pass between
    /// two steps. So it does nothing then that depends on the time: it does not scale its ticks,
    /// yield its processor before a park, or steal from next-task slots.
    pub(super) is_free_running: Cell<bool>,
    /// Whether the idle set counts the worker as searching.
    pub(super) searching: Cell<bool>,
    /// Whether the worker has begun to run without a check that it has a monitor. It checks when it
    /// first queues a task without a notification.
    pub(super) defers_election: Cell<bool>,
    /// The state of the random numbers by which the worker chooses victims.
    random: Cell<u32>,
    /// Whether tasks are made ready by the driver, after which one other worker is notified.
    in_driver: Cell<bool>,
    /// Whether the thread that drives the worker is in a park that blocks.
    pub(super) is_parking: Cell<bool>,
}

/// How long a searcher waits before it takes a task from another worker's slot.
const SLOT_WAIT: Duration = Duration::from_micros(3);

impl Queues {
    pub(super) fn new(shared: Arc<Shared>, index: usize, queue: Owner<Task>) -> Self {
        let policy = shared.config.policy;
        let has_others = shared.remotes.len() > 1;
        Self {
            counters: shared.remotes[index].counters.clone(),
            run_queue: queue,
            force_notify: Cell::new(false),
            backlog: Injection::with_name("backlog of a worker"),
            policy,
            has_slot: policy == Policy::WorkStealing && shared.config.next_task_slot,
            has_others,
            slot_use: SlotUse::default(),
            steps_to_future: Cell::new(0),
            is_free_running: Cell::new(false),
            searching: Cell::new(false),
            defers_election: Cell::new(false),
            random: Cell::new((index as u32 + 1).wrapping_mul(0x9E37_79B9)),
            in_driver: Cell::new(false),
            is_parking: Cell::new(false),
            shared,
            index,
        }
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }

    /// Which of all workers of the scheduler it is.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        self.shared.first_worker + self.index
    }

    /// Calls the observer, if there is one, with the worker's number.
    #[inline]
    pub(crate) fn notify_observer(&self, call: impl FnOnce(&dyn Observer, usize)) {
        let number = self.number();
        self.shared.config.notify(|observer| call(observer, number));
    }
}

/// Taking tasks.
impl Queues {
    /// The next task of the worker itself, or else from the injection queue.
    pub(super) fn next_task(&self) -> Option<Task> {
        if self.slot_use.is_first() {
            if let Some(task) = self.take_slot() {
                self.slot_use.count();
                return Some(task);
            }
        }
        self.slot_use.restart();
        self.take_own()
            .or_else(|| self.take_injected(self.policy.batch()))
    }

    /// Takes the task to run next out of the slot.
    #[inline]
    fn take_slot(&self) -> Option<Task> {
        let slot = &self.remote().slot;
        if self.has_others {
            return slot.take();
        }
        // SAFETY: only the thread that drives this worker puts tasks into the slot, and only
        // threads that drive workers of the scheduler take them. This is the only worker, and one
        // thread at a time drives it. The next one gets it under a lock (`HandoffSlot`,
        // `Retirement` or that of a `CurrentThread`) or as a `Worker` that its owner sends, so it
        // sees what this thread has done to the slot.
        unsafe { slot.take_exclusive() }
    }

    /// The task to run after that of the slot: the oldest of the run queue, or else of the backlog.
    #[inline]
    fn take_own(&self) -> Option<Task> {
        let own = match self.has_others {
            true => self.run_queue.pop(),
            // SAFETY: only threads that drive other workers of the scheduler steal, and there are
            // no others. The thread that drives this worker next sees what this one has done to the
            // queue, as in `take_slot`.
            false => unsafe { self.run_queue.pop_exclusive() }.or_else(|| self.take_backlog()),
        };
        own.or_else(|| self.take_slot())
    }

    /// Takes the oldest task of the backlog, and moves the next ones to the run queue.
    fn take_backlog(&self) -> Option<Task> {
        if self.backlog.is_empty() {
            return None;
        }
        let taken = self.backlog.pop_into(usize::MAX, &self.run_queue);
        self.counters.backlog.set(self.backlog.len() as u64);
        taken.map(|taken| taken.first)
    }

    /// A task from anywhere but other workers, in no particular order.
    pub(crate) fn take_any(&self) -> Option<Task> {
        self.take_own().or_else(|| self.shared.injection.pop())
    }

    /// Takes a task of another worker, when the scheduler shuts down: the task waits in the slot or
    /// the queue of that worker for a poll to return.
    pub(crate) fn take_from_others(&self) -> Option<Task> {
        let others = self.shared.remotes.iter().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks: returns the first, and
    /// moves the others to the run queue.
    pub(super) fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shared.injection;
        let share = injection.len() / self.shared.remotes.len() + 1;
        let limit = limit.min(share).min(CAPACITY / 2);
        let taken = injection.pop_into(limit, &self.run_queue)?;
        self.put_behind_queue();
        // While a batch moves, it is in no queue, and a searcher may have parked meanwhile. A
        // worker that searches itself notifies when it runs the first task.
        if taken.moved > 0 && self.has_others {
            match self.searching.get() {
                true => self.shared.stealable.insert(self.index),
                false => self.shared.notify_of_push(self.index),
            }
        }
        Some(taken.first)
    }

    /// Looks for work in the other workers' queues.
    pub(crate) fn search(&self) -> Option<Task> {
        if !self.searching.get() {
            if !self.shared.idle.transition_to_searching(self.index) {
                return None;
            }
            self.searching.set(true);
            self.notify_observer(|observer, worker| observer.search_started(worker));
        }
        self.shared.stealable.remove(self.index);
        let start = self.next_random() as usize % self.shared.remotes.len();
        self.shared
            .stealable
            .find_from(start, |victim| self.steal_from(victim))
            .or_else(|| self.take_injected(self.policy.batch()))
            .or_else(|| self.steal_from_slot())
    }

    /// Takes the task out of the next-task slot of one other worker, chosen at random, if that
    /// worker begins no poll within `SLOT_WAIT`. So two tasks that wake each other stay on their
    /// worker, and a task that was woken by a long poll runs beside it. Go's `runqgrab` waits in
    /// the same way.
    fn steal_from_slot(&self) -> Option<Task> {
        let workers = self.shared.remotes.len();
        if !self.is_free_running.get() || workers < 2 {
            return None;
        }
        let others = self.next_random() as usize % (workers - 1);
        let victim = (self.index + 1 + others) % workers;
        let remote = &self.shared.remotes[victim];
        if remote.slot.is_empty() {
            return None;
        }
        let polls = remote.counters.polls.get();
        let begin = Instant::now();
        while begin.elapsed() < SLOT_WAIT {
            if remote.slot.is_empty() || remote.counters.polls.get() != polls {
                return None;
            }
            // No other worker is woken for a task from outside while this one searches.
            if !self.shared.injection.is_empty() {
                return self.take_injected(self.policy.batch());
            }
            hint::spin_loop();
        }
        let task = remote.slot.take()?;
        self.note_stolen(victim, 1);
        Some(task)
    }

    /// A number for the choice of a victim (Marsaglia's xorshift).
    fn next_random(&self) -> u32 {
        let mut random = self.random.get();
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random.set(random);
        random
    }

    /// Steals half of the queue of another worker, which leaves the stealable set if there
    /// is nothing in it.
    fn steal_from(&self, victim: usize) -> Option<Task> {
        let (shared, stealer) = (&self.shared, &self.shared.remotes[victim].stealer);
        let Some(stolen) = stealer.steal_into(&self.run_queue, |n| n.div_ceil(2)) else {
            // Otherwise another stealer may be active there, and leave tasks in the queue.
            if stealer.is_empty() {
                shared.stealable.remove_if(victim, || stealer.is_empty());
            }
            return None;
        };
        if stolen.moved > 0 {
            // The end of the search has the fence.
            shared.stealable.insert(self.index);
        }
        self.note_stolen(victim, 1 + stolen.moved);
        Some(stolen.first)
    }

    /// Counts tasks that were stolen from another worker.
    fn note_stolen(&self, victim: usize, count: usize) {
        self.counters.count_steal(count);
        let victim = self.shared.first_worker + victim;
        self.notify_observer(|observer, worker| observer.tasks_stolen(worker, victim, count));
    }

    /// Leaves the search to another worker if there is anything more to find.
    #[cold]
    pub(super) fn end_search(&self) {
        if self.shared.idle.end_search(self.index) && self.shared.has_work() {
            self.shared.notify();
        }
    }

    /// Gives the worker's tasks to the others, when it retires early: a hook or the driver
    /// panicked on it, or the caller who stepped it has dropped it.
    pub(crate) fn abandon(&self) {
        if self.searching.take() {
            // Whether or not it was the last searcher, a worker is woken below.
            let _ = self.shared.idle.end_search(self.index);
        }
        self.shared.idle.remove(self.index);
        let tasks = std::iter::from_fn(|| self.take_own());
        tasks.for_each(|task| self.shared.inject(task));
        // Another worker has to wait in the driver.
        self.shared.notify();
    }
}

/// Queueing tasks.
impl Queues {
    /// Queues a task that was spawned on this worker: in the slot, to be run next, unless the slot
    /// holds a task already. Replacing that task would cost a read-modify-write, and many tasks
    /// that are spawned at once would not run in the order of their spawns.
    #[inline]
    pub(crate) fn schedule_new(&self, task: Task) {
        self.counters.spawned.add(1);
        self.counters.local_schedules.add(1);
        let slot = &self.remote().slot;
        if !self.has_slot || !slot.is_empty() {
            self.push_back(task);
            return self.put_behind_queue();
        }
        // SAFETY: only the thread that drives the worker puts tasks into its slot, and one thread
        // at a time drives it. The next one sees what this one has put there, as in `take_slot`.
        let former = unsafe { slot.put_exclusive(task) };
        debug_assert!(former.is_none(), "others only empty the slot");
        self.elect_deferred_monitor();
    }

    /// Queues a task that was woken on this worker: to be run next, while the data that it needs is
    /// in the cache.
    #[inline]
    pub(crate) fn schedule(&self, task: Task) {
        self.counters.local_schedules.add(1);
        // A task that is woken several times in a row, and no other, is probably woken by the tasks
        // in the queue: it joins them or receives from them. Behind them it is polled once for them
        // all, instead of once for each.
        let is_woken_by_queue =
            || self.slot_use.is_woken_again(task.0.id()) && !self.run_queue.is_empty();
        if !self.has_slot || is_woken_by_queue() {
            self.push_back(task);
            return self.put_behind_queue();
        }
        // SAFETY: as in `schedule_new`.
        if let Some(former) = unsafe { self.remote().slot.put_exclusive(task) } {
            self.push_back(former);
        }
        self.elect_deferred_monitor();
    }

    /// Queues a task that was woken while it ran, behind all others. If there are no others it
    /// runs next, and no worker is notified: a worker woken for it would find it gone. The next
    /// push notifies.
    #[inline]
    pub(super) fn requeue(&self, task: Task) {
        self.counters.local_schedules.add(1);
        let is_alone = self.run_queue.is_empty() && self.remote().slot.is_empty();
        if self.policy != Policy::WorkStealing || !is_alone {
            return self.push_back(task);
        }
        let _not_notified = self.push_needs_notify(task);
        self.force_notify.set(true);
        self.elect_deferred_monitor();
    }

    /// Queues a task behind the others.
    #[inline]
    fn push_back(&self, task: Task) {
        match self.policy {
            Policy::WorkStealing => {
                if self.push_needs_notify(task) && !self.in_driver.get() {
                    self.notify_of_push();
                }
            }
            // The worker is the only one of its scheduler, so it notifies no other.
            Policy::Sharded => self.push_in_order(task),
            Policy::Shared => self.push_common(task),
        }
    }

    /// Queues a task in the injection queue, as a worker does that has no queue of its own.
    #[cold]
    fn push_common(&self, task: Task) {
        if let Err(task) = self.shared.injection.push(task) {
            drop(self.shared.cancel(task));
        }
        if self.has_others && !self.in_driver.get() {
            self.shared.notify();
        }
    }

    /// Queues a task behind the others, even when the run queue is full.
    fn push_in_order(&self, task: Task) {
        let pushed = match self.backlog.is_empty() {
            true => self.run_queue.try_push(task),
            false => Err(task),
        };
        if let Err(task) = pushed {
            let pushed = self.backlog.push(task);
            debug_assert!(pushed.is_ok(), "a backlog is never closed");
            self.counters.backlog.set(self.backlog.len() as u64);
        }
    }

    /// Puts a task into the run queue, from which other workers can steal it. Returns whether a
    /// worker must be notified. None need be if the queue has held work since the last push that
    /// notified: a worker that has searched since then has found some.
    #[inline]
    pub(super) fn push_needs_notify(&self, task: Task) -> bool {
        let pushed = self.run_queue.push(task, self);
        let is_forced = self.force_notify.replace(false);
        pushed.was_empty || pushed.was_stolen_from || pushed.overflowed || is_forced
    }

    /// Notifies of what was pushed to the run queue.
    #[inline]
    fn notify_of_push(&self) {
        if self.has_others {
            self.shared.notify_of_push(self.index);
        }
    }

    /// Moves the task of the slot to the queue, where others can take it.
    pub(crate) fn empty_slot_into_queue(&self) {
        if let Some(task) = self.remote().slot.take() {
            if self.push_needs_notify(task) {
                self.notify_of_push();
            }
        }
    }

    /// Elects a monitor, if the worker has begun to run without a check that there is one. No
    /// worker is woken for the task that was just queued: before the current poll returns, only a
    /// worker that searches for another reason takes it, or the monitor, if it finds this worker
    /// stuck.
    #[inline]
    fn elect_deferred_monitor(&self) {
        if self.defers_election.get() && !self.in_driver.get() {
            self.defers_election.set(false);
            self.shared.elect_monitor();
        }
    }
}

/// The turn of the future of `block_on`.
impl Queues {
    /// Makes the future wait for all tasks in the run queue.
    #[inline]
    pub(crate) fn put_behind_queue(&self) {
        if self.policy == Policy::Sharded {
            self.steps_to_future.set(self.queued_len());
        }
    }

    /// Counts a step that begins.
    pub(crate) fn count_step_to_future(&self) {
        let steps = self.steps_to_future.get();
        self.steps_to_future.set(steps.saturating_sub(1));
    }

    /// Returns whether there are ready tasks, and all of them have run since the future was polled
    /// and have woken themselves.
    pub(crate) fn has_only_requeued(&self) -> bool {
        self.steps_to_future.get() == 0
            && !self.run_queue.is_empty()
            && self.shared.injection.is_empty()
    }
}

/// What is queued.
impl Queues {
    /// How many tasks are where the worker queues those that it wakes. While another worker steals
    /// from the run queue, this includes the tasks that it takes.
    pub(super) fn queued_len(&self) -> usize {
        match self.policy {
            Policy::WorkStealing | Policy::Sharded => {
                CAPACITY - self.run_queue.room() + self.backlog.len()
            }
            Policy::Shared => self.shared.injection.len(),
        }
    }

    /// Whether there is something to run that the worker has queued.
    pub(super) fn has_queued(&self) -> bool {
        !self.run_queue.is_empty()
            || !self.backlog.is_empty()
            || self.has_next()
            || self.policy == Policy::Shared && !self.shared.injection.is_empty()
    }

    /// Whether there is a task in the slot.
    pub(super) fn has_next(&self) -> bool {
        !self.remote().slot.is_empty()
    }
}

/// What the driver makes ready.
impl Queues {
    /// Waits in the driver at most for `timeout`. It makes tasks ready without a notification
    /// for each.
    pub(crate) fn run_driver(&self, driver: &mut BoxedDriver, timeout: Option<Duration>) {
        self.notify_observer(|observer, worker| observer.driver_started(worker, timeout));
        self.in_driver.set(true);
        // Also if the driver panics.
        let in_driver = guard((), |()| self.in_driver.set(false));
        // As many events as the queue has room for, but at least one: tasks that are always ready
        // must not starve the events. If the tasks go to another queue, the limit is the size of
        // this one.
        driver.park(timeout, self.run_queue.room().max(1));
        drop(in_driver);
        self.notify_observer(|observer, worker| {
            observer.driver_finished(worker, driver.last_turn());
        });
    }

    /// Whether the calling thread, which drives this worker, returns to the loop that steps the
    /// worker before it blocks: it is not in a park, where a hook or an observer may run before the
    /// thread blocks, or it is in the driver, which returns after it has called wakers.
    pub(crate) fn will_return_before_it_blocks(&self) -> bool {
        !self.is_parking.get() || self.in_driver.get()
    }

    /// Wakes another worker if events made more tasks ready than this one runs next: the task in
    /// its slot, or the first of the injection queue if all tasks are there.
    pub(super) fn notify_of_events(&self) {
        match self.policy {
            Policy::Shared if self.queued_len() > 1 => self.shared.notify(),
            Policy::WorkStealing if !self.run_queue.is_empty() => self.notify_of_push(),
            _ => {}
        }
    }
}

/// A full run queue passes tasks on to the injection queue.
impl Overflow<Task> for Queues {
    fn push_batch(&self, tasks: impl Iterator<Item = Task>) {
        self.counters.overflows.add(1);
        Overflow::push_batch(&*self.shared.injection, tasks);
    }
}
