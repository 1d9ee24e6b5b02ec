//! Models of the local queue when it is full, or comes round, under a stealer:
//! what the mark of a claim says of room.
//!
//! The owner is the first thread; see `loom_local`.
#![cfg(raddle_loom)]

mod arena;
mod stealers;

use arena::{Arena, Item};
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_queue::local;
use stealers::{NEAR_WRAP, NoOverflow, Sink, drain, spawn_stealer, steal_half};

/// Fills a queue under a stealer and pushes one more. The batch is the older half and the item, or
/// the item alone if the stealer is at work. Returns the length of the batch.
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

/// Complete.
#[test]
fn overflow_of_a_queue_of_two_under_a_stealer() {
    model::check(|| {
        overflow::<2>(0);
    });
}

/// All three outcomes do occur: room, the item alone because a steal is in
/// progress, half of the queue. Complete.
#[test]
fn overflow_of_a_queue_of_four_under_a_stealer() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    // A tally over all executions, so std's own.
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

/// The owner pushes `items`, pops one on the way, and goes over the slots of
/// its queue of two again, through the wrap.
fn go_round(items: usize) {
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
    assert_eq!(owner.room(), 2, "a mark was left behind");
    arena.check();
}

/// The stealer is held anywhere in its steal while the owner comes to the first slot again.
/// Complete.
#[test]
fn the_owner_wraps_around_to_a_slot_that_is_being_stolen() {
    model::check(|| go_round(3));
}

/// As above, over each slot twice (tokio 5041). Bounded at four preemptions.
#[test]
fn the_owner_wraps_around_beyond_a_slot_that_is_being_stolen() {
    Model::new().preemptions(4).check(|| go_round(4));
}

/// A stealer that has marked a claim finds the item gone, and gives up. Complete.
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

/// An item that a stealer might take is written too late.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_item_written_after_a_full_queue_took_it_is_caught() {
    model::check(|| {
        let arena = Arena::new(3);
        let (owner, _) = local::new::<Item, 2>();
        owner.push(arena.item(0), &NoOverflow);
        let late = arena.unwritten(1);
        owner.push(arena.unwritten(1), &NoOverflow);
        // A stealer that comes after the write is ordered by this.
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
