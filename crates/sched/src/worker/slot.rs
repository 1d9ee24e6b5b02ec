//! The slot of the task to run next.

use super::Core;
use crate::policy::Order;
use crate::task::Task;

/// How many times in a row the next-task slot goes before the queue, so that
/// two tasks that wake each other do not starve the rest.
pub(super) const STREAK: u32 = 3;

impl Core {
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

    /// Queues a task that was spawned on this worker: to be run next, unless
    /// there is such a task already. To displace that one would cost a
    /// read-modify-write, and many tasks spawned at once would run in an order
    /// of their own.
    #[inline]
    pub(super) fn schedule_new(&self, task: Task) {
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

    /// Queues a task that was woken while it ran behind all others. If there are
    /// none it is run next, so that nobody is told of it, but of what is pushed
    /// after it: a thread woken for a task that yields finds it gone.
    #[inline]
    pub(super) fn requeue(&self, task: Task) {
        let is_alone = self.queue.is_empty() && self.remote().slot.is_empty();
        if self.order != Order::Slot || !is_alone {
            return self.push_back(task);
        }
        let _not_notified = self.push_needs_notify(task);
        self.force_notify.set(true);
        self.mind_slot();
    }

    /// Whether a task is woken over and over, and nobody else, while others
    /// wait: they are likely to wake it too, as what it joins or receives from.
    /// Behind them it is polled once for them all, instead of once for each.
    #[inline]
    fn is_woken_by_the_queue(&self, task: &Task) -> bool {
        let id = Some(task.0.id());
        let wakes = match self.last_woken.replace(id) == id {
            true => self.last_wakes.get().saturating_add(1),
            false => 1,
        };
        self.last_wakes.set(wakes);
        wakes > STREAK && !self.queue.is_empty()
    }

    /// Sees to it that somebody looks after the slot, if anybody is idle: a
    /// task there is nobody else's business until the present poll returns.
    #[inline]
    pub(super) fn mind_slot(&self) {
        if self.has_others && !self.in_driver.get() && self.shared.idle.lacks_monitor() {
            self.shared.elect_monitor();
        }
    }
}
