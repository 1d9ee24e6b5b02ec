//! The run queue without a scheduler: owners, stealers and overflows.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use raddle_queue::{Injection, Owner, Stealer, local};

use crate::ledger::{Ledger, Ticket};
use crate::random::Random;

/// The index of the owner that pushed the item, and the item's number.
type Item = Box<(usize, usize, Ticket)>;

struct Shared {
    overflow: Injection<Item>,
    taken: AtomicUsize,
    items: usize,
}

pub(crate) fn round(random: &mut Random) {
    match random.below(3) {
        0 => sized::<2>(random),
        1 => sized::<8>(random),
        _ => sized::<256>(random),
    }
}

fn sized<const N: usize>(random: &mut Random) {
    let ledger = Ledger::default();
    let (owners, each) = (random.within(1, 4), random.within(1, 2000));
    let shared = Arc::new(Shared {
        overflow: Injection::new(),
        taken: AtomicUsize::new(0),
        items: owners * each,
    });
    let (own, stealers): (Vec<_>, Vec<_>) = (0..owners)
        .map(|_| local::starting_at::<Item, N>(u32::MAX - random.below(600) as u32))
        .unzip();
    let threads: Vec<_> = own
        .into_iter()
        .enumerate()
        .map(|(who, own)| {
            let mut others = stealers.clone();
            others.remove(who);
            let (shared, ledger, mut random) = (shared.clone(), ledger.clone(), random.split());
            thread::spawn(move || work(who, each, &own, &others, &shared, &ledger, &mut random))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    ledger.check(owners * each);
}

/// Pushes its items, then pops and steals until all items of all owners are taken.
fn work<const N: usize>(
    who: usize,
    each: usize,
    own: &Owner<Item, N>,
    others: &[Stealer<Item, N>],
    shared: &Shared,
    ledger: &Ledger,
    random: &mut Random,
) {
    let take = |item: Item| {
        item.2.done();
        let taken = shared.taken.fetch_add(1, SeqCst) + 1;
        assert!(taken <= shared.items, "an item was taken twice");
    };
    let mut pushed = 0;
    while pushed < each || shared.taken.load(SeqCst) < shared.items {
        if pushed < each && !random.once_in(3) {
            let burst = random.within(1, 2 * N).min(each - pushed);
            for number in pushed..pushed + burst {
                own.push(Box::new((who, number, ledger.ticket())), &shared.overflow);
            }
            pushed += burst;
            continue;
        }
        match random.below(5) {
            0 if !others.is_empty() => {
                if let Some(stolen) =
                    others[random.below(others.len())].steal_into(own, |n| n.div_ceil(2))
                {
                    take(stolen.first);
                }
            }
            1 if !others.is_empty() => {
                let stolen = others[random.below(others.len())].steal();
                stolen.into_iter().for_each(take);
            }
            2 => shared
                .overflow
                .pop_batch(random.within(1, 300))
                .for_each(take),
            _ => own.pop().into_iter().for_each(take),
        }
        if random.once_in(50) {
            thread::yield_now();
        }
    }
}
