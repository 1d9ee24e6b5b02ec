//! The run queues that are compared, and their loads.

use std::hint;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_deque::Steal;
use crossbeam_utils::CachePadded;

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

/// The number of items that the owner pushes before it pops. A bounded queue of 256 has room for
/// them even while a stealer still holds half of the batch before. crossbeam-deque keeps its first
/// buffer with this number; otherwise it would grow and shrink the buffer in each batch.
const BATCH: usize = 64;

/// Which threads take from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Only the owner uses the queue: it pushes and pops.
    Owner,
    /// The owner pushes and pops, while another thread steals without a break and pops the stolen
    /// items.
    Stealer,
}

/// The result of one run: the time from the first push until all items were popped, and the number
/// of items that the stealer popped.
pub type Measured = (Duration, usize);

impl Load {
    /// Both loads, in the order of tables, and their names.
    pub const ALL: [(Self, &str); 2] = [
        (Self::Owner, "owner alone"),
        (Self::Stealer, "with a stealer"),
    ];

    /// Passes `items` items through a queue, in batches. Their boxes are allocated before the
    /// measurement and freed after it.
    pub fn run<Q: Queue>(self, items: usize) -> Measured {
        let (owner, stealer) = Q::new();
        let supply = (0..items as u64).map(Box::new).collect();
        let mut popped = Vec::with_capacity(items);
        let (time, stolen) = match self {
            Self::Owner => {
                let start = Instant::now();
                push_and_pop(&owner, supply, &mut popped);
                (start.elapsed(), Vec::new())
            }
            Self::Stealer => beside_a_stealer(&owner, stealer, supply, &mut popped),
        };
        check(items, popped.iter().chain(&stolen));
        (time, stolen.len())
    }
}

/// The stealer's data is on its own stack, or in cache lines that the owner does not write.
/// Otherwise the two would share words of the benchmark, whose cost differs between processes and
/// outweighs the cost of the queue's words.
fn beside_a_stealer<Q: Queue>(
    owner: &Q,
    stealer: Q::Stealer,
    supply: Vec<Item>,
    popped: &mut Vec<Item>,
) -> (Duration, Vec<Item>) {
    let items = supply.len();
    let at_work = AtomicBool::new(false);
    let emptied = CachePadded::new(AtomicBool::new(false));
    let (at_work, emptied) = (&at_work, &*emptied);
    thread::scope(|scope| {
        let stealing = scope.spawn(move || {
            let (own, _) = Q::new();
            let stealer = stealer;
            let mut stolen = Vec::with_capacity(items);
            // ORDERING: Relaxed: it only says that this thread runs.
            at_work.store(true, Ordering::Relaxed);
            steal_and_pop(&own, &stealer, &mut stolen, emptied);
            (Instant::now(), stolen)
        });
        // ORDERING: as above.
        while !at_work.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        let start = Instant::now();
        push_and_pop(owner, supply, popped);
        // ORDERING: pairs with the load in `steal_and_pop`: the queue stays empty from now on.
        emptied.store(true, Ordering::Release);
        let owner_end = Instant::now();
        let (stealer_end, stolen) = stealing.join().expect("the stealer ends");
        (owner_end.max(stealer_end) - start, stolen)
    })
}

fn push_and_pop<Q: Queue>(queue: &Q, mut supply: Vec<Item>, popped: &mut Vec<Item>) {
    while !supply.is_empty() {
        let batch = supply.len().saturating_sub(BATCH);
        for mut item in supply.drain(batch..) {
            while let Err(back) = queue.push(item) {
                // A stealer that was preempted holds the items that it has claimed.
                thread::yield_now();
                item = back;
            }
        }
        popped.extend(iter::from_fn(|| queue.pop()));
    }
}

fn steal_and_pop<Q: Queue>(
    own: &Q,
    stealer: &Q::Stealer,
    stolen: &mut Vec<Item>,
    emptied: &AtomicBool,
) {
    loop {
        if let Some(item) = own.steal_from(stealer) {
            stolen.push(item);
            stolen.extend(iter::from_fn(|| own.pop()));
        // ORDERING: pairs with the store after the owner's last pop.
        } else if emptied.load(Ordering::Acquire) {
            return;
        } else {
            hint::spin_loop();
        }
    }
}

fn check<'a>(items: usize, popped: impl Iterator<Item = &'a Item>) {
    let mut seen = vec![false; items];
    let mut count = 0;
    for item in popped {
        let before = std::mem::replace(&mut seen[**item as usize], true);
        assert!(!before, "item {item} was popped twice");
        count += 1;
    }
    assert_eq!(count, items, "an item was lost");
}

#[cfg(test)]
mod tests;
