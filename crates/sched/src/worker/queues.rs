//! The queues of one worker: its next-task slot, its run queue and its backlog, what goes there,
//! and in which order it takes tasks from them and from the injection queue.

use std::cell::Cell;

use crate::counters::WorkerCounters;
use crate::events::Observer;
use raddle_primitives::CachePadded;
use raddle_primitives::sync::Arc;
use raddle_queue::local::CAPACITY;
use raddle_queue::{Injection, Overflow, Owner};

use super::monitoring;
use super::next_task::SlotUse;
use super::root_future::RootFuture;
use super::shard::{Peer, Shard};
use crate::config::policy::Policy;
use crate::task::Task;

/// The queues of a worker, as the thread that drives the worker uses them.
pub(crate) struct Queues {
    pub(crate) shard: Arc<Shard>,
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
    /// Kept by a worker that has no slot.
    pub(crate) root_future: RootFuture,
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
    pub(super) random: Cell<u32>,
    /// Whether tasks are made ready by the driver, after which one other worker is notified.
    pub(super) in_driver: Cell<bool>,
}

impl Queues {
    pub(super) fn new(shard: Arc<Shard>, index: usize, queue: Owner<Task>) -> Self {
        let policy = shard.config.policy;
        let has_others = shard.peers.len() > 1;
        Self {
            counters: shard.peers[index].counters.clone(),
            run_queue: queue,
            force_notify: Cell::new(false),
            backlog: Injection::with_name("backlog of a worker"),
            policy,
            has_slot: policy == Policy::WorkStealing && shard.config.next_task_slot,
            has_others,
            slot_use: SlotUse::default(),
            root_future: RootFuture::default(),
            is_free_running: Cell::new(false),
            searching: Cell::new(false),
            defers_election: Cell::new(false),
            random: Cell::new((index as u32 + 1).wrapping_mul(0x9E37_79B9)),
            in_driver: Cell::new(false),
            shard,
            index,
        }
    }

    #[inline]
    pub(crate) fn peer(&self) -> &Peer {
        &self.shard.peers[self.index]
    }

    /// Which of all workers of the scheduler it is.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        self.shard.first_worker + self.index
    }

    /// Calls the observer, if there is one, with the worker's number.
    #[inline]
    pub(crate) fn notify_observer(&self, call: impl FnOnce(&dyn Observer, usize)) {
        let number = self.number();
        self.shard.config.notify(|observer| call(observer, number));
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
        let slot = &self.peer().slot;
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
        self.take_own().or_else(|| self.shard.injection.pop())
    }

    /// Takes a task of another worker, when the scheduler shuts down: the task waits in the slot or
    /// the queue of that worker for a poll to return.
    pub(crate) fn take_from_others(&self) -> Option<Task> {
        let others = self.shard.peers.iter().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks: returns the first, and
    /// moves the others to the run queue.
    pub(super) fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shard.injection;
        let share = injection.len() / self.shard.peers.len() + 1;
        let limit = limit.min(share).min(CAPACITY / 2);
        let taken = injection.pop_into(limit, &self.run_queue)?;
        self.delay_root_future();
        // While a batch moves, it is in no queue, and a searcher may have parked meanwhile. A
        // worker that searches itself notifies when it runs the first task.
        if taken.moved > 0 && self.has_others {
            match self.searching.get() {
                true => self.shard.stealable.insert(self.index),
                false => self.shard.notify_of_push(self.index),
            }
        }
        Some(taken.first)
    }

    /// Gives the worker's tasks to the others, when it retires early: a hook or the driver
    /// panicked on it, or the caller who stepped it has dropped it.
    pub(crate) fn abandon(&self) {
        if self.searching.take() {
            // Whether or not it was the last searcher, a worker is woken below.
            let _ = self.shard.idle.end_search(self.index);
        }
        self.shard.idle.remove(self.index);
        let tasks = std::iter::from_fn(|| self.take_own());
        tasks.for_each(|task| self.shard.inject(task));
        // Another worker has to wait in the driver.
        self.shard.notify();
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
        let slot = &self.peer().slot;
        if !self.has_slot || !slot.is_empty() {
            self.push_back(task);
            return self.delay_root_future();
        }
        // SAFETY: only the thread that drives the worker puts tasks into its slot, and one thread
        // at a time drives it. The next one sees what this one has put there, as in `take_slot`.
        let former = unsafe { slot.put_exclusive(task) };
        debug_assert!(former.is_none(), "others only empty the slot");
        monitoring::elect_deferred(self);
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
            return self.delay_root_future();
        }
        // SAFETY: as in `schedule_new`.
        if let Some(former) = unsafe { self.peer().slot.put_exclusive(task) } {
            self.push_back(former);
        }
        monitoring::elect_deferred(self);
    }

    /// Queues a task that was woken while it ran, behind all others. If there are no others it
    /// runs next, and no worker is notified: a worker woken for it would find it gone. The next
    /// push notifies.
    #[inline]
    pub(super) fn requeue(&self, task: Task) {
        self.counters.local_schedules.add(1);
        let is_alone = self.run_queue.is_empty() && self.peer().slot.is_empty();
        if self.policy != Policy::WorkStealing || !is_alone {
            return self.push_back(task);
        }
        let _not_notified = self.push_needs_notify(task);
        self.force_notify.set(true);
        monitoring::elect_deferred(self);
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
        if let Err(task) = self.shard.injection.push(task) {
            drop(self.shard.cancel(task));
        }
        if self.has_others && !self.in_driver.get() {
            self.shard.notify();
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
    pub(super) fn notify_of_push(&self) {
        if self.has_others {
            self.shard.notify_of_push(self.index);
        }
    }

    /// Moves the task of the slot to the queue, where others can take it.
    pub(crate) fn empty_slot_into_queue(&self) {
        if let Some(task) = self.peer().slot.take() {
            if self.push_needs_notify(task) {
                self.notify_of_push();
            }
        }
    }

    /// Makes the future of `block_on` wait for all tasks in the run queue.
    #[inline]
    pub(crate) fn delay_root_future(&self) {
        if self.policy == Policy::Sharded {
            self.root_future.wait_for(self.queued_len());
        }
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
            Policy::Shared => self.shard.injection.len(),
        }
    }

    /// Whether there is something to run that the worker has queued.
    pub(super) fn has_queued(&self) -> bool {
        !self.run_queue.is_empty()
            || !self.backlog.is_empty()
            || self.has_next()
            || self.policy == Policy::Shared && !self.shard.injection.is_empty()
    }

    /// Whether there are ready tasks, and all of them have run since the future of `block_on` was
    /// polled and have woken themselves.
    pub(crate) fn has_only_requeued(&self) -> bool {
        self.root_future.is_due() && !self.run_queue.is_empty() && self.shard.injection.is_empty()
    }

    /// Whether there is a task in the slot.
    pub(super) fn has_next(&self) -> bool {
        !self.peer().slot.is_empty()
    }
}

/// A full run queue passes tasks on to the injection queue.
impl Overflow<Task> for Queues {
    fn push_batch(&self, tasks: impl Iterator<Item = Task>) {
        self.counters.overflows.add(1);
        Overflow::push_batch(&*self.shard.injection, tasks);
    }
}
