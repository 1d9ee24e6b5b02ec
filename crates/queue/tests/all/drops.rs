//! Items that remain in a queue are dropped once, even during a panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_queue::{Injection, Overflow, Slot, local};

use crate::tally::{Counted, Tally};

type Item = Box<Counted>;

/// An item whose overflow is too large for the stack.
struct Large(
    #[expect(dead_code, reason = "only dropped")] Item,
    #[expect(dead_code)] [u8; 4096],
);

/// Takes `takes` items of a batch, then drops the batch, or panics.
#[derive(Debug)]
struct Sink {
    takes: usize,
    panics: bool,
}

impl<T> Overflow<T> for Sink {
    fn push_batch(&self, items: impl Iterator<Item = T>) {
        items.take(self.takes).for_each(drop);
        assert!(!self.panics, "the sink is full");
    }
}

fn panics(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

#[test]
fn items_are_dropped_with_their_owner() {
    let tally = Tally::new(6);
    // The indices wrap within these items.
    let (owner, stealer) = local::starting_at::<Item, 8>(u32::MAX - 3);
    for id in 0..6 {
        owner.try_push(tally.item(id)).unwrap();
    }
    drop(owner.pop());
    drop(stealer.steal());
    drop(owner);
    tally.check();
    assert!(stealer.is_empty());
    assert!(stealer.steal().is_none());
    let (into, _) = local::new::<Item, 8>();
    assert!(stealer.steal_into(&into, |n| n.div_ceil(2)).is_none());
}

#[test]
fn stolen_items_are_dropped_with_the_owner_that_stole_them() {
    let tally = Tally::new(8);
    let (owner, stealer) = local::new::<Item, 8>();
    for id in 0..8 {
        owner.try_push(tally.item(id)).unwrap();
    }
    let (into, _) = local::new::<Item, 8>();
    drop(stealer.steal_into(&into, |n| n.div_ceil(2)));
    assert_eq!(tally.drops(), [1, 0, 0, 0, 0, 0, 0, 0]);
    drop(owner);
    assert_eq!(tally.drops(), [1, 0, 0, 0, 1, 1, 1, 1]);
    drop(into);
    tally.check();
}

#[test]
fn an_item_is_dropped_with_its_slot() {
    let tally = Tally::new(2);
    let slot = Slot::new();
    slot.put(tally.item(0));
    drop(slot.put(tally.item(1)));
    assert_eq!(tally.drops(), [1, 0]);
    drop(slot);
    tally.check();
}

#[test]
fn items_are_dropped_with_their_injection_queue() {
    let tally = Tally::new(4);
    let queue = Injection::new();
    queue.push(tally.item(0)).unwrap();
    queue.push_batch((1..4).map(|id| tally.item(id))).unwrap();
    drop(queue.pop());
    queue.close();
    assert_eq!(tally.drops(), [1, 0, 0, 0]);
    drop(queue);
    tally.check();
}

#[test]
fn items_are_dropped_with_their_batch() {
    let tally = Tally::new(5);
    let queue = Injection::new();
    queue.push_batch((0..5).map(|id| tally.item(id))).unwrap();
    let mut batch = queue.pop_batch(3);
    drop(batch.next());
    assert_eq!(tally.drops(), [1, 0, 0, 0, 0]);
    drop(batch);
    assert_eq!(tally.drops(), [1, 1, 1, 0, 0]);
    drop(queue.pop_batch(3));
    tally.check();
}

#[test]
fn items_are_dropped_with_a_refused_batch() {
    let tally = Tally::new(3);
    let queue = Injection::new();
    queue.close();
    let refused = queue.push_batch((0..2).map(|id| tally.item(id)));
    assert_eq!(tally.drops(), [0; 3]);
    drop(refused);
    drop(queue.push(tally.item(2)));
    tally.check();
}

#[test]
fn an_overflow_into_a_closed_injection_queue_is_dropped() {
    let tally = Tally::new(5);
    let queue = Injection::new();
    queue.close();
    let (owner, _) = local::new::<Item, 4>();
    for id in 0..5 {
        owner.push(tally.item(id), &queue);
    }
    assert_eq!(tally.drops(), [1, 1, 0, 0, 1]);
    drop(owner);
    tally.check();
}

/// Overflows a queue of four into a sink, and checks which items were dropped.
fn overflow(takes: usize, sink_panics: bool) {
    let tally = Tally::new(5);
    let sink = Sink {
        takes,
        panics: sink_panics,
    };
    let (owner, _) = local::new::<Item, 4>();
    for id in 0..4 {
        owner.try_push(tally.item(id)).unwrap();
    }
    if sink_panics {
        panics(|| {
            owner.push(tally.item(4), &sink);
        });
    } else {
        owner.push(tally.item(4), &sink);
    }
    assert_eq!(tally.drops(), [1, 1, 0, 0, 1]);
    assert_eq!((owner.len(), owner.room()), (2, 2));
    drop(owner);
    tally.check();
}

#[test]
fn the_rest_of_an_overflow_is_dropped() {
    for takes in 0..=3 {
        overflow(takes, false);
    }
}

#[test]
fn an_overflow_whose_sink_panics_is_dropped() {
    for takes in 0..=3 {
        overflow(takes, true);
    }
}

#[test]
fn a_batch_whose_source_panics_is_dropped() {
    let tally = Tally::new(2);
    let queue = Injection::new();
    panics(|| {
        let items = (0..3).map(|id| if id < 2 { tally.item(id) } else { panic!() });
        drop(queue.push_batch(items));
    });
    tally.check();
    assert!(queue.is_empty());
    queue.push(tally.item(0)).unwrap();
    assert_eq!(queue.pop().unwrap().id, 0);
}

/// Four items, of which the drop of the second panics.
fn with_a_panicking_item(tally: &Tally) -> impl Iterator<Item = Item> {
    (0..4).map(|id| match id {
        1 => tally.panicking_item(id),
        _ => tally.item(id),
    })
}

#[test]
fn a_panicking_drop_does_not_keep_other_items_from_being_dropped() {
    let tally = Tally::new(4);
    let (owner, stealer) = local::new::<Item, 4>();
    with_a_panicking_item(&tally).for_each(|item| owner.try_push(item).unwrap());
    panics(|| drop(owner));
    tally.check();
    assert!(stealer.is_empty());

    let tally = Tally::new(4);
    let queue = Injection::new();
    queue.push_batch(with_a_panicking_item(&tally)).unwrap();
    panics(|| drop(queue));
    tally.check();

    let tally = Tally::new(4);
    let queue = Injection::new();
    queue.push_batch(with_a_panicking_item(&tally)).unwrap();
    let batch = queue.pop_batch(3);
    panics(|| drop(batch));
    drop(queue);
    tally.check();
}

#[test]
fn a_panicking_drop_does_not_keep_the_rest_of_an_overflow_from_being_dropped() {
    fn check<T>(tally: &Tally, item: impl Fn(Item) -> T) {
        let sink = Sink {
            takes: 0,
            panics: false,
        };
        let (owner, _) = local::new::<T, 4>();
        for next in with_a_panicking_item(tally) {
            assert!(owner.try_push(item(next)).is_ok());
        }
        panics(|| {
            owner.push(item(Tally::new(1).item(0)), &sink);
        });
        assert_eq!(tally.drops(), [1, 1, 0, 0]);
        assert_eq!(owner.len(), 2);
        drop(owner);
        tally.check();
    }
    check(&Tally::new(4), |item| item);
    check(&Tally::new(4), |item| Large(item, [0; 4096]));
}
