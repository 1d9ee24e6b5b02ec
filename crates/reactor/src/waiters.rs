//! The waiters of one source.

use std::task::Waker;

use crate::Ready;

/// A list of up to this length is never made smaller: it is cheap to walk and to keep.
const SMALL: usize = 8;

/// The waiters of a source, in the order in which they came.
///
/// The entries are sorted by key, because keys are assigned in rising order. Removing an entry
/// leaves a gap. When more than half of the list are gaps, it is compacted and its memory is freed.
/// The memory of the list and the time of each walk are therefore proportional to the number of
/// current waiters.
///
/// An event takes the wakers in a walk of several steps, if they do not fit into one batch. The
/// list remembers where the walk has stopped, so that all steps together visit each entry once. A
/// waiter that comes during the walk is not part of it, and one that the walk has passed is not
/// woken again if it waits again: both have seen the event, which was set before the walk began.
#[derive(Default)]
pub(crate) struct WaiterList {
    entries: Vec<Entry>,
    /// The number of gaps among the entries.
    gaps: usize,
    /// The key of the next entry. It counts to 2^64, which takes centuries.
    next: u64,
    /// The walk that has stopped because its batch was full.
    stopped: Option<Walk>,
}

/// The rest of a walk.
#[derive(Clone, Copy)]
struct Walk {
    ready: Ready,
    /// The key at which it continues.
    from: u64,
    /// The key that the next entry had when it began.
    end: u64,
}

struct Entry {
    key: u64,
    waiter: Option<Waiter>,
}

struct Waiter {
    interest: Ready,
    /// `None` once woken.
    waker: Option<Waker>,
}

impl WaiterList {
    /// Adds a waiter, and returns its key.
    pub(crate) fn insert(&mut self, interest: Ready, waker: Waker) -> u64 {
        let key = self.next;
        self.next += 1;
        let waiter = Some(Waiter {
            interest,
            waker: Some(waker),
        });
        self.entries.push(Entry { key, waiter });
        key
    }

    /// Replaces the waker of a waiter.
    pub(crate) fn replace(&mut self, key: u64, waker: Waker) -> Option<Waker> {
        let waiter = self.entry(key)?.waiter.as_mut()?;
        waiter.waker.replace(waker)
    }

    /// Removes a waiter, and returns its waker if it was not woken.
    #[must_use = "a waker is dropped outside the lock"]
    pub(crate) fn remove(&mut self, key: u64) -> Option<Waker> {
        let removed = self.entry(key)?.waiter.take()?;
        self.gaps += 1;
        if self.gaps * 2 > self.entries.len() {
            self.entries.retain(|entry| entry.waiter.is_some());
            self.gaps = 0;
            if self.entries.capacity() > SMALL.max(self.entries.len() * 4) {
                self.entries.shrink_to(SMALL.max(self.entries.len() * 2));
            }
        }
        removed.waker
    }

    /// Lets the next [`take_wakers`](Self::take_wakers) begin at the first entry.
    pub(crate) fn forget_walk(&mut self) {
        self.stopped = None;
    }

    /// Takes the wakers that wait for any of `ready`, and passes them to `take` until that refuses
    /// one. Then the next call for the same flags continues there. Returns whether it has taken
    /// all.
    pub(crate) fn take_wakers(
        &mut self,
        ready: Ready,
        mut take: impl FnMut(&mut Option<Waker>) -> bool,
    ) -> bool {
        let stopped = self.stopped.take().filter(|walk| walk.ready == ready);
        let (from, end) = stopped.map_or((0, self.next), |walk| (walk.from, walk.end));
        let first = self.entries.partition_point(|entry| entry.key < from);
        for entry in &mut self.entries[first..] {
            if entry.key >= end {
                break;
            }
            let Some(waiter) = &mut entry.waiter else {
                continue;
            };
            if waiter.waker.is_none() || !waiter.interest.intersects(ready) {
                continue;
            }
            if !take(&mut waiter.waker) {
                let from = entry.key;
                self.stopped = Some(Walk { ready, from, end });
                return false;
            }
        }
        true
    }

    fn entry(&mut self, key: u64) -> Option<&mut Entry> {
        let index = self.entries.binary_search_by_key(&key, |entry| entry.key);
        self.entries.get_mut(index.ok()?)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
