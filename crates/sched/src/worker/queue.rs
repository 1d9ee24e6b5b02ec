//! The queue of a worker, and where tasks go that it has no room for.

use raddle_queue::Overflow;
use raddle_queue::local::CAPACITY;

use super::Core;
use crate::policy::Order;
use crate::task::Task;

impl Core {
    /// Puts a task into the queue, from which other workers can steal it. Returns whether a
    /// worker must be notified. It need not be if the queue has held work since the last
    /// push that notified: a worker that has looked since then has found some.
    #[inline]
    pub(super) fn push_needs_notify(&self, task: Task) -> bool {
        let pushed = self.queue.push(task, &Overflowing(self));
        let is_forced = self.force_notify.replace(false);
        pushed.was_empty || pushed.was_stolen_from || pushed.overflowed || is_forced
    }

    /// Queues a task behind all others of a worker without a slot.
    pub(super) fn push_by_order(&self, task: Task) {
        match self.order {
            Order::Slot => unreachable!("a worker with a slot displaces its content"),
            Order::Queue => self.push_in_order(task),
            Order::Common => {
                self.shared.push_common(task);
                if self.has_others && !self.in_driver.get() {
                    self.shared.notify();
                }
            }
        }
    }

    /// Queues a task behind the others also when the queue is full. The worker
    /// is the only one of its scheduler, so it notifies no other.
    fn push_in_order(&self, task: Task) {
        let pushed = match self.backlog.is_empty() {
            true => self.queue.try_push(task),
            false => Err(task),
        };
        if let Err(task) = pushed {
            let pushed = self.backlog.push(task);
            debug_assert!(pushed.is_ok(), "a backlog is never closed");
            self.counters.backlog.set(self.backlog.len() as u64);
        }
    }

    /// Takes the oldest task of the queue, or else of the backlog, the next of
    /// which move up.
    #[inline]
    pub(crate) fn pop(&self) -> Option<Task> {
        if self.has_others {
            return self.queue.pop();
        }
        // SAFETY: only other workers of the scheduler steal, and there are none.
        unsafe { self.queue.pop_alone() }.or_else(|| self.pop_backlog())
    }

    fn pop_backlog(&self) -> Option<Task> {
        if self.backlog.is_empty() {
            return None;
        }
        let taken = self.backlog.pop_into(usize::MAX, &self.queue);
        self.counters.backlog.set(self.backlog.len() as u64);
        taken.map(|taken| taken.first)
    }

    /// Leaves what the worker has to the others: a hook or the driver panicked
    /// on it, or whoever stepped it has dropped it.
    pub(crate) fn abandon(&self) {
        if self.searching.replace(false) {
            // Whether or not it was the last, somebody is woken below.
            let _ = self.shared.idle.end_search(self.index);
        }
        self.shared.idle.leave(self.index);
        let tasks = std::iter::from_fn(|| self.take_own());
        tasks.for_each(|task| self.shared.inject(task));
        // Somebody else is to wait in the driver.
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

    /// How many tasks the worker, which has no slot and no others beside it, runs before one that
    /// is queued now.
    pub(crate) fn due_len(&self) -> usize {
        let queued = CAPACITY - self.queue.room();
        queued + self.backlog.len() + self.shared.injection.len()
    }

    /// How many tasks are where the worker queues those that it wakes.
    pub(super) fn queued_len(&self) -> usize {
        match self.order {
            Order::Slot | Order::Queue => CAPACITY - self.queue.room() + self.backlog.len(),
            Order::Common => self.shared.injection.len(),
        }
    }

    /// Whether there is something to run that the worker has queued.
    pub(super) fn made_ready(&self) -> bool {
        match self.order {
            Order::Slot | Order::Queue => !self.queue.is_empty() || !self.remote().slot.is_empty(),
            Order::Common => !self.shared.injection.is_empty(),
        }
    }

    /// Whether there is more of it than the worker runs next.
    pub(super) fn made_more_ready(&self) -> bool {
        match self.order {
            Order::Slot | Order::Queue => !self.queue.is_empty(),
            Order::Common => self.shared.injection.len() > 1,
        }
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
