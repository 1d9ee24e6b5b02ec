//! The queues of one worker: its next-task slot, its run queue and its backlog, what goes there,
//! and in which order it takes tasks from them and from the injection queue.

use std::cell::Cell;

use crate::counters::WorkerCounters;
use crate::events::Observer;
use raddle_primitives::CachePadded;
use raddle_primitives::sync::Arc;
use raddle_queue::local::CAPACITY;
use raddle_queue::{Injection, Overflow, Owner};

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
    /// Whether other workers may take from the slot and the run queue.
    is_shared: Cell<bool>,
    /// Whether `is_shared` changes.
    checks_sharing: bool,
    /// Whether there is another worker to notify of new work.
    pub(super) has_others: bool,
    /// Whether it is a spare worker.
    pub(crate) is_spare: bool,
    slot_use: SlotUse,
    /// Kept by a worker that has no slot.
    pub(crate) root_future: RootFuture,
    /// Whether the worker runs in the loop of a thread. If it is stepped, any time may pass between
    /// two steps. So it does nothing then that depends on the time: it does not scale its ticks,
    /// yield its processor before a park, or steal from next-task slots.
    pub(super) is_free_running: Cell<bool>,
    /// Whether the idle set counts the worker as searching.
    pub(super) searching: Cell<bool>,
    /// The state of the random numbers by which the worker chooses victims.
    pub(super) random: Cell<u32>,
    /// Another worker, and the number of its polls when this one last polled the driver. At first
    /// it is this one.
    pub(super) watched: Cell<(usize, u64)>,
    /// Set while the driver makes tasks ready: where they are queued. One other worker is notified
    /// afterwards.
    pub(super) in_driver: Cell<Option<EventOrder>>,
}

/// Where a task is queued that the driver makes ready.
#[derive(Clone, Copy)]
pub(super) enum EventOrder {
    /// Behind the tasks that wait: first come, first served.
    Behind,
    /// The first one in the slot, because those that wait have slow polls, or have yielded.
    Next,
}

impl Queues {
    pub(super) fn new(shard: Arc<Shard>, index: usize, queue: Owner<Task>) -> Self {
        let policy = shard.config.policy;
        let is_spare = index >= shard.peers.len();
        let has_others = shard.peers.len() > 1 || is_spare;
        Self {
            counters: shard.peer(index).counters.clone(),
            run_queue: queue,
            force_notify: Cell::new(false),
            backlog: Injection::with_name("backlog of a worker"),
            policy,
            has_slot: policy == Policy::WorkStealing && shard.config.next_task_slot,
            is_shared: Cell::new(has_others || shard.spares.max() > 0),
            checks_sharing: shard.sharing.is_some() && !is_spare,
            has_others,
            is_spare,
            slot_use: SlotUse::default(),
            root_future: RootFuture::default(),
            is_free_running: Cell::new(false),
            searching: Cell::new(false),
            random: Cell::new((index as u32 + 1).wrapping_mul(0x9E37_79B9)),
            watched: Cell::new((index, 0)),
            in_driver: Cell::new(None),
            shard,
            index,
        }
    }

    #[inline]
    pub(crate) fn peer(&self) -> &Peer {
        self.shard.peer(self.index)
    }

    /// Which of all workers of the scheduler it is.
    #[inline]
    pub(crate) fn number(&self) -> usize {
        self.shard.first_worker + self.index
    }

    /// Calls the observer, if there is one, with the worker's number.
    #[inline]
    pub(crate) fn notify_observer(&self, call: impl Fn(&dyn Observer, usize)) {
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

    /// Records that the worker is in no poll, and finds out how it takes its tasks. Called when a
    /// poll has ended on the thread that drives the worker, and when a thread begins to drive it.
    #[inline]
    pub(crate) fn end_poll(&self) {
        if let (true, Some(sharing)) = (self.checks_sharing, &self.shard.sharing) {
            self.counters.ended.set(self.counters.polls.get());
            self.is_shared.set(!sharing.end_poll());
        }
    }

    /// Takes the task to run next out of the slot.
    #[inline]
    fn take_slot(&self) -> Option<Task> {
        let slot = &self.peer().slot;
        if self.is_shared.get() {
            return slot.take();
        }
        // SAFETY: only the thread that drives this worker puts tasks into the slot, and only
        // threads that drive workers of the scheduler take them. This is the only worker, except
        // for spare ones, which take none now (`sharing.rs`), and one thread at a time drives it.
        // The next one gets it under a lock (`HandoffSlot`, `Retirement` or that of a
        // `CurrentThread`) or as a `Worker` that its owner sends, so it sees what this thread has
        // done to the slot.
        unsafe { slot.take_exclusive() }
    }

    /// The task to run after that of the slot: the oldest of the run queue, or else of the backlog.
    #[inline]
    fn take_own(&self) -> Option<Task> {
        let own = match self.is_shared.get() {
            true => self.run_queue.pop(),
            // SAFETY: only threads that drive other workers of the scheduler steal, and there are
            // no others, or they steal nothing now (`sharing.rs`). The thread that drives this
            // worker next sees what this one has done to the queue, as in `take_slot`.
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
        let others = self.shard.all_peers().enumerate();
        others
            .filter(|&(victim, _)| victim != self.index)
            // The queue of the only worker is shared with active spare workers only.
            .filter(|&(victim, _)| victim > 0 || self.shard.sharing.is_none())
            .find_map(|(_, other)| other.slot.take().or_else(|| other.stealer.steal()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks: returns the first, and
    /// moves the others to the run queue.
    pub(super) fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shard.injection;
        if self.is_spare && !self.may_take_injected() {
            return None;
        }
        let share = injection.len() / self.shard.peers.len() + 1;
        let limit = limit.min(share).min(CAPACITY / 2);
        let taken = injection.pop_into(limit, &self.run_queue)?;
        self.delay_root_future();
        if taken.moved > 0 && self.has_others {
            self.notify_of_moved();
        }
        Some(taken.first)
    }

    /// Notifies of a batch that was moved to the run queue: while it moved, it was in no queue, and
    /// a searcher may have parked meanwhile. A worker that searches itself notifies when it runs
    /// the first task.
    pub(super) fn notify_of_moved(&self) {
        match self.searching.get() {
            true => self.shard.stealable.insert(self.index),
            false => self.shard.notify_of_push(self.index),
        }
    }

    /// Gives the worker's tasks to the others, when a spare worker leaves, or when a worker retires
    /// early: a hook or the driver panicked on it, or the caller who stepped it has dropped it.
    pub(crate) fn abandon(&self) {
        if self.searching.take() {
            // Whether or not it was the last searcher, a worker is woken below.
            let _is_last = self.shard.idle.end_search(self.index);
        }
        if !self.is_spare {
            self.shard.idle.remove(self.index);
        }
        let tasks = std::iter::from_fn(|| self.take_own());
        tasks.for_each(|task| self.shard.push_back(task));
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
    }

    /// Queues a task that was woken on this worker: to be run next, while the data that it needs is
    /// in the cache.
    #[inline]
    pub(crate) fn schedule(&self, task: Task) {
        self.counters.local_schedules.add(1);
        let goes_behind = || {
            // A task that is woken several times in a row, and no other, is probably woken by the
            // tasks in the queue: it joins them or receives from them. Behind them it is polled
            // once for them all, instead of once for each.
            let is_woken_again = self.slot_use.is_woken_again(task.0.id());
            match self.in_driver.get() {
                None => is_woken_again && !self.run_queue.is_empty(),
                Some(EventOrder::Next) => self.has_next(),
                Some(EventOrder::Behind) => self.has_next() || self.has_tasks_and_room(),
            }
        };
        if !self.has_slot || goes_behind() {
            self.push_back(task);
            return self.delay_root_future();
        }
        // SAFETY: as in `schedule_new`.
        if let Some(former) = unsafe { self.peer().slot.put_exclusive(task) } {
            self.push_back(former);
        }
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
    }

    /// Queues a task behind the others.
    // `inline` alone was not enough: the call cost each yield of a task 5 % more instructions.
    #[inline(always)]
    fn push_back(&self, task: Task) {
        match self.policy {
            Policy::WorkStealing => {
                if self.push_needs_notify(task) && self.in_driver.get().is_none() {
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
        self.shard.push_back(task);
        if self.has_others && self.in_driver.get().is_none() {
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

    /// Whether the driver is for this worker: while there is an attendant, it is for that one.
    pub(super) fn may_poll_driver(&self) -> bool {
        let attendant = self.shard.spares.attendant();
        attendant.map_or(!self.is_spare, |spare| {
            self.index == self.shard.peers.len() + spare
        })
    }

    /// Has the attendant wait in the driver, which this worker has given back.
    pub(super) fn call_attendant(&self) {
        let attendant = self.shard.spares.attendant();
        let attendant = attendant.map(|spare| self.shard.peers.len() + spare);
        if let Some(attendant) = attendant.filter(|attendant| *attendant != self.index) {
            self.shard.unpark(attendant);
        }
    }

    /// The calling thread drives the worker, a spare one, from now on.
    pub(crate) fn begin_as_spare(&self) {
        let spares = &self.shard.spares;
        spares.begin(self.index - self.shard.peers.len());
    }

    /// No thread drives the worker, a spare one, any more.
    pub(crate) fn end_as_spare(&self) {
        let spares = &self.shard.spares;
        spares.end(self.index - self.shard.peers.len());
    }

    /// Whether the worker, a spare one, was asked to leave.
    pub(super) fn should_leave(&self) -> bool {
        self.shard.spare_of(self.index).is_leaving()
    }

    /// Whether the worker, a spare one, has to stop parking.
    pub(super) fn is_called_or_leaving(&self) -> bool {
        let spare = self.shard.spare_of(self.index);
        spare.is_called() || spare.is_leaving()
    }

    /// Whether there are ready tasks, and all of them have run since the future of `block_on` was
    /// polled and have woken themselves.
    pub(crate) fn has_only_requeued(&self) -> bool {
        self.root_future.is_due() && !self.run_queue.is_empty() && self.shard.injection.is_empty()
    }

    /// Whether another task fits into the queue behind others.
    fn has_tasks_and_room(&self) -> bool {
        let room = self.run_queue.room();
        room > 0 && room < CAPACITY
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
