//! The queue of a worker, and where tasks go that it has no room for.

use raddle_queue::Overflow;

use super::Core;
use crate::task::Task;

impl Core {
    /// Puts a task into the queue, for which others can take it.
    #[inline]
    pub(super) fn enqueue(&self, task: Task) {
        self.queue.push(task, &Overflowing(self));
    }

    /// Queues a task behind the others also when the queue is full. The worker
    /// has no other to tell.
    pub(super) fn push_in_order(&self, task: Task) {
        let pushed = match self.backlog.is_empty() {
            true => self.queue.try_push(task),
            false => Err(task),
        };
        if let Err(task) = pushed {
            let pushed = self.backlog.push(task);
            debug_assert!(pushed.is_ok(), "nobody closes a backlog");
            self.counters.backlog.set(self.backlog.len() as u64);
        }
    }

    /// Takes the oldest task of the queue, or else of the backlog, the next of
    /// which move up.
    pub(crate) fn pop(&self) -> Option<Task> {
        self.queue.pop().or_else(|| {
            let mut batch = self.backlog.pop_batch(self.queue.room());
            let first = batch.next();
            batch.for_each(|task| self.queue.push(task, &self.backlog));
            if first.is_some() {
                self.counters.backlog.set(self.backlog.len() as u64);
            }
            first
        })
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
