//! Every item comes out exactly once, to any thread: its owner, one of two
//! stealers, or the injection queue that took the overflow.
#![cfg(not(raddle_loom))]

use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::thread;
use raddle_queue::{Injection, Owner, Stealer, local};

type Item = Box<usize>;

/// What the threads of one round share.
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
        // ORDERING: only a count; the threads are joined.
        self.taken.fetch_add(1, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        assert!(Instant::now() < self.deadline, "an item was lost");
        // ORDERING: as above.
        let taken = self.taken.load(Ordering::Relaxed);
        assert!(taken <= self.items, "an item was taken twice");
        taken == self.items
    }
}

/// Pushes all items, popping some on the way and then the rest, and those that
/// overflowed.
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
    assert!(mine.is_sorted(), "the owner's own order");
    while !round.is_over() {
        match owner.pop().or_else(|| round.overflow.pop()) {
            Some(item) => round.take(item, &mut mine),
            None => thread::yield_now(),
        }
    }
    mine
}

/// Steals in either way until nothing is left, and now and then takes what
/// overflowed; the other stealer steals from this one's queue too.
fn steal<const N: usize>(
    round: &Round,
    own: &Owner<Item, N>,
    others: &[Stealer<Item, N>],
) -> Vec<usize> {
    let mut mine = Vec::new();
    let mut turn = 0;
    while !round.is_over() {
        turn += 1;
        let other = &others[turn % others.len()];
        if turn % 5 == 0 {
            for item in round.overflow.pop_batch(3) {
                round.take(item, &mut mine);
            }
        } else if turn % 3 == 0 {
            if let Some(item) = other.steal() {
                round.take(item, &mut mine);
            }
        } else if let Some(stolen) = other.steal_into(own, |n| n.div_ceil(2)) {
            round.take(stolen.first, &mut mine);
        } else {
            thread::yield_now();
        }
        // Half of what is there stays for the other stealer to find.
        if turn % 2 == 0 {
            if let Some(item) = own.pop() {
                round.take(item, &mut mine);
            }
        }
    }
    mine
}

fn account<const N: usize>(rounds: usize, items: usize, start: u32) {
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

/// RUSTSEC-2021-0093, as the tests that follow.
#[test]
fn a_queue_of_two_loses_and_duplicates_nothing() {
    account::<2>(50, 500, 0);
}

#[test]
fn a_queue_of_four_loses_and_duplicates_nothing() {
    account::<4>(50, 500, 0);
}

#[test]
fn a_queue_of_256_loses_and_duplicates_nothing() {
    account::<256>(4, 10_000, 0);
}

/// tokio 2362: the tests have overflow checks.
#[test]
fn a_queue_whose_indices_wrap_loses_and_duplicates_nothing() {
    account::<2>(50, 100, u32::MAX - 3);
    account::<4>(50, 100, u32::MAX - 3);
    account::<256>(4, 1_000, u32::MAX - 3);
}
