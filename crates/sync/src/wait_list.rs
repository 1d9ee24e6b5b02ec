//! Who waits, in the order in which they came.

mod marks;

use slab::Slab;

pub(crate) use self::marks::{Marks, Told};

/// Stands for no place.
const NONE: usize = usize::MAX;

/// Items in an order, found again by their keys. What is waited for keeps it
/// under its lock, and whoever waits keeps the key: so neither needs to stay at
/// one place in memory.
///
/// An item has two lives: while it is *queued* it has its place in the order;
/// it can [leave](Self::unqueue) that, for instance because what it waits for
/// has been set aside for it, and stays until it is [removed](Self::remove).
#[derive(Debug)]
pub(crate) struct WaitList<T> {
    nodes: Slab<Node<T>>,
    first: usize,
    last: usize,
}

#[derive(Debug)]
struct Node<T> {
    item: T,
    queued: bool,
    before: usize,
    after: usize,
}

impl<T> Node<T> {
    /// The node behind all others, of which `before` is the last.
    fn last(item: T, before: usize) -> Self {
        Self {
            item,
            queued: true,
            before,
            after: NONE,
        }
    }
}

impl<T> WaitList<T> {
    /// An empty list, which has allocated nothing.
    pub(crate) const fn new() -> Self {
        Self {
            nodes: Slab::new(),
            first: NONE,
            last: NONE,
        }
    }

    /// Whether nothing is queued.
    pub(crate) fn is_empty(&self) -> bool {
        self.first == NONE
    }

    /// Queues an item behind all others.
    pub(crate) fn push_back(&mut self, item: T) -> usize {
        let node = Node::last(item, self.last);
        let key = self.nodes.insert(node);
        self.append(key);
        key
    }

    /// Queues another item in place of one that has left the order and is
    /// dropped, with the same key.
    fn requeue(&mut self, key: usize, item: T) {
        debug_assert!(!self.is_queued(key), "its neighbours would be lost");
        self.nodes[key] = Node::last(item, self.last);
        self.append(key);
    }

    /// Makes the last of the order known as such.
    fn append(&mut self, key: usize) {
        match self.nodes.get_mut(self.last) {
            Some(last) => last.after = key,
            None => self.first = key,
        }
        self.last = key;
    }

    /// The key of the item that has been queued longest.
    pub(crate) fn first(&self) -> Option<usize> {
        (self.first != NONE).then_some(self.first)
    }

    /// The key of the item that was queued last.
    pub(crate) fn last(&self) -> Option<usize> {
        (self.last != NONE).then_some(self.last)
    }

    /// An item, queued or not.
    pub(crate) fn get_mut(&mut self, key: usize) -> &mut T {
        &mut self.nodes[key].item
    }

    /// Whether an item has its place in the order.
    pub(crate) fn is_queued(&self, key: usize) -> bool {
        self.nodes[key].queued
    }

    /// Takes an item out of the order, if it is there; its key stays good.
    pub(crate) fn unqueue(&mut self, key: usize) {
        let node = &mut self.nodes[key];
        if !std::mem::replace(&mut node.queued, false) {
            return;
        }
        let (before, after) = (node.before, node.after);
        match self.nodes.get_mut(before) {
            Some(before) => before.after = after,
            None => self.first = after,
        }
        match self.nodes.get_mut(after) {
            Some(after) => after.before = before,
            None => self.last = before,
        }
    }

    /// Removes an item, queued or not. The key may be another's after it.
    pub(crate) fn remove(&mut self, key: usize) -> T {
        self.unqueue(key);
        self.nodes.remove(key).item
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
