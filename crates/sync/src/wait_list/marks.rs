//! How a waiter learns without the lock that it was served.

use raddle_std::sync::atomic::{AtomicU32, Ordering};

use super::WaitList;

/// How many waiters at a time can have a mark; others take the lock. A model
/// has one, so that it has both kinds, and not too many interleavings.
const SEATS: usize = if cfg!(raddle_loom) { 1 } else { 4 };

/// Its item is in line, or nobody's.
const QUIET: u32 = 0;

/// Its item was served; set under the lock.
const TOLD: u32 = 1;

/// Its future has seen that, and is gone; the item is free to be used again.
/// Set without the lock, by who finds `TOLD`; cleared under it.
const LEFT: u32 = 2;

/// A word each for the items with the lowest keys, beside the lock of their
/// list: a waiter that is served before it is polled again need not take it.
///
/// An item whose mark is `LEFT` is not removed from the list, which takes the
/// lock; the next waiter takes it over.
#[derive(Debug)]
pub(crate) struct Marks([AtomicU32; SEATS]);

/// Those of some items that have a mark; a bit for each.
#[derive(Debug, Default)]
pub(crate) struct Told(u8);

const _: () = assert!(SEATS <= u8::BITS as usize);

impl Told {
    /// Adds an item.
    #[inline]
    pub(crate) fn add(&mut self, key: usize) {
        if key < SEATS {
            self.0 |= 1 << key;
        }
    }
}

impl Marks {
    #[cfg(not(raddle_loom))]
    pub(crate) const fn new() -> Self {
        Self([const { AtomicU32::new(QUIET) }; SEATS])
    }

    #[cfg(raddle_loom)]
    pub(crate) fn new() -> Self {
        Self(std::array::from_fn(|_| AtomicU32::new(QUIET)))
    }

    /// Queues an item behind all others. Under the lock of the list.
    #[inline]
    pub(crate) fn push_back<T>(&self, list: &mut WaitList<T>, item: T) -> usize {
        for (key, mark) in self.0.iter().enumerate() {
            // ORDERING: Relaxed: nothing is passed on with `LEFT`; the item was
            // left as it is under this lock.
            if mark.load(Ordering::Relaxed) == LEFT {
                mark.store(QUIET, Ordering::Relaxed);
                list.requeue(key, item);
                return key;
            }
        }
        let key = list.push_back(item);
        if let Some(mark) = self.0.get(key) {
            // The last waiter with this key may have been dropped with `TOLD`.
            // ORDERING: Relaxed: the key goes to the future of this thread, and
            // who sets it next has the lock.
            mark.store(QUIET, Ordering::Relaxed);
        }
        key
    }

    /// Says that an item was served. Under the lock of the list, once the item is out
    /// of line and has nothing left whose drop is somebody else's code.
    #[inline]
    pub(crate) fn tell(&self, key: usize) {
        if let Some(mark) = self.0.get(key) {
            // ORDERING: Release pairs with `take`: the future sees what was
            // done before it was served.
            mark.store(TOLD, Ordering::Release);
        }
    }

    /// As [`tell`](Self::tell), for each of `told`.
    #[inline]
    pub(crate) fn tell_all(&self, mut told: Told) {
        while told.0 != 0 {
            self.tell(told.0.trailing_zeros() as usize);
            told.0 &= told.0 - 1;
        }
    }

    /// Whether the item was served, in which case the key is no longer the
    /// caller's. If not, the list knows.
    #[inline]
    pub(crate) fn take(&self, key: usize) -> bool {
        let Some(mark) = self.0.get(key) else {
            return false;
        };
        // ORDERING: Acquire pairs with `tell`.
        let told = mark.load(Ordering::Acquire) == TOLD;
        if told {
            // ORDERING: Relaxed: see `push_back`.
            mark.store(LEFT, Ordering::Relaxed);
        }
        told
    }
}
