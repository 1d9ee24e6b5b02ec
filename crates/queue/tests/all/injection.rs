//! The injection queue: order, batches, length and closing.

use raddle_primitives::sync::{Mutex, Rank};
use raddle_queue::{Batch, Injection, Overflow, local};

type Item = Box<u32>;

fn filled(range: std::ops::Range<u32>) -> Injection<Item> {
    let queue = Injection::new();
    queue.push_batch(range.map(Box::new)).unwrap();
    queue
}

fn values(batch: Batch<Item>) -> Vec<u32> {
    batch.map(|item| *item).collect()
}

#[test]
fn items_are_popped_in_the_order_of_their_pushes() {
    let queue = Injection::new();
    assert!(queue.is_empty());
    queue.push(Box::new(0)).unwrap();
    queue.push_batch((1..4).map(Box::new)).unwrap();
    queue.push(Box::new(4)).unwrap();
    assert_eq!(queue.len(), 5);
    for n in 0..5 {
        assert_eq!(queue.pop().unwrap(), Box::new(n));
        assert_eq!(queue.len(), 4 - n as usize);
    }
    assert!(queue.pop().is_none());
    assert!(queue.is_empty());
}

#[test]
fn an_emptied_queue_can_be_filled_again() {
    let queue = filled(0..2);
    assert_eq!(values(queue.pop_batch(2)), [0, 1]);
    queue.push(Box::new(2)).unwrap();
    assert_eq!(values(queue.pop_batch(1)), [2]);
    queue.push_batch((3..5).map(Box::new)).unwrap();
    assert_eq!(values(queue.pop_batch(9)), [3, 4]);
}

#[test]
fn pop_batch_takes_no_more_than_there_is() {
    let queue = filled(0..3);
    assert_eq!(values(queue.pop_batch(usize::MAX)), [0, 1, 2]);
    assert_eq!(queue.len(), 0);
    assert_eq!(values(queue.pop_batch(4)), []);
}

#[test]
fn pop_batch_takes_no_more_than_its_limit() {
    let queue = filled(0..7);
    assert_eq!(values(queue.pop_batch(0)), []);
    assert_eq!(queue.len(), 7);
    assert_eq!(values(queue.pop_batch(1)), [0]);
    assert_eq!(values(queue.pop_batch(3)), [1, 2, 3]);
    assert_eq!(queue.len(), 3);
    assert_eq!(values(queue.pop_batch(3)), [4, 5, 6]);
}

#[test]
fn a_batch_returns_its_length() {
    let queue = filled(0..4);
    let mut batch = queue.pop_batch(3);
    assert_eq!(batch.len(), 3);
    assert_eq!(batch.next().unwrap(), Box::new(0));
    assert_eq!(batch.len(), 2);
    assert_eq!(batch.by_ref().count(), 2);
    assert_eq!(batch.len(), 0);
    assert!(batch.next().is_none());
}

#[test]
fn a_batch_can_be_queued_again() {
    let (from, to) = (filled(0..5), filled(10..11));
    to.push_batch(from.pop_batch(3)).unwrap();
    from.push_batch(to.pop_batch(2)).unwrap();
    assert_eq!(values(to.pop_batch(9)), [1, 2]);
    assert_eq!(values(from.pop_batch(9)), [3, 4, 10, 0]);
}

#[test]
fn an_empty_batch_is_accepted() {
    let queue = Injection::<Item>::new();
    queue.push_batch(std::iter::empty()).unwrap();
    assert_eq!(queue.len(), 0);
    assert!(queue.pop().is_none());
    let queue = filled(0..1);
    queue.push_batch(std::iter::empty()).unwrap();
    assert_eq!(values(queue.pop_batch(2)), [0]);
}

#[test]
fn a_closed_queue_returns_the_refused_item() {
    let queue = filled(0..2);
    assert!(!queue.is_closed());
    assert!(queue.close());
    assert!(queue.is_closed());
    assert!(!queue.close());

    assert_eq!(queue.push(Box::new(7)).unwrap_err(), Box::new(7));
    let refused = queue.push_batch((8..11).map(Box::new)).unwrap_err();
    assert_eq!(refused.len(), 3);
    assert_eq!(values(refused), [8, 9, 10]);
    assert_eq!(queue.len(), 2);
    assert_eq!(values(queue.pop_batch(9)), [0, 1]);
}

#[test]
fn an_overflow_is_pushed_behind_the_queued_items() {
    let queue = filled(0..1);
    Overflow::push_batch(&queue, (1..3).map(Box::new));
    assert_eq!(values(queue.pop_batch(9)), [0, 1, 2]);
}

#[test]
fn pop_into_fills_a_local_queue() {
    let queue = filled(0..9);
    let (owner, _stealer) = local::starting_at::<Item, 4>(0);
    let stolen = queue.pop_into(3, &owner).unwrap();
    assert_eq!((*stolen.first, stolen.moved), (0, 2));
    // The local queue has room for two more items.
    let stolen = queue.pop_into(usize::MAX, &owner).unwrap();
    assert_eq!((*stolen.first, stolen.moved), (3, 2));
    let local: Vec<_> = std::iter::from_fn(|| owner.pop())
        .map(|item| *item)
        .collect();
    assert_eq!(local, [1, 2, 4, 5]);
    assert_eq!(values(queue.pop_batch(9)), [6, 7, 8]);
    assert!(queue.pop_into(1, &owner).is_none());
    assert!(filled(0..1).pop_into(0, &owner).is_none());
}

#[test]
#[cfg(debug_assertions)]
#[should_panic(expected = "is taken under the lock \"a lock of the test\"")]
fn the_lock_of_an_injection_queue_is_not_taken_under_that_of_another() {
    let leaf = Mutex::ranked(Rank::leaf("a lock of the test"), ());
    let queue = filled(0..1);
    queue.check_lock_order();
    let _locked = leaf.lock();
    queue.check_lock_order();
}
