//! Every item leaves the queue exactly once, to any thread: the owner, one of two stealers, or a
//! thread that takes it from the injection queue after an overflow.

use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread;
use raddle_queue::{Injection, Owner, Stealer, local};

type Item = Box<usize>;

/// State that the threads of one round share.
#[derive(Debug)]
struct Round {
    items: usize,
    taken: AtomicUsize,
    overflow: Injection<Item>,
    deadline: Instant,
}

impl Round {
    #[expect(clippy::boxed_local, reason = "queues hold boxes")]
    fn take(&self, item: Item, mine: &mut Vec<usize>) {
        mine.push(*item);
        // ORDERING: Relaxed: only a count; the join orders it.
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    fn is_done(&self) -> bool {
        assert!(Instant::now() < self.deadline, "an item was lost");
        // ORDERING: as above.
        let taken = self.taken.load(Ordering::Relaxed);
        assert!(taken <= self.items, "an item was taken twice");
        taken == self.items
    }
}

/// Pushes all items and pops some meanwhile. Then pops the remaining items, and those in the
/// injection queue.
fn own<const N: usize>(round: &Round, owner: &Owner<Item, N>) -> Vec<usize> {
    let mut mine = Vec::new();
    for id in 0..round.items {
        owner.push(Box::new(id), &round.overflow);
        if id % 3 == 0 {
            if let Some(item) = owner.pop() {
                round.take(item, &mut mine);
            }
        }
        if id % (2 * N) == 0 {
            thread::yield_now();
        }
    }
    assert!(mine.is_sorted(), "the owner pops its items out of order");
    while !round.is_done() {
        match owner.pop().or_else(|| round.overflow.pop()) {
            Some(item) => round.take(item, &mut mine),
            None => thread::yield_now(),
        }
    }
    mine
}

/// Steals one item or a batch until no item is left, and sometimes takes items from the injection
/// queue. The other stealer also steals from this one's queue.
fn steal<const N: usize>(
    round: &Round,
    own: &Owner<Item, N>,
    others: &[Stealer<Item, N>],
) -> Vec<usize> {
    let mut mine = Vec::new();
    let mut attempts = 0;
    while !round.is_done() {
        attempts += 1;
        let other = &others[attempts % others.len()];
        if attempts % 5 == 0 {
            for item in round.overflow.pop_batch(3) {
                round.take(item, &mut mine);
            }
        } else if attempts % 3 == 0 {
            if let Some(item) = other.steal() {
                round.take(item, &mut mine);
            }
        } else if let Some(stolen) = other.steal_into(own, |n| n.div_ceil(2)) {
            round.take(stolen.first, &mut mine);
        } else {
            thread::yield_now();
        }
        // Half of the items stay in the queue for the other stealer.
        if attempts % 2 == 0 {
            if let Some(item) = own.pop() {
                round.take(item, &mut mine);
            }
        }
    }
    mine
}

fn check_each_item_is_taken_once<const N: usize>(rounds: usize, items: usize, start: u32) {
    for _ in 0..rounds {
        let round = Arc::new(Round {
            items,
            taken: AtomicUsize::new(0),
            overflow: Injection::new(),
            deadline: Instant::now() + Duration::from_secs(60),
        });
        let (owner, stealer) = local::starting_at::<Item, N>(start);
        let (first, from_first) = local::starting_at::<Item, N>(start);
        let (second, from_second) = local::starting_at::<Item, N>(start);
        let stealers = [
            (first, [stealer.clone(), from_second]),
            (second, [stealer, from_first]),
        ]
        .map(|(own, others)| {
            let round = round.clone();
            thread::spawn(move || {
                let mine = steal(&round, &own, &others);
                assert!(own.is_empty());
                mine
            })
        });
        let mut all = own(&round, &owner);
        for stealer in stealers {
            all.extend(stealer.join().unwrap());
        }
        assert!(owner.is_empty() && round.overflow.is_empty());
        all.sort_unstable();
        assert!(all.into_iter().eq(0..items));
    }
}

/// RUSTSEC-2021-0093, like the tests below.
#[test]
fn a_queue_of_two_loses_and_duplicates_nothing() {
    check_each_item_is_taken_once::<2>(50, 500, 0);
}

#[test]
fn a_queue_of_four_loses_and_duplicates_nothing() {
    check_each_item_is_taken_once::<4>(50, 500, 0);
}

#[test]
fn a_queue_of_256_loses_and_duplicates_nothing() {
    check_each_item_is_taken_once::<256>(4, 10_000, 0);
}

/// tokio 2362. The tests are built with overflow checks.
#[test]
fn a_queue_whose_indices_wrap_loses_and_duplicates_nothing() {
    check_each_item_is_taken_once::<2>(50, 100, u32::MAX - 3);
    check_each_item_is_taken_once::<4>(50, 100, u32::MAX - 3);
    check_each_item_is_taken_once::<256>(4, 1_000, u32::MAX - 3);
}
