//! The queues of one worker: its next-task slot and its run queue, what goes there, and where it
//! takes tasks from when both are empty.

use std::cell::Cell;
use std::time::{Duration, Instant};

use raddle_counters::WorkerCounters;
use raddle_events::Observer;
use raddle_primitives::sync::Arc;
use raddle_primitives::{CachePadded, hint};
use raddle_queue::{Overflow, Owner};
use scopeguard::guard;

use super::next_task::SlotUse;
use super::run_queue::RunQueue;
use super::shared::{Remote, Shared};
use crate::config::policy::Placement;
use crate::driver::BoxedDriver;
use crate::task::Task;

/// The queues of a worker, as the thread that drives the worker uses them.
pub(crate) struct Queues {
    pub(crate) shared: Arc<Shared>,
    pub(crate) index: usize,
    pub(crate) counters: Arc<CachePadded<WorkerCounters>>,
    pub(super) run_queue: RunQueue,
    /// Where woken and spawned tasks go.
    pub(super) placement: Placement,
    /// Whether they go through the next-task slot.
    has_slot: bool,
    /// Whether there is another worker to notify of new work.
    pub(super) has_others: bool,
    slot_use: SlotUse,
    /// The number of steps until the run queue has only tasks that have run since the future of
    /// `block_on` was polled, and have woken themselves. Kept by a worker that has no slot.
    steps_to_future: Cell<usize>,
    /// Whether the idle set counts the worker as searching.
    pub(super) searching: Cell<bool>,
    /// The state of the random numbers by which the worker chooses victims.
    random: Cell<u32>,
    /// Whether tasks are made ready by the driver, after which one other worker is notified.
    in_driver: Cell<bool>,
    /// Whether the worker runs in the loop of a thread. If the caller steps it, any time may pass
    /// between two steps. So the time that steps take does not set the length of a tick then, and
    /// the worker neither yields its processor before a park nor steals from next-task slots.
    pub(super) is_free_running: Cell<bool>,
}

/// How long a searcher waits before it takes a task from another worker's slot.
const SLOT_WAIT: Duration = Duration::from_micros(3);
/// The number of spin hints between two readings of the clock in that time.
const SPINS_PER_CHECK: u32 = 16;

impl Queues {
    pub(super) fn new(
        shared: Arc<Shared>,
        index: usize,
        queue: Owner<Task>,
        placement: Placement,
    ) -> Self {
        let has_others = shared.remotes.len() > 1;
        Self {
            counters: shared.remotes[index].counters.clone(),
            run_queue: RunQueue::new(queue, has_others),
            placement,
            has_slot: placement == Placement::NextTaskSlot && shared.config.next_task_slot,
            has_others,
            slot_use: SlotUse::default(),
            steps_to_future: Cell::new(0),
            searching: Cell::new(false),
            random: Cell::new((index as u32 + 1).wrapping_mul(0x9E37_79B9)),
            in_driver: Cell::new(false),
            is_free_running: Cell::new(false),
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
    pub(super) fn number(&self) -> usize {
        self.shared.first_worker + self.index
    }

    /// Calls the observer, if there is one, with the worker's number.
    #[inline]
    pub(super) fn notify_observer(&self, call: impl FnOnce(&dyn Observer, usize)) {
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
            .or_else(|| self.take_injected(self.placement.batch()))
    }

    /// Takes the task to run next out of the slot.
    #[inline]
    fn take_slot(&self) -> Option<Task> {
        let slot = &self.remote().slot;
        if self.has_others {
            return slot.take();
        }
        // SAFETY: only this worker puts tasks in, and only other workers of the
        // scheduler take any but their own; there are none.
        unsafe { slot.take_exclusive() }
    }

    /// The task to run after that of the slot.
    #[inline]
    fn take_own(&self) -> Option<Task> {
        self.run_queue
            .pop(&self.counters)
            .or_else(|| self.take_slot())
    }

    /// A task from anywhere but other workers, in no particular order.
    pub(crate) fn take_any(&self) -> Option<Task> {
        self.take_own().or_else(|| self.shared.injection.pop())
    }

    /// A task of another worker, when the scheduler shuts down: from wherever it waits for a
    /// poll to return.
    pub(crate) fn take_from_others(&self) -> Option<Task> {
        let others = self.shared.remotes.iter().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks, into
    /// the local queue, and returns the first.
    pub(super) fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shared.injection;
        let share = injection.len() / self.shared.remotes.len() + 1;
        let limit = limit.min(share).min(raddle_queue::local::CAPACITY / 2);
        let taken = injection.pop_into(limit, self.run_queue.owner())?;
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
            .or_else(|| self.take_injected(self.placement.batch()))
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
            for _ in 0..SPINS_PER_CHECK {
                if remote.slot.is_empty() || remote.counters.polls.get() != polls {
                    return None;
                }
                // No other worker is woken for a task from outside while this one searches.
                if !self.shared.injection.is_empty() {
                    return self.take_injected(self.placement.batch());
                }
                hint::spin_loop();
            }
        }
        let task = remote.slot.take()?;
        self.counters.count_steal(1);
        let victim = self.shared.first_worker + victim;
        self.notify_observer(|observer, worker| observer.tasks_stolen(worker, victim, 1));
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
        let stealer = &self.shared.remotes[victim].stealer;
        match stealer.steal_into(self.run_queue.owner(), |n| n.div_ceil(2)) {
            Some(stolen) => {
                let count = 1 + stolen.moved;
                self.counters.count_steal(count);
                if stolen.moved > 0 {
                    // The end of the search has the fence.
                    self.shared.stealable.insert(self.index);
                }
                let victim = self.shared.first_worker + victim;
                self.notify_observer(|observer, worker| {
                    observer.tasks_stolen(worker, victim, count);
                });
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
        // Another worker is to wait in the driver.
        self.shared.notify();
    }
}

/// Queueing tasks.
impl Queues {
    /// Queues a task that was spawned on this worker: to be run next, unless
    /// there is such a task already. To replace that one would cost a
    /// read-modify-write, and many tasks spawned at once would run in an order
    /// of their own.
    #[inline]
    pub(crate) fn schedule_new(&self, task: Task) {
        self.counters.spawned.add(1);
        self.counters.local_schedules.add(1);
        let slot = &self.remote().slot;
        if !self.has_slot || !slot.is_empty() {
            self.push_back(task);
            return self.put_behind_queue();
        }
        // SAFETY: only the thread that runs the worker puts tasks in its slot.
        let former = unsafe { slot.put_exclusive(task) };
        debug_assert!(former.is_none(), "others only empty the slot");
        self.elect_monitor_of_slot();
    }

    /// Queues a task that was woken on this worker: to be run next, while what
    /// it needs is in the cache.
    #[inline]
    pub(crate) fn schedule(&self, task: Task) {
        self.counters.local_schedules.add(1);
        if !self.has_slot || self.should_queue_behind_wakers(&task) {
            self.push_back(task);
            return self.put_behind_queue();
        }
        // SAFETY: only the thread that runs the worker puts tasks in its slot.
        if let Some(former) = unsafe { self.remote().slot.put_exclusive(task) } {
            self.push_back(former);
        }
        self.elect_monitor_of_slot();
    }

    /// Queues a task that was woken while it ran, behind all others. If there are no others it
    /// runs next, and no worker is notified: a worker woken for it would find it gone. The next
    /// push notifies.
    #[inline]
    pub(super) fn requeue(&self, task: Task) {
        self.counters.local_schedules.add(1);
        let is_alone = self.run_queue.is_empty() && self.remote().slot.is_empty();
        if self.placement != Placement::NextTaskSlot || !is_alone {
            return self.push_back(task);
        }
        let _not_notified = self.push_needs_notify(task);
        self.run_queue.force_notify();
        self.elect_monitor_of_slot();
    }

    /// Whether a task is woken over and over, and no other, while others
    /// wait: they are likely to wake it too, as what it joins or receives from.
    /// Behind them it is polled once for them all, instead of once for each.
    #[inline]
    fn should_queue_behind_wakers(&self, task: &Task) -> bool {
        self.slot_use.is_woken_again(task.0.id()) && !self.run_queue.is_empty()
    }

    /// Queues a task behind the others.
    #[inline]
    fn push_back(&self, task: Task) {
        match self.placement {
            Placement::NextTaskSlot => {
                if self.push_needs_notify(task) && !self.in_driver.get() {
                    self.notify_of_push();
                }
            }
            // The worker is the only one of its scheduler, so it notifies no other.
            Placement::RunQueue => self.run_queue.push_in_order(task, &self.counters),
            Placement::InjectionQueue => self.push_common(task),
        }
    }

    /// Queues a task in the injection queue, as a worker does that has no queue of its own.
    #[cold]
    fn push_common(&self, task: Task) {
        self.shared.push_common(task);
        if self.has_others && !self.in_driver.get() {
            self.shared.notify();
        }
    }

    #[inline]
    pub(super) fn push_needs_notify(&self, task: Task) -> bool {
        self.run_queue.push_needs_notify(task, &Overflowing(self))
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

    /// Elects a monitor if workers are parked and none of them is the monitor. No worker is woken
    /// for the task in the slot: before the present poll returns, only a worker that searches for
    /// another reason takes it, or the monitor, if it finds this worker stuck.
    #[inline]
    fn elect_monitor_of_slot(&self) {
        if self.has_others && !self.in_driver.get() && self.shared.idle.lacks_monitor() {
            self.shared.elect_monitor();
        }
    }
}

/// The turn of the future of `block_on`.
impl Queues {
    /// Has the future wait for all tasks in the run queue.
    #[inline]
    pub(crate) fn put_behind_queue(&self) {
        if self.placement == Placement::RunQueue {
            self.steps_to_future.set(self.run_queue.len());
        }
    }

    /// Notes that a step begins.
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
    /// How many tasks are where the worker queues those that it wakes.
    pub(super) fn queued_len(&self) -> usize {
        match self.placement {
            Placement::NextTaskSlot | Placement::RunQueue => self.run_queue.len(),
            Placement::InjectionQueue => self.shared.injection.len(),
        }
    }

    /// Whether there is something to run that the worker has queued.
    pub(super) fn has_queued(&self) -> bool {
        match self.placement {
            Placement::NextTaskSlot | Placement::RunQueue => {
                !self.run_queue.is_empty() || self.has_next()
            }
            Placement::InjectionQueue => !self.shared.injection.is_empty(),
        }
    }

    /// Whether there is a task in the slot.
    pub(super) fn has_next(&self) -> bool {
        !self.remote().slot.is_empty()
    }

    /// Whether there is more of it than the worker runs next.
    fn has_more_queued(&self) -> bool {
        match self.placement {
            Placement::NextTaskSlot | Placement::RunQueue => !self.run_queue.is_empty(),
            Placement::InjectionQueue => self.shared.injection.len() > 1,
        }
    }
}

/// What the driver makes ready.
impl Queues {
    /// Waits in the driver at most for `timeout`. It makes tasks ready without a notification
    /// for each.
    pub(crate) fn run_driver(&self, driver: &mut BoxedDriver, timeout: Option<Duration>) {
        self.notify_observer(|observer, worker| observer.driver_started(worker, timeout));
        self.park_in_driver(driver, timeout);
        self.notify_observer(|observer, worker| {
            observer.driver_finished(worker, driver.last_turn());
        });
    }

    fn park_in_driver(&self, driver: &mut BoxedDriver, timeout: Option<Duration>) {
        self.in_driver.set(true);
        // Also by a panic of the driver.
        let _out = guard((), |()| self.in_driver.set(false));
        // As many events as the queue has room for. A full queue takes one nevertheless, lest
        // tasks that are always ready keep the events out for ever. One that stays empty, since
        // the tasks go elsewhere, gives its size.
        driver.park(timeout, self.run_queue.room().max(1));
    }

    /// Wakes another worker if events made more tasks ready than this one runs next.
    pub(super) fn notify_of_events(&self) {
        if !self.has_others || !self.has_more_queued() {
            return;
        }
        match self.placement {
            Placement::InjectionQueue => self.shared.notify(),
            Placement::NextTaskSlot | Placement::RunQueue => self.shared.notify_of_push(self.index),
        }
    }
}

/// Passes tasks on to the injection queue, and counts that.
struct Overflowing<'a>(&'a Queues);

impl Overflow<Task> for Overflowing<'_> {
    fn push_batch(&self, tasks: impl Iterator<Item = Task>) {
        self.0.counters.overflows.add(1);
        Overflow::push_batch(&*self.0.shared.injection, tasks);
    }
}
