//! Models of the local queue when it is full, or when its indices wrap, during a steal: how much
//! room the mark of a claim leaves.
//!
//! The owner is the first thread; the module `local` explains why.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_queue::local;

use crate::arena::{Arena, Item};
use crate::stealers::{NEAR_WRAP, NoOverflow, Sink, drain, spawn_stealer, steal_half};

/// Fills a queue and pushes one more item, while a stealer runs. The overflow is the older half and
/// the new item, or only the new item if a steal is in progress. Returns the length of the
/// overflow.
fn overflow<const N: usize>(index: u32) -> usize {
    let arena = Arena::new(N + 1);
    let (owner, _) = local::starting_at::<Item, N>(index);
    for id in 0..N {
        owner.push(arena.item(id), &NoOverflow);
    }
    let stealing = spawn_stealer(&owner, 0);
    let sink = Sink::default();
    owner.push(arena.item(N), &sink);
    let batches = sink.0.take();
    stealing.join().unwrap();

    let half_and_item: Vec<_> = (0..N / 2).chain([N]).collect();
    let batch = match batches.as_slice() {
        [] => &[][..],
        [batch] => batch,
        more => panic!("{more:?}"),
    };
    assert!(batch.is_empty() || *batch == [N] || *batch == half_and_item);
    drain(&owner, None);
    arena.check();
    batch.len()
}

/// All interleavings are explored.
#[test]
fn overflow_of_a_queue_of_two_under_a_stealer() {
    model::check(|| {
        overflow::<2>(0);
    });
}

/// All three outcomes occur: there is room, only the new item overflows because a steal is in
/// progress, or half of the queue overflows. All interleavings are explored.
#[test]
fn overflow_of_a_queue_of_four_under_a_stealer() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    // This counts over all executions, so it uses std's own types.
    let lengths = Arc::new([const { AtomicU32::new(0) }; 4]);
    let tally = lengths.clone();
    model::check(move || {
        // ORDERING: read after the last execution.
        tally[overflow::<4>(NEAR_WRAP)].fetch_add(1, Ordering::Relaxed);
    });
    // ORDERING: as above.
    let seen = lengths.each_ref().map(|n| n.load(Ordering::Relaxed) > 0);
    assert_eq!(seen, [true, true, false, true]);
}

/// The owner pushes `items` items and pops one meanwhile. It uses the slots of its queue of two
/// again, and the indices wrap.
fn wrap_around(items: usize) {
    let arena = Arena::new(items);
    let (owner, _) = local::starting_at::<Item, 2>(NEAR_WRAP);
    let stealing = spawn_stealer(&owner, 0);
    let sink = Sink::default();
    for id in 0..items {
        owner.push(arena.item(id), &sink);
        if id == 1 {
            owner.pop().map(Item::take);
        }
    }
    stealing.join().unwrap();
    drain(&owner, None);
    assert_eq!(owner.room(), 2, "the mark of the claim was not cleared");
    arena.check();
}

/// The stealer may be anywhere in its steal when the owner reaches the first slot again. All
/// interleavings are explored.
#[test]
fn the_owner_wraps_around_to_a_slot_that_is_being_stolen() {
    model::check(|| wrap_around(3));
}

/// As above, but each slot is used twice (tokio 5041). Bounded at four preemptions.
#[test]
fn the_owner_wraps_around_beyond_a_slot_that_is_being_stolen() {
    Model::new().preemptions(4).check(|| wrap_around(4));
}

/// A stealer that has marked a claim finds that the item is gone, and gives up. All interleavings
/// are explored.
#[test]
fn a_stealer_that_gives_up_leaves_no_mark() {
    model::check(|| {
        let arena = Arena::new(1);
        let (owner, stealer) = local::starting_at::<Item, 2>(NEAR_WRAP + 1);
        owner.push(arena.item(0), &NoOverflow);
        let stealing = thread::spawn(move || steal_half(&stealer, 0));
        drain(&owner, None);
        stealing.join().unwrap();
        assert_eq!(owner.room(), 2);
        arena.check();
    });
}

/// An item is written after a stealer may have taken it.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_item_written_after_a_full_queue_took_it_is_caught() {
    model::check(|| {
        let arena = Arena::new(3);
        let (owner, _) = local::new::<Item, 2>();
        owner.push(arena.item(0), &NoOverflow);
        let late = arena.unwritten(1);
        owner.push(arena.unwritten(1), &NoOverflow);
        // This lock orders a stealer that runs after the write.
        let turn = Arc::new(Mutex::new(()));
        let stealing = thread::spawn({
            let (stealer, turn) = (owner.stealer(), turn.clone());
            move || {
                drop(turn.lock());
                steal_half(&stealer, 0);
            }
        });
        owner.push(arena.item(2), &Sink::default());
        late.write();
        drop(turn.lock());
        stealing.join().unwrap();
        drain(&owner, None);
    });
}
