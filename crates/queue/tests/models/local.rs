//! Models of the local queue: its owner against stealers.
//!
//! The owner is always the first thread. For a store, loom explores other interleavings only with
//! the last access before it. If an earlier stealer has only loaded, that access is the owner's own
//! load. A stealer's load is explored with all stores of the owner.

use raddle_primitives::model::{self, Model};
use raddle_primitives::thread::{self, JoinHandle};
use raddle_queue::{Owner, Stealer, local};

use crate::arena::{Arena, Item};
use crate::stealers::{NEAR_WRAP, NoOverflow, Sink, drain, spawn_stealer};

/// Starts a thread that takes from a queue.
type Start<const N: usize> = fn(&Owner<Item, N>) -> JoinHandle<()>;

/// Starts a thread that steals one item.
fn spawn_one_item_stealer<const N: usize>(owner: &Owner<Item, N>) -> JoinHandle<()> {
    let stealer = owner.stealer();
    thread::spawn(move || {
        if let Some(item) = stealer.steal() {
            item.take();
        }
    })
}

/// The owner pushes three items and pops two meanwhile. Each of `others` starts a thread that takes
/// items. The owner pops the remaining items.
fn push_and_pop<const N: usize>(index: u32, others: &[Start<N>]) {
    let arena = Arena::new(3);
    let (owner, _) = local::starting_at::<Item, N>(index);
    owner.push(arena.item(0), &NoOverflow);
    let others: Vec<_> = others.iter().map(|start| start(&owner)).collect();
    owner.push(arena.item(1), &NoOverflow);
    let first = owner.pop().map(Item::take);
    owner.push(arena.item(2), &Sink::default());
    let second = owner.pop().map(Item::take).or(first);
    assert!(first.is_none() || first <= second);
    for other in others {
        other.join().unwrap();
    }
    drain(&owner, second);
    arena.check();
}

/// All interleavings are explored.
#[test]
fn a_stealer_of_a_queue_of_two() {
    model::check(|| push_and_pop::<2>(0, &[|owner| spawn_stealer(owner, 0)]));
}

/// All interleavings are explored.
#[test]
fn a_stealer_of_a_queue_of_four() {
    model::check(|| push_and_pop::<4>(0, &[|owner| spawn_stealer(owner, 0)]));
}

/// All interleavings are explored.
#[test]
fn a_stealer_of_indices_that_wrap() {
    model::check(|| push_and_pop::<2>(NEAR_WRAP, &[|owner| spawn_stealer(owner, NEAR_WRAP + 1)]));
}

/// A queue of eight is the smallest in which a stealer waits: it finds a single item, and the owner
/// continues meanwhile. All interleavings are explored.
#[test]
fn a_stealer_that_waits_for_more() {
    model::check(|| push_and_pop::<8>(NEAR_WRAP, &[|owner| spawn_stealer(owner, 0)]));
    model::check(|| one_item::<8>(&[|owner| spawn_stealer(owner, 0)]));
}

/// All interleavings are explored.
#[test]
fn a_stealer_of_single_items() {
    model::check(|| push_and_pop::<2>(0, &[spawn_one_item_stealer]));
}

/// The owner has one item, pushes another and pops one, while two stealers run.
fn two_stealers<const N: usize>(index: u32, others: [Start<N>; 2]) {
    let arena = Arena::new(2);
    let (owner, _) = local::starting_at::<Item, N>(index);
    owner.push(arena.item(0), &NoOverflow);
    let others = others.map(|start| start(&owner));
    owner.push(arena.item(1), &NoOverflow);
    let popped = owner.pop().map(Item::take);
    for other in others {
        other.join().unwrap();
    }
    drain(&owner, popped);
    arena.check();
}

/// RUSTSEC-2021-0093. All interleavings are explored.
#[test]
fn two_stealers_of_a_queue_of_two() {
    model::check(|| {
        two_stealers::<2>(
            0,
            [
                |owner| spawn_stealer(owner, 0),
                |owner| spawn_stealer(owner, 0),
            ],
        );
    });
}

/// Bounded at four preemptions.
#[test]
fn two_stealers_of_a_queue_of_four() {
    Model::new().preemptions(4).check(|| {
        two_stealers::<4>(
            NEAR_WRAP + 1,
            [|owner| spawn_stealer(owner, 0), spawn_one_item_stealer],
        );
    });
}

/// The owner pushes one item while the stealers already run. Only the queue orders the write and
/// the reads of the item.
fn one_item<const N: usize>(others: &[Start<N>]) {
    let arena = Arena::new(1);
    let (owner, _) = local::starting_at::<Item, N>(NEAR_WRAP + 1);
    let others: Vec<_> = others.iter().map(|start| start(&owner)).collect();
    owner.push(arena.item(0), &NoOverflow);
    for other in others {
        other.join().unwrap();
    }
    drain(&owner, None);
    arena.check();
}

/// All interleavings are explored.
#[test]
fn one_item_and_one_stealer() {
    model::check(|| one_item::<2>(&[|owner| spawn_stealer(owner, 0)]));
    model::check(|| one_item::<2>(&[spawn_one_item_stealer]));
}

/// All interleavings are explored.
#[test]
fn one_item_and_two_stealers() {
    model::check(|| one_item::<2>(&[spawn_one_item_stealer, spawn_one_item_stealer]));
    model::check(|| one_item::<2>(&[spawn_one_item_stealer, |owner| spawn_stealer(owner, 0)]));
    model::check(|| {
        one_item::<4>(&[
            |owner| spawn_stealer(owner, 0),
            |owner| spawn_stealer(owner, 0),
        ])
    });
}

/// `c` steals from `b` while `b` steals from `a`, whose owner pushes more. Each queue is as full as
/// the steals allow. Bounded at three preemptions.
#[test]
fn stealing_into_a_queue_that_is_stolen_from() {
    Model::new().preemptions(3).check(|| {
        let arena = Arena::new(9);
        let (a, _) = local::starting_at::<Item, 4>(NEAR_WRAP);
        let (b, _) = local::starting_at::<Item, 4>(NEAR_WRAP - 1);
        for id in 0..4 {
            a.push(arena.item(id), &NoOverflow);
        }
        for id in 4..6 {
            b.push(arena.item(id), &NoOverflow);
        }
        let c = spawn_stealer(&b, 0);
        let from_a = a.stealer();
        let items = arena.clone();
        let b = thread::spawn(move || {
            let sink = Sink::default();
            b.push(items.item(6), &sink);
            if let Some(stolen) = from_a.steal_into(&b, |n| n.div_ceil(2)) {
                stolen.first.take();
            }
            b.push(items.item(7), &sink);
            assert!(b.len() <= 4);
            while let Some(item) = b.pop() {
                item.take();
            }
        });
        a.push(arena.item(8), &Sink::default());
        drain(&a, None);
        c.join().unwrap();
        b.join().unwrap();
        drain(&a, None);
        arena.check();
    });
}

/// Two owners steal from each other's queue at the same time. Bounded at three preemptions.
#[test]
fn two_owners_that_steal_from_each_other() {
    Model::new().preemptions(3).check(|| {
        let arena = Arena::new(4);
        let (a, from_a) = local::new::<Item, 4>();
        let (b, from_b) = local::starting_at::<Item, 4>(NEAR_WRAP);
        a.push(arena.item(0), &NoOverflow);
        a.push(arena.item(1), &NoOverflow);
        b.push(arena.item(2), &NoOverflow);
        b.push(arena.item(3), &NoOverflow);
        let steal_and_drain = |own: &Owner<Item, 4>, other: &Stealer<Item, 4>| {
            if let Some(stolen) = other.steal_into(own, |n| n.div_ceil(2)) {
                stolen.first.take();
            }
            while let Some(item) = own.pop() {
                item.take();
            }
        };
        let other = thread::spawn(move || {
            steal_and_drain(&b, &from_a);
            b
        });
        steal_and_drain(&a, &from_b);
        drain(&other.join().unwrap(), None);
        drain(&a, None);
        arena.check();
    });
}

/// Two items pass through the queue, one at a time. A length that is computed from an old head
/// counts both. A head that is newer than the tail would make the queue look full. All
/// interleavings are explored.
#[test]
fn the_length_does_not_wrap() {
    model::check(|| {
        let arena = Arena::new(2);
        let (owner, stealer) = local::starting_at::<Item, 4>(NEAR_WRAP + 1);
        let reader = thread::spawn(move || {
            let len = stealer.len();
            assert!(len <= 2, "the queue holds at most two items, not {len}");
        });
        for id in 0..2 {
            owner.push(arena.item(id), &NoOverflow);
            assert_eq!(owner.len(), 1);
            assert_eq!(owner.pop().map(Item::take), Some(id));
        }
        reader.join().unwrap();
        arena.check();
    });
}

/// No thread sees a claim that is newer than the tail either. All interleavings are explored.
#[test]
fn the_length_does_not_wrap_under_a_stealer() {
    fn reader(owner: &Owner<Item, 4>) -> JoinHandle<()> {
        let stealer = owner.stealer();
        thread::spawn(move || assert!(stealer.len() <= 1, "the queue holds at most one item"))
    }
    model::check(|| one_item::<4>(&[reader, |owner| spawn_stealer(owner, 0)]));
    model::check(|| one_item::<4>(&[reader, spawn_one_item_stealer]));
}

/// As above, with a stealer too. The owner's own view is exact, except for the steal. Bounded at
/// three preemptions.
#[test]
fn the_length_stays_within_the_capacity() {
    Model::new().preemptions(3).check(|| {
        let arena = Arena::new(3);
        let (owner, stealer) = local::starting_at::<Item, 2>(NEAR_WRAP);
        owner.push(arena.item(0), &NoOverflow);
        let stealing = spawn_stealer(&owner, 0);
        let reader = thread::spawn(move || assert!(stealer.len() <= 2));
        let sink = Sink::default();
        for id in 1..3 {
            owner.push(arena.item(id), &sink);
            assert!(owner.len() <= 2);
            assert!(owner.room() <= 2 - owner.len());
        }
        stealing.join().unwrap();
        reader.join().unwrap();
        assert_eq!(owner.len() + owner.room(), 2);
        drain(&owner, None);
        assert_eq!((owner.len(), owner.room()), (0, 2));
        arena.check();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_item_written_after_its_push_is_caught() {
    model::check(|| {
        let arena = Arena::new(1);
        let (owner, _) = local::new::<Item, 2>();
        let stealing = spawn_stealer(&owner, 0);
        let late = arena.unwritten(0);
        owner.push(arena.unwritten(0), &NoOverflow);
        late.write();
        stealing.join().unwrap();
    });
}

/// tokio 5041: an index that reaches its old value again defeats the compare-exchange. Outside a
/// model this takes 2^32 items during one steal, in a model 16. The stealer then takes an item of a
/// queue that is empty by now. This shows that the models above would find it.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_indices_that_wrap_during_a_steal_are_caught() {
    Model::new().preemptions(2).branches(10_000).check(|| {
        let arena = Arena::new(16);
        let (owner, _) = local::new::<Item, 2>();
        owner.push(arena.item(0), &NoOverflow);
        let stealing = spawn_one_item_stealer(&owner);
        for id in 0..15 {
            owner.pop().map(Item::take);
            // The queue seems full once the stealer has marked its claim.
            owner.push(arena.item(id + 1), &Sink::default());
        }
        owner.pop().map(Item::take);
        stealing.join().unwrap();
        drain(&owner, None);
        arena.check();
    });
}
