//! Which workers are searching and which are parked: `docs/idle-protocol.md`.

use std::fmt;

use raddle_std::sync::Mutex;
use raddle_std::sync::atomic::{AtomicUsize, Ordering, fence};

/// The number of workers that the counts have room for.
pub(crate) const MAX_WORKERS: usize = (1 << PARKED_SHIFT) - 1;

const PARKED_SHIFT: u32 = 16;
const SEARCHING_ONE: usize = 1;
const PARKED_ONE: usize = 1 << PARKED_SHIFT;

/// The book of idle workers.
pub(crate) struct Idle {
    counts: AtomicUsize,
    /// The parked workers, the latest last. Changed together with the count of
    /// the parked, under this lock.
    sleepers: Mutex<Vec<usize>>,
    workers: usize,
}

#[derive(Clone, Copy)]
struct Counts(usize);

impl Counts {
    fn searching(self) -> usize {
        self.0 & (PARKED_ONE - 1)
    }

    fn parked(self) -> usize {
        self.0 >> PARKED_SHIFT
    }

    /// Whether new work is a reason to wake somebody.
    fn wants_wake(self) -> bool {
        self.searching() == 0 && self.parked() > 0
    }
}

/// What a worker that has listed itself as parked has to do before it blocks.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Parking {
    /// Nobody is searching: look at every queue again.
    LookAgain,
    /// Somebody is searching, and answers for what there is.
    Sleep,
}

impl Idle {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            counts: AtomicUsize::new(0),
            sleepers: Mutex::new(Vec::with_capacity(workers)),
            workers,
        }
    }

    /// The worker to unpark because there is new work, if there is reason to.
    /// It is off the list and counts as searching.
    #[inline]
    pub(crate) fn worker_to_wake(&self) -> Option<usize> {
        // ORDERING: the fence pairs with the one in `park`. Without it: the
        // caller pushes, a worker lists itself, and each looks at the other's
        // word before it sees the change; the task waits for ever.
        fence(Ordering::SeqCst);
        // ORDERING: as above.
        if !Counts(self.counts.load(Ordering::Relaxed)).wants_wake() {
            return None;
        }
        self.take_sleeper()
    }

    #[cold]
    fn take_sleeper(&self) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // ORDERING: another notifier's change was made under the lock; a
        // worker that began to search meanwhile answers for the work too.
        if !Counts(self.counts.load(Ordering::Relaxed)).wants_wake() {
            return None;
        }
        let worker = sleepers.pop()?;
        self.change(SEARCHING_ONE.wrapping_sub(PARKED_ONE));
        Some(worker)
    }

    /// Counts the calling worker as searching, unless half of them do already.
    pub(crate) fn begin_search(&self) -> bool {
        // ORDERING: a throttle, which may be off by a few.
        let counts = Counts(self.counts.load(Ordering::Relaxed));
        if 2 * counts.searching() >= self.workers {
            return false;
        }
        self.change(SEARCHING_ONE);
        true
    }

    /// Ends a search that found work. Whether the caller, as the last searcher,
    /// has to wake another.
    #[must_use]
    pub(crate) fn end_search(&self) -> bool {
        self.change(SEARCHING_ONE.wrapping_neg()).searching() == 1
    }

    /// Lists a worker as parked; it stops searching if it did.
    pub(crate) fn park(&self, worker: usize, searching: bool) -> Parking {
        let mut sleepers = self.sleepers.lock();
        debug_assert!(!sleepers.contains(&worker));
        sleepers.push(worker);
        let was = usize::from(searching);
        let before = self.change(PARKED_ONE.wrapping_sub(was * SEARCHING_ONE));
        drop(sleepers);
        // ORDERING: pairs with the fence in `worker_to_wake`, which says what
        // the two prevent.
        fence(Ordering::SeqCst);
        if before.searching() == was {
            Parking::LookAgain
        } else {
            Parking::Sleep
        }
    }

    /// Takes a worker that has found work off the list; it is searching then,
    /// also if another took it off before.
    pub(crate) fn unpark_to_search(&self, worker: usize) {
        let mut sleepers = self.sleepers.lock();
        if remove(&mut sleepers, worker) {
            self.change(SEARCHING_ONE.wrapping_sub(PARKED_ONE));
        }
    }

    /// Takes a worker that has woken off the list. Whether another had done so
    /// before, and counted it as searching.
    #[must_use]
    pub(crate) fn unpark(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let was_listed = remove(&mut sleepers, worker);
        if was_listed {
            self.change(PARKED_ONE.wrapping_neg());
        }
        !was_listed
    }

    /// Adds to the counts and returns what they were.
    #[inline]
    fn change(&self, difference: usize) -> Counts {
        // ORDERING: the changes order themselves among each other; towards the
        // queues the fences do it.
        Counts(self.counts.fetch_add(difference, Ordering::AcqRel))
    }
}

fn remove(sleepers: &mut Vec<usize>, worker: usize) -> bool {
    match sleepers.iter().position(|&sleeper| sleeper == worker) {
        Some(place) => {
            sleepers.remove(place);
            true
        }
        None => false,
    }
}

impl fmt::Debug for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // ORDERING: for people.
        let counts = Counts(self.counts.load(Ordering::Relaxed));
        f.debug_struct("Idle")
            .field("searching", &counts.searching())
            .field("parked", &counts.parked())
            .field("workers", &self.workers)
            .finish()
    }
}
