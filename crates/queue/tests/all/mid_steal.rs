//! What an owner and other stealers see during a steal.
//!
//! A steal that runs a hook between its claim and its first read is interrupted in the middle,
//! without a second thread.

use std::cell::{Cell, RefCell};

use raddle_queue::{Overflow, Owner, local};

type Item = Box<u32>;

/// Keeps the batches that a full queue overflows.
#[derive(Debug, Default)]
struct Sink(RefCell<Vec<Vec<u32>>>);

impl Overflow<Item> for Sink {
    fn push_batch(&self, items: impl Iterator<Item = Item>) {
        self.0.borrow_mut().push(items.map(|item| *item).collect());
    }
}

const N: usize = 4;

fn filled(items: std::ops::Range<u32>) -> Owner<Item, N> {
    let (owner, _) = local::starting_at(u32::MAX - 1);
    for n in items {
        owner.try_push(Box::new(n)).unwrap();
    }
    owner
}

fn popped(owner: &Owner<Item, N>) -> Vec<u32> {
    std::iter::from_fn(|| owner.pop()).map(|n| *n).collect()
}

/// Steals from `owner` and runs `hook` in the middle. Returns the stolen items.
fn steal(owner: &Owner<Item, N>, hook: impl FnOnce(&Owner<Item, N>)) -> Vec<u32> {
    let (into, _) = local::new();
    let ran = Cell::new(false);
    let claimed = || {
        ran.set(true);
        hook(owner);
    };
    // SAFETY: the hook does not have `into`.
    let stolen = unsafe {
        owner
            .stealer()
            .steal_into_with(&into, |n| n.div_ceil(2), claimed)
    };
    let stolen = stolen.unwrap();
    assert!(ran.get());
    std::iter::once(*stolen.first)
        .chain(popped(&into))
        .collect()
}

/// crossbeam 855.
#[test]
fn claimed_slots_are_neither_items_nor_room() {
    let owner = filled(0..4);
    let stolen = steal(&owner, |owner| {
        assert_eq!((owner.len(), owner.room()), (2, 0));
        assert!(owner.try_push(Box::new(9)).is_err());
        assert_eq!(*owner.pop().unwrap(), 2);
        // A pop behind a claim does not free room yet.
        assert_eq!((owner.len(), owner.room()), (1, 0));
        assert!(owner.try_push(Box::new(9)).is_err());
    });
    assert_eq!(stolen, [0, 1]);
    assert_eq!((owner.len(), owner.room()), (1, 3));
    assert_eq!(popped(&owner), [3]);
}

#[test]
fn the_owner_may_empty_the_queue() {
    let owner = filled(0..3);
    let stolen = steal(&owner, |owner| {
        assert_eq!(popped(owner), [2]);
        assert!(owner.is_empty());
        assert_eq!((owner.len(), owner.room()), (0, 1));
        owner.try_push(Box::new(3)).unwrap();
        assert_eq!((owner.len(), owner.room()), (1, 0));
    });
    assert_eq!(stolen, [0, 1]);
    assert_eq!((owner.len(), owner.room()), (1, 3));
    assert_eq!(popped(&owner), [3]);
}

#[test]
fn other_stealers_are_refused() {
    let owner = filled(0..4);
    let stolen = steal(&owner, |owner| {
        let (into, _) = local::new();
        assert!(
            owner
                .stealer()
                .steal_into(&into, |n| n.div_ceil(2))
                .is_none()
        );
        assert!(owner.stealer().steal().is_none());
        assert_eq!(owner.stealer().len(), 2);
    });
    assert_eq!(stolen, [0, 1]);
    assert_eq!(*owner.stealer().steal().unwrap(), 2);
    assert_eq!(popped(&owner), [3]);
}

#[test]
fn a_push_to_a_full_queue_during_a_steal_overflows_only_the_new_item() {
    let owner = filled(0..4);
    let stolen = steal(&owner, |owner| {
        let sink = Sink::default();
        owner.push(Box::new(4), &sink);
        // The same after the owner has popped an item.
        assert_eq!(*owner.pop().unwrap(), 2);
        owner.push(Box::new(5), &sink);
        assert_eq!(sink.0.take(), [[4], [5]]);
    });
    assert_eq!(stolen, [0, 1]);
    assert_eq!(popped(&owner), [3]);
}

/// tokio 2387: `b` is full, and a steal from `b` is in progress. The claimed slots are not room for
/// a steal from `a` into `b`.
#[test]
fn nothing_is_stolen_into_slots_that_are_being_copied() {
    let (a, b) = (filled(0..4), filled(10..14));
    let from_a = a.stealer();
    let stolen = steal(&b, move |b| {
        assert!(from_a.steal_into(b, |n| n.div_ceil(2)).is_none());
        assert_eq!((b.len(), b.room()), (2, 0));
    });
    assert_eq!(stolen, [10, 11]);

    let from_a = a.stealer();
    let stolen = from_a.steal_into(&b, |n| n.div_ceil(2)).unwrap();
    assert_eq!((*stolen.first, stolen.moved), (0, 1));
    assert_eq!(popped(&b), [12, 13, 1]);
    assert_eq!(popped(&a), [2, 3]);
}

/// As above, with room for a steal: its items go behind the claimed ones.
#[test]
fn a_queue_that_is_stolen_from_can_steal() {
    let (a, b) = (filled(0..4), filled(10..12));
    let from_a = a.stealer();
    let stolen = steal(&b, move |b| {
        let stolen = from_a.steal_into(b, |n| n.div_ceil(2)).unwrap();
        assert_eq!((*stolen.first, stolen.moved), (0, 1));
        assert_eq!((b.len(), b.room()), (2, 1));
    });
    assert_eq!(stolen, [10]);
    assert_eq!(popped(&b), [11, 1]);
    assert_eq!(popped(&a), [2, 3]);
}
