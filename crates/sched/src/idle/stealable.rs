//! The stealable set: the workers whose queues may have a task to steal. A searcher, and a worker
//! that checks again before it parks, check only these queues.
//!
//! A push that notifies, in the sense of `docs/scheduler.md`, passes a fence and sets the bit of
//! its worker. If the bit was clear, another fence follows. A stealer that has taken more than one
//! task sets its own bit before it ends its search. A worker clears its bit when it begins to
//! search, since its queue is empty and only it pushes. A searcher that finds a queue empty clears
//! the bit, passes a fence, and sets the bit again if the queue has a task. A bit that is set for
//! an empty queue costs one failed attempt.
//!
//! # Why no bit is lost
//!
//! Let P push while a searcher S clears P's bit:
//!
//! | P | S |
//! |---|---|
//! | 1. push | 1. clear the bit |
//! | 2. fence | 2. fence |
//! | 3. read the bit; set it if it is clear | 3. check the queue; set the bit if there is a task |
//!
//! If S's fence is first, P finds the bit clear and sets it. If P's is, S finds the task and sets
//! the bit.
//!
//! Let W park at the same time, and find the bit clear between S's steps 1 and 3. If S is in W's
//! group and began to search before W was marked, S is counted as a searcher, and W need not check.
//! Otherwise S sets the bit before it changes its group's word to end its search. The last searcher
//! of that group sees the bit when it checks, and wakes W or stays awake.
//!
//! If no searcher clears the bit, W's fence is between its mark and its check of the set, and P's
//! last fence is between the bit and P's check of the idle set. P sees the mark, or W sees the bit
//! and the push before it.

use std::fmt;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering, fence};
use raddle_primitives::{CachePadded, named};

/// Workers of one group, whose bits are one word. Models see the border of two groups between the
/// second and the third worker.
const GROUP: usize = match cfg!(raddle_loom) {
    true => 2,
    false => usize::BITS as usize,
};

/// A bit for each worker: set by the worker at each push that notifies; cleared by the
/// worker when it begins to search, since its queue is empty then, or by a searcher that finds that
/// queue empty.
///
/// A method may panic if it is passed the number of a worker for which the set was not made.
pub(crate) struct StealableSet(Box<[CachePadded<AtomicUsize>]>);

impl StealableSet {
    /// Makes an empty set for `workers` workers.
    pub(crate) fn new(workers: usize) -> Self {
        let group = |_| CachePadded::new(named("stealable set", AtomicUsize::new(0)));
        Self((0..workers.div_ceil(GROUP)).map(group).collect())
    }

    /// Adds a worker to whose queue the calling thread has pushed, and orders the push and the
    /// insertion before the caller's next reads.
    #[inline]
    pub(crate) fn insert_and_fence(&self, worker: usize) {
        // ORDERING: pairs with the fence in `remove_if`. Without it: the caller pushes, a searcher
        // that has found the queue empty removes the worker, and each reads the other's word before
        // it sees the change; the task is in no set.
        fence(Ordering::SeqCst);
        if !self.contains(worker) {
            self.insert(worker);
            // ORDERING: pairs with the fence of a worker that parks, in
            // `IdleSet::transition_to_parked`: it sees the bit, or the caller sees that it is
            // parked.
            fence(Ordering::SeqCst);
        }
    }

    /// Adds a worker.
    #[cold]
    pub(crate) fn insert(&self, worker: usize) {
        let (word, bit) = self.place(worker);
        // ORDERING: the fences order it with the queues and the idle set. Release pairs with
        // `find_from`: a spare worker that is found there was made.
        word.fetch_or(bit, Ordering::Release);
    }

    /// Removes the calling worker, whose queue is empty, if it is in the set.
    #[inline]
    pub(crate) fn remove(&self, worker: usize) {
        if self.contains(worker) {
            let (word, bit) = self.place(worker);
            // ORDERING: as in `insert`. Only the caller pushes to its queue.
            word.fetch_and(!bit, Ordering::Relaxed);
        }
    }

    /// Removes another worker if its queue is empty. Clears the bit first and then calls
    /// `is_empty`; if that returns false, sets the bit again. The caller must count as searching:
    /// it is responsible for a task that is pushed meanwhile.
    #[inline]
    pub(crate) fn remove_if(&self, worker: usize, is_empty: impl FnOnce() -> bool) {
        let (word, bit) = self.place(worker);
        // ORDERING: as in `insert`.
        word.fetch_and(!bit, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `insert_and_fence`.
        fence(Ordering::SeqCst);
        // CHECK: a push that found the bit still set.
        if !is_empty() {
            self.insert(worker);
        }
    }

    /// Calls `find` with each worker of the set, from `start` on and around to it, until it returns
    /// a result, and returns that.
    #[inline]
    pub(crate) fn find_from<R>(
        &self,
        start: usize,
        mut find: impl FnMut(usize) -> Option<R>,
    ) -> Option<R> {
        let groups = self.0.len();
        let (first, below) = (start / GROUP, (1 << (start % GROUP)) - 1);
        // The first group is visited twice: first its workers from `start` on, at the end those
        // below.
        (0..=groups).find_map(|turn| {
            let group = (first + turn) % groups;
            // ORDERING: a hint for a searcher. A worker that parks has passed a fence. Acquire
            // pairs with `insert`.
            let mut bits = self.0[group].load(Ordering::Acquire);
            match turn {
                0 => bits &= !below,
                _ if turn == groups => bits &= below,
                _ => {}
            }
            while bits != 0 {
                let bit = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                let found = find(group * GROUP + bit);
                if found.is_some() {
                    return found;
                }
            }
            None
        })
    }

    #[inline]
    fn contains(&self, worker: usize) -> bool {
        let (word, bit) = self.place(worker);
        // ORDERING: the fences order it, see `insert_and_fence`.
        word.load(Ordering::Relaxed) & bit != 0
    }

    #[inline]
    fn place(&self, worker: usize) -> (&AtomicUsize, usize) {
        (&self.0[worker / GROUP], 1 << (worker % GROUP))
    }
}

impl fmt::Debug for StealableSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut workers = Vec::new();
        let _ = self.find_from(0, |worker| {
            workers.push(worker);
            None::<()>
        });
        f.debug_tuple("StealableSet").field(&workers).finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
