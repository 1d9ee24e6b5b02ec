//! The run queues that are compared, and their loads.

mod load;

use crossbeam_deque::Steal;

pub use load::{BATCH, Load, Measured};

/// An item of a queue: one pointer, like a task.
pub type Item = Box<u64>;

/// The end of a first-in, first-out queue that pushes and pops, with room for at least 256 items.
pub trait Queue: Sized {
    /// The queue's name in tables.
    const NAME: &'static str;

    /// The end that takes items from the owner.
    type Stealer: Send;

    /// Makes an empty queue.
    fn new() -> (Self, Self::Stealer);

    /// Adds an item at the tail, or returns it if there is no room.
    fn push(&self, item: Item) -> Result<(), Item>;

    /// Takes the oldest item.
    fn pop(&self) -> Option<Item>;

    /// Moves about half of a queue into `self`, except for one item, which it returns.
    fn steal_from(&self, stealer: &Self::Stealer) -> Option<Item>;
}

impl Queue for raddle_queue::Owner<Item> {
    const NAME: &'static str = "raddle-queue";
    type Stealer = raddle_queue::Stealer<Item>;

    fn new() -> (Self, Self::Stealer) {
        raddle_queue::local::new()
    }

    #[inline]
    fn push(&self, item: Item) -> Result<(), Item> {
        self.try_push(item).map(drop)
    }

    #[inline]
    fn pop(&self) -> Option<Item> {
        self.pop()
    }

    #[inline]
    fn steal_from(&self, stealer: &Self::Stealer) -> Option<Item> {
        Some(stealer.steal_into(self, |n| n.div_ceil(2))?.first)
    }
}

impl Queue for crossbeam_deque::Worker<Item> {
    const NAME: &'static str = "crossbeam-deque";
    type Stealer = crossbeam_deque::Stealer<Item>;

    fn new() -> (Self, Self::Stealer) {
        let worker = Self::new_fifo();
        let stealer = worker.stealer();
        (worker, stealer)
    }

    #[inline]
    fn push(&self, item: Item) -> Result<(), Item> {
        self.push(item);
        Ok(())
    }

    #[inline]
    fn pop(&self) -> Option<Item> {
        self.pop()
    }

    #[inline]
    fn steal_from(&self, stealer: &Self::Stealer) -> Option<Item> {
        match stealer.steal_batch_and_pop(self) {
            Steal::Success(item) => Some(item),
            Steal::Empty | Steal::Retry => None,
        }
    }
}

impl Queue for st3::fifo::Worker<Item> {
    const NAME: &'static str = "st3";
    type Stealer = st3::fifo::Stealer<Item>;

    fn new() -> (Self, Self::Stealer) {
        let worker = Self::new(raddle_queue::local::CAPACITY);
        let stealer = worker.stealer();
        (worker, stealer)
    }

    #[inline]
    fn push(&self, item: Item) -> Result<(), Item> {
        self.push(item)
    }

    #[inline]
    fn pop(&self) -> Option<Item> {
        self.pop()
    }

    #[inline]
    fn steal_from(&self, stealer: &Self::Stealer) -> Option<Item> {
        let (item, _) = stealer.steal_and_pop(self, |len| len - len / 2).ok()?;
        Some(item)
    }
}

#[cfg(test)]
mod tests;
