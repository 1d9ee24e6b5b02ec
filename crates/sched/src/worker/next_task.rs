//! When the next-task slot goes before the run queue.

use std::cell::Cell;

use raddle_task::Id;

/// How many times in a row the next-task slot goes before the queue. The limit keeps two tasks that
/// wake each other from starving the rest.
const STREAK: u32 = 3;

/// What a worker remembers of its slot, to be fair to its queue.
#[derive(Default)]
pub(super) struct SlotUse {
    /// How many times in a row the slot went before the queue.
    streak: Cell<u32>,
    /// The task that was woken last, and how many times in a row it was.
    last_woken: Cell<Option<Id>>,
    last_wakes: Cell<u32>,
}

impl SlotUse {
    /// Whether the slot goes before the queue this time.
    #[inline]
    pub(super) fn is_first(&self) -> bool {
        self.streak.get() < STREAK
    }

    /// Counts a task that was taken from the slot before the queue.
    #[inline]
    pub(super) fn count(&self) {
        self.streak.set(self.streak.get() + 1);
    }

    /// Counts a task that was taken from elsewhere.
    #[inline]
    pub(super) fn restart(&self) {
        self.streak.set(0);
    }

    /// Records that a task was woken. Returns whether it was woken more than [`STREAK`] times in a
    /// row, with no other task in between.
    #[inline]
    pub(super) fn is_woken_again(&self, id: Id) -> bool {
        let id = Some(id);
        let wakes = match self.last_woken.replace(id) == id {
            true => self.last_wakes.get().saturating_add(1),
            false => 1,
        };
        self.last_wakes.set(wakes);
        wakes > STREAK
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
