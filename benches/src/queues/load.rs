//! Items are pushed, popped and stolen, and the time is measured.

use std::hint;
use std::iter;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::{Item, Queue};

/// The number of items that the owner pushes before it pops. A bounded queue of 256 has room for
/// them even while a stealer still holds half of the batch before. crossbeam-deque keeps its first
/// buffer with this number; otherwise it would grow and shrink the buffer in each batch.
pub const BATCH: usize = 64;

/// Which threads take from the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Load {
    /// Only the owner uses the queue: it pushes and pops.
    Owner,
    /// The owner pushes and pops, while another thread steals without a break and pops the stolen
    /// items.
    Stealer,
}

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// The time from the first push until all items were popped.
    pub time: Duration,
    /// The number of items that the stealer popped.
    pub stolen: usize,
}

impl Load {
    /// Both loads, in the order of tables.
    pub const ALL: [Self; 2] = [Self::Owner, Self::Stealer];

    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Owner => "owner alone",
            Self::Stealer => "with a stealer",
        }
    }

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
        Measured {
            time,
            stolen: stolen.len(),
        }
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
