//! The run queue of a worker, and the backlog of one that keeps its tasks in order.

use std::cell::Cell;

use raddle_counters::WorkerCounters;
use raddle_queue::local::CAPACITY;
use raddle_queue::{Injection, Overflow, Owner};

use crate::task::Task;

/// What a worker has queued, beside its next-task slot.
pub(super) struct RunQueue {
    queue: Owner<Task>,
    /// Whether the next push needs a notification, whatever it finds: tasks were put there
    /// without one.
    force_notify: Cell<bool>,
    /// What a full queue leaves behind that is kept in order.
    backlog: Injection<Task>,
    /// Whether other workers steal from the queue.
    has_stealers: bool,
}

impl RunQueue {
    pub(super) fn new(queue: Owner<Task>, has_stealers: bool) -> Self {
        Self {
            queue,
            force_notify: Cell::new(false),
            backlog: Injection::with_name("backlog of a worker"),
            has_stealers,
        }
    }

    /// Where stolen and injected tasks go.
    pub(super) fn owner(&self) -> &Owner<Task> {
        &self.queue
    }

    /// Puts a task into the queue, from which other workers can steal it. Returns whether a
    /// worker must be notified. It need not be if the queue has held work since the last
    /// push that notified: a worker that has looked since then has found some.
    #[inline]
    pub(super) fn push_needs_notify(&self, task: Task, overflow: &impl Overflow<Task>) -> bool {
        let pushed = self.queue.push(task, overflow);
        let is_forced = self.force_notify.replace(false);
        pushed.was_empty || pushed.was_stolen_from || pushed.overflowed || is_forced
    }

    /// Has the next push notify.
    pub(super) fn force_notify(&self) {
        self.force_notify.set(true);
    }

    /// Queues a task behind the others also when the queue is full.
    pub(super) fn push_in_order(&self, task: Task, counters: &WorkerCounters) {
        let pushed = match self.backlog.is_empty() {
            true => self.queue.try_push(task),
            false => Err(task),
        };
        if let Err(task) = pushed {
            let pushed = self.backlog.push(task);
            debug_assert!(pushed.is_ok(), "a backlog is never closed");
            counters.backlog.set(self.backlog.len() as u64);
        }
    }

    /// Takes the oldest task of the queue, or else of the backlog, the next of
    /// which move up.
    #[inline]
    pub(super) fn pop(&self, counters: &WorkerCounters) -> Option<Task> {
        if self.has_stealers {
            return self.queue.pop();
        }
        // SAFETY: only other workers of the scheduler steal, and there are none.
        unsafe { self.queue.pop_exclusive() }.or_else(|| self.pop_backlog(counters))
    }

    fn pop_backlog(&self, counters: &WorkerCounters) -> Option<Task> {
        if self.backlog.is_empty() {
            return None;
        }
        let taken = self.backlog.pop_into(usize::MAX, &self.queue);
        counters.backlog.set(self.backlog.len() as u64);
        taken.map(|taken| taken.first)
    }

    /// How many more tasks the queue has room for.
    pub(super) fn room(&self) -> usize {
        self.queue.room()
    }

    /// Whether the queue itself is empty.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// How many tasks the queue and the backlog hold.
    #[inline]
    pub(super) fn len(&self) -> usize {
        CAPACITY - self.queue.room() + self.backlog.len()
    }
}
