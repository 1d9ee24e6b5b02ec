//! Models of the next-task slot: an item that is put in is taken out once, and complete.

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread::{self, JoinHandle};
use raddle_queue::Slot;

use crate::arena::{Arena, Item};

fn taker(slot: &Arc<Slot<Item>>) -> JoinHandle<()> {
    let slot = slot.clone();
    thread::spawn(move || {
        slot.take().map(Item::take);
    })
}

/// One thread puts three items in; one or two other threads take.
fn put(takers: usize, put: fn(&Slot<Item>, Item) -> Option<Item>) {
    let arena = Arena::new(3);
    let slot = Arc::new(Slot::new());
    let takers: Vec<_> = (0..takers).map(|_| taker(&slot)).collect();
    let mut last = None;
    for id in 0..3 {
        if let Some(displaced) = put(&slot, arena.item(id)).map(Item::take) {
            assert_eq!(Some(displaced), last, "only the last item can be displaced");
        }
        last = Some(id);
    }
    for taker in takers {
        taker.join().unwrap();
    }
    slot.take().map(Item::take);
    assert!(slot.is_empty());
    arena.check();
}

fn put_exclusive(slot: &Slot<Item>, item: Item) -> Option<Item> {
    // SAFETY: only one thread puts items in, in the models that use this.
    unsafe { slot.put_exclusive(item) }
}

/// All interleavings are explored.
#[test]
fn put_against_one_taker() {
    model::check(|| put(1, Slot::put));
}

/// Bounded at 3 preemptions.
#[test]
fn put_against_two_takers() {
    Model::new().preemptions(3).check(|| put(2, Slot::put));
}

/// All interleavings are explored.
#[test]
fn put_exclusive_against_one_taker() {
    model::check(|| put(1, put_exclusive));
}

/// Bounded at 3 preemptions.
#[test]
fn put_exclusive_against_two_takers() {
    Model::new().preemptions(3).check(|| put(2, put_exclusive));
}

/// A thread that displaces an item of another thread owns it. All interleavings are explored.
#[test]
fn two_threads_put() {
    model::check(|| {
        let arena = Arena::new(2);
        let slot = Arc::new(Slot::new());
        let other = {
            let (slot, arena) = (slot.clone(), arena.clone());
            thread::spawn(move || {
                slot.put(arena.item(0)).map(Item::take);
            })
        };
        let taker = taker(&slot);
        slot.put(arena.item(1)).map(Item::take);
        other.join().unwrap();
        taker.join().unwrap();
        slot.take().map(Item::take);
        arena.check();
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn canary_an_item_written_after_its_put_is_caught() {
    model::check(|| {
        let arena = Arena::new(1);
        let slot = Arc::new(Slot::new());
        let taker = taker(&slot);
        let late = arena.unwritten(0);
        slot.put(arena.unwritten(0));
        late.write();
        taker.join().unwrap();
    });
}

/// `put_exclusive` on two threads loses an item, as its contract says.
#[test]
#[should_panic(expected = "was lost")]
fn canary_two_threads_that_put_exclusive_are_caught() {
    model::check(|| {
        let arena = Arena::new(2);
        let slot = Arc::new(Slot::new());
        // If the other thread puts its item in after this one, this lock orders the two calls.
        let turn = Arc::new(Mutex::new(()));
        let other = {
            let (slot, arena, turn) = (slot.clone(), arena.clone(), turn.clone());
            thread::spawn(move || {
                drop(turn.lock());
                put_exclusive(&slot, arena.item(0)).map(Item::take);
            })
        };
        put_exclusive(&slot, arena.item(1)).map(Item::take);
        drop(turn.lock());
        other.join().unwrap();
        slot.take().map(Item::take);
        arena.check();
    });
}
