//! Helpers of the models of the local queue: threads that steal, and overflows that keep or refuse
//! items.

use std::cell::RefCell;

use raddle_primitives::thread::{self, JoinHandle};
use raddle_queue::{Overflow, Owner, Stealer, local};

use crate::arena::Item;

/// In a model indices have four bits; this is two before they wrap.
pub(crate) const NEAR_WRAP: u32 = 14;

/// Keeps the batches that a full queue overflows.
#[derive(Debug, Default)]
pub(crate) struct Sink(pub(crate) RefCell<Vec<Vec<usize>>>);

impl Overflow<Item> for Sink {
    fn push_batch(&self, items: impl Iterator<Item = Item>) {
        self.0.borrow_mut().push(items.map(Item::take).collect());
    }
}

/// For models in which the queue never overflows.
#[derive(Debug)]
pub(crate) struct NoOverflow;

impl Overflow<Item> for NoOverflow {
    fn push_batch(&self, _: impl Iterator<Item = Item>) {
        panic!("the queue overflowed");
    }
}

/// Pops all items and checks that they are in order, after `last`.
pub(crate) fn drain<const N: usize>(owner: &Owner<Item, N>, mut last: Option<usize>) {
    while let Some(item) = owner.pop() {
        let id = item.take();
        assert!(last < Some(id), "{id} was popped after {last:?}");
        last = Some(id);
    }
    assert!(owner.is_empty());
}

/// Steals half of the items into a new queue, and takes all of them.
pub(crate) fn steal_half<const N: usize>(stealer: &Stealer<Item, N>, index: u32) {
    let (own, _) = local::starting_at::<Item, N>(index);
    if let Some(stolen) = stealer.steal_into(&own, |n| n.div_ceil(2)) {
        assert_eq!(own.len(), stolen.moved);
        drain(&own, Some(stolen.first.take()));
    }
}

/// Starts a thread that calls `steal_half` once.
pub(crate) fn spawn_stealer<const N: usize>(owner: &Owner<Item, N>, index: u32) -> JoinHandle<()> {
    let stealer = owner.stealer();
    thread::spawn(move || steal_half(&stealer, index))
}
