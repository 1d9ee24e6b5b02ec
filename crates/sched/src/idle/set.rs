//! The idle set: which workers are parked, and how many search. `docs/scheduler.md` has the
//! protocol, and says why no wake-up is lost.

use std::fmt;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering, fence};
use raddle_primitives::{CachePadded, named};

/// The maximum number of workers of a pool.
pub(crate) const MAX_WORKERS: usize = (1 << 16) - 1;

/// Bits of a word that count searching workers.
const SEARCHING_BITS: u32 = 8;
const SEARCHING_ONE: usize = 1;
/// Workers of one group, whose state is one word. Models see the border of two groups between the
/// second and the third worker.
const GROUP: usize = match cfg!(raddle_loom) {
    true => 2,
    false => (usize::BITS - SEARCHING_BITS) as usize,
};

/// The workers that are idle, in groups.
///
/// The word of a group has the whole state of its workers, and the protocol reads one word at a
/// time: a worker never changes its group, and the last searcher of each group is responsible for
/// tasks that were pushed while it searched.
///
/// Workers are numbered from 0; a method may panic if the pool has no worker with the number that
/// it is passed. A worker without a task searches the queues of the others, marks itself as parked,
/// checks the queues once more if no other worker searches, and blocks. A thread that has pushed a
/// task claims a parked worker, and unparks it.
///
/// Spare workers are not in the set: the monitor wakes them.
pub(crate) struct IdleSet(Box<[CachePadded<Group>]>);

/// Up to [`GROUP`] workers.
struct Group {
    state: AtomicUsize,
    /// The workers that have not been removed, as bits from the lowest.
    present: AtomicUsize,
}

/// The state of a group: how many workers search, in the lowest [`SEARCHING_BITS`], and above a bit
/// for each worker. It is set while the worker is parked, or about to be; never while it searches;
/// cleared by the worker when it returns by itself, or by the thread that claims it, to wake it.
#[derive(Clone, Copy)]
struct Snapshot(usize);

impl Snapshot {
    fn searching(self) -> usize {
        self.0 & ((1 << SEARCHING_BITS) - 1)
    }

    /// The parked workers, as bits from the lowest.
    fn parked(self) -> usize {
        self.0 >> SEARCHING_BITS
    }

    fn is_parked(self, bit: usize) -> bool {
        self.0 & bit != 0
    }

    /// A parked worker searches.
    fn with_searching_instead_of(self, bit: usize) -> usize {
        self.0 - bit + SEARCHING_ONE
    }
}

/// What a worker does right after it was marked as parked: the result of
/// [`IdleSet::transition_to_parked`].
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parking {
    /// No worker of its group is searching: check every queue again.
    RecheckQueues,
    /// Another worker is searching, and is responsible for all queued tasks.
    Sleep,
}

impl IdleSet {
    /// Makes a set in which all workers run.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is more than [`MAX_WORKERS`].
    pub(crate) fn new(workers: usize) -> Self {
        assert!(
            workers <= MAX_WORKERS,
            "a pool has at most {MAX_WORKERS} workers"
        );
        let groups = (0..workers.div_ceil(GROUP)).map(|group| {
            let size = GROUP.min(workers - group * GROUP);
            CachePadded::new(Group {
                state: named("idle set", AtomicUsize::new(0)),
                present: named(
                    "workers that were not removed",
                    AtomicUsize::new(usize::MAX >> (usize::BITS - size as u32)),
                ),
            })
        });
        Self(groups.collect())
    }

    /// Claims a parked worker because there is new work, unless a worker is searching. The caller
    /// must unpark the claimed worker, which is no longer parked and counts as searching. Prefers
    /// workers that are not in the driver; among several, the one with the lowest number.
    #[inline]
    #[must_use = "the worker that is returned has to be unparked"]
    pub(crate) fn claim_to_wake(&self, in_driver: impl FnOnce() -> Option<usize>) -> Option<usize> {
        // ORDERING: the fence pairs with the one in `transition_to_parked`. Without it, the caller
        // pushes while a worker is marked as parked, and each reads the other's word before it sees
        // the change; the task waits forever.
        fence(Ordering::SeqCst);
        self.claim_after_fence(in_driver)
    }

    /// Like [`claim_to_wake`](Self::claim_to_wake), for a caller that has already passed the fence
    /// after its push.
    #[inline]
    #[must_use = "the worker that is returned has to be unparked"]
    pub(crate) fn claim_after_fence(
        &self,
        in_driver: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        let mut is_any_parked = false;
        for group in &self.0 {
            let state = group.load();
            if state.searching() > 0 {
                return None;
            }
            is_any_parked |= state.parked() != 0;
        }
        match is_any_parked {
            true => self.claim(in_driver()),
            false => None,
        }
    }

    #[cold]
    fn claim(&self, in_driver: Option<usize>) -> Option<usize> {
        // Without a worker in the driver, events wait for the polls of the others.
        for spared in [in_driver, None] {
            for (index, group) in self.0.iter().enumerate() {
                let mut state = group.load();
                loop {
                    // CHECK: a worker that has begun to search meanwhile is responsible for the
                    // task.
                    if state.searching() > 0 {
                        return None;
                    }
                    let candidates = state.parked() & !bit_in_group(index, spared);
                    if candidates == 0 {
                        break;
                    }
                    let worker = index * GROUP + candidates.trailing_zeros() as usize;
                    let claimed = state.with_searching_instead_of(bit_of(worker));
                    // ORDERING: AcqRel as in `Group::change`.
                    match group.state.compare_exchange(
                        state.0,
                        claimed,
                        Ordering::AcqRel,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return Some(worker),
                        Err(actual) => state = Snapshot(actual),
                    }
                }
            }
        }
        None
    }

    /// Counts a running worker as searching, unless half of its group already search. Returns
    /// whether it counts as searching.
    #[inline]
    #[must_use = "a worker that is counted has to end its search"]
    pub(crate) fn transition_to_searching(&self, worker: usize) -> bool {
        let group = self.group_of(worker);
        // ORDERING: a throttle, which may be off by a few.
        let size = group.present.load(Ordering::Relaxed).count_ones() as usize;
        if 2 * group.load().searching() >= size {
            return false;
        }
        let _ = group.change(SEARCHING_ONE);
        true
    }

    /// Ends a search that has found work. Returns whether the caller was the last searcher of its
    /// group: then it must look for more work, and wake another worker if there is some.
    #[inline]
    #[must_use]
    pub(crate) fn end_search(&self, worker: usize) -> bool {
        let before = self.group_of(worker).change(SEARCHING_ONE.wrapping_neg());
        // ORDERING: pairs with the fence in `claim_to_wake`. Without it, a pusher relies on this
        // searcher, which checks the queues before it sees the push; no worker is woken for the
        // task.
        fence(Ordering::SeqCst);
        before.searching() == 1
    }

    /// Marks a worker as parked. If it was searching, it no longer counts as searching.
    #[inline]
    pub(crate) fn transition_to_parked(&self, worker: usize, was_searching: bool) -> Parking {
        let searching = usize::from(was_searching);
        let group = self.group_of(worker);
        debug_assert!(!group.load().is_parked(bit_of(worker)));
        let before = group.change(bit_of(worker) - searching * SEARCHING_ONE);
        // ORDERING: pairs with the fence in `claim_to_wake`, which explains what the two prevent.
        fence(Ordering::SeqCst);
        match before.searching() == searching {
            true => Parking::RecheckQueues,
            false => Parking::Sleep,
        }
    }

    /// Ends the parking of a worker that has found work before it blocked. The worker then counts
    /// as searching, even if it has been claimed.
    #[inline]
    pub(crate) fn cancel_parking(&self, worker: usize) {
        let (group, bit) = (self.group_of(worker), bit_of(worker));
        let mut state = group.load();
        while state.is_parked(bit) {
            // ORDERING: AcqRel as in `Group::change`.
            match group.state.compare_exchange(
                state.0,
                state.with_searching_instead_of(bit),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) => break,
                Err(actual) => state = Snapshot(actual),
            }
        }
        // ORDERING: as in `transition_to_running`.
        fence(Ordering::SeqCst);
    }

    /// Ends the parking of a worker that has woken up. Returns whether it was claimed, and counts
    /// as searching.
    #[inline]
    #[must_use]
    pub(crate) fn transition_to_running(&self, worker: usize) -> bool {
        let (group, bit) = (self.group_of(worker), bit_of(worker));
        let mut was_parked = group.load().is_parked(bit);
        if was_parked {
            // ORDERING: AcqRel as in `Group::change`.
            let before = group.state.fetch_and(!bit, Ordering::AcqRel);
            was_parked = Snapshot(before).is_parked(bit);
        }
        // ORDERING: pairs with the fence of `SleepState::try_sleep`. Without it, the monitor finds
        // all workers parked and sleeps, and this worker does not see that it has to be woken.
        fence(Ordering::SeqCst);
        !was_parked
    }

    /// Removes a worker permanently. It must not be parked.
    pub(crate) fn remove(&self, worker: usize) {
        let bit = bit_of(worker) >> SEARCHING_BITS;
        let present = &self.group_of(worker).present;
        // ORDERING: a monitor that does not see it yet checks again.
        present.fetch_and(!bit, Ordering::Relaxed);
    }

    /// Returns whether a worker was not removed. A hint for the monitor.
    pub(crate) fn is_present(&self, worker: usize) -> bool {
        let bit = bit_of(worker) >> SEARCHING_BITS;
        // ORDERING: see `remove`.
        self.group_of(worker).present.load(Ordering::Relaxed) & bit != 0
    }

    /// Returns whether a worker is marked as parked. The thread that claims it clears the mark.
    #[inline]
    pub(crate) fn is_parked(&self, worker: usize) -> bool {
        self.group_of(worker).load().is_parked(bit_of(worker))
    }

    /// Returns whether a worker is parked. A hint for the monitor.
    pub(crate) fn is_any_parked(&self) -> bool {
        self.0.iter().any(|group| group.load().parked() != 0)
    }

    /// Returns whether a worker is not parked.
    pub(crate) fn is_any_running(&self) -> bool {
        self.0.iter().any(|group| {
            // ORDERING: see `remove`.
            group.load().parked() != group.present.load(Ordering::Relaxed)
        })
    }

    #[inline]
    fn group_of(&self, worker: usize) -> &Group {
        &self.0[worker / GROUP]
    }
}

impl Group {
    #[inline]
    fn load(&self) -> Snapshot {
        // ORDERING: a caller that decides to sleep or wake has passed a SeqCst fence; for others it
        // is a hint.
        Snapshot(self.state.load(Ordering::Relaxed))
    }

    /// Adds to the state and returns the former state.
    #[inline]
    fn change(&self, difference: usize) -> Snapshot {
        // ORDERING: AcqRel orders the changes of the word among each other. The fences order them
        // with the accesses of the queues.
        Snapshot(self.state.fetch_add(difference, Ordering::AcqRel))
    }
}

/// Returns the bit of a worker in the state of its group.
fn bit_of(worker: usize) -> usize {
    1 << (SEARCHING_BITS as usize + worker % GROUP)
}

/// The bit of a worker among those of a group, or none if it is in another group.
fn bit_in_group(group: usize, worker: Option<usize>) -> usize {
    match worker {
        Some(worker) if worker / GROUP == group => 1 << (worker % GROUP),
        _ => 0,
    }
}

impl fmt::Debug for IdleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |count: fn(Snapshot) -> usize| -> usize {
            self.0.iter().map(|group| count(group.load())).sum()
        };
        f.debug_struct("IdleSet")
            .field("searching", &sum(Snapshot::searching))
            .field("parked", &sum(|state| state.parked().count_ones() as usize))
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
