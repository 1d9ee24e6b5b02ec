//! Which workers are searching and which are parked: `docs/idle-protocol.md`.

use std::fmt;

use raddle_std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_std::sync::{Mutex, Rank};

/// The number of workers that the counts have room for.
pub(crate) const MAX_WORKERS: usize = (1 << PARKED_SHIFT) - 1;

const PARKED_SHIFT: u32 = 16;
const SEARCHING_ONE: usize = 1;
const PARKED_ONE: usize = 1 << PARKED_SHIFT;

/// The book of idle workers.
pub(crate) struct Idle {
    counts: AtomicUsize,
    /// Changed together with the count of the parked, under this lock.
    sleepers: Mutex<Sleepers>,
    /// Whether somebody keeps watch. Written under the same lock.
    watched: AtomicBool,
    workers: usize,
    /// Whether a parked worker keeps watch over running ones.
    has_watch: bool,
}

struct Sleepers {
    /// The parked workers, the latest last.
    listed: Vec<usize>,
    /// The one of them that keeps watch.
    watcher: Option<usize>,
    /// How many workers have left for good, and so are never parked.
    gone: usize,
}

impl Sleepers {
    /// Takes a worker off the list: the latest that neither is in the driver
    /// nor keeps watch; or else one that is in the driver; or else the watcher:
    /// then all run, and there is nobody to watch for.
    fn pop(&mut self, is_in_driver: impl Fn(usize) -> bool) -> Option<usize> {
        let watches = |worker| Some(worker) == self.watcher;
        let listed = || self.listed.iter();
        let place = listed()
            .rposition(|&worker| !watches(worker) && !is_in_driver(worker))
            .or_else(|| listed().rposition(|&worker| !watches(worker)))
            .or(self.listed.len().checked_sub(1))?;
        let worker = self.listed.remove(place);
        self.dismiss(worker);
        Some(worker)
    }

    fn remove(&mut self, worker: usize) -> bool {
        let place = self.listed.iter().position(|&sleeper| sleeper == worker);
        if let Some(place) = place {
            self.listed.remove(place);
            self.dismiss(worker);
        }
        place.is_some()
    }

    fn dismiss(&mut self, worker: usize) {
        if self.watcher == Some(worker) {
            self.watcher = None;
        }
    }
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

/// What a parked worker has to do.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Duty {
    /// Nothing more: another has taken it off the list, to search.
    Leave,
    /// Sleep until woken.
    Sleep,
    /// Sleep for a moment, then look after the workers that run.
    Watch,
}

impl Idle {
    pub(crate) fn new(workers: usize, has_watch: bool) -> Self {
        Self {
            counts: AtomicUsize::new(0),
            sleepers: Mutex::ranked(
                Rank::leaf("sleepers"),
                Sleepers {
                    listed: Vec::with_capacity(workers),
                    watcher: None,
                    gone: 0,
                },
            ),
            watched: AtomicBool::new(false),
            workers,
            has_watch,
        }
    }

    /// The worker to unpark because there is new work, if there is reason to:
    /// rather one that is not in the driver, who would leave it to nobody. It
    /// is off the list and counts as searching.
    #[inline]
    pub(crate) fn worker_to_wake(&self, is_in_driver: impl Fn(usize) -> bool) -> Option<usize> {
        // ORDERING: the fence pairs with the one in `park`. Without it: the
        // caller pushes, a worker lists itself, and each looks at the other's
        // word before it sees the change; the task waits for ever.
        fence(Ordering::SeqCst);
        // ORDERING: as above.
        if !Counts(self.counts.load(Ordering::Relaxed)).wants_wake() {
            return None;
        }
        self.take_sleeper(is_in_driver)
    }

    #[cold]
    fn take_sleeper(&self, is_in_driver: impl Fn(usize) -> bool) -> Option<usize> {
        let mut sleepers = self.sleepers.lock();
        // ORDERING: another notifier's change was made under the lock; a
        // worker that began to search meanwhile answers for the work too.
        if !Counts(self.counts.load(Ordering::Relaxed)).wants_wake() {
            return None;
        }
        let worker = sleepers.pop(is_in_driver)?;
        self.note_watch(&sleepers);
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
    /// has to look whether there is more, and wake another if so.
    #[must_use]
    pub(crate) fn end_search(&self) -> bool {
        let was_last = self.change(SEARCHING_ONE.wrapping_neg()).searching() == 1;
        // ORDERING: pairs with the fence in `worker_to_wake`. Without it: a
        // pusher still counts on this searcher, which looks before it sees the
        // push; nobody is woken for it.
        fence(Ordering::SeqCst);
        was_last
    }

    /// Lists a worker as parked; it stops searching if it did.
    pub(crate) fn park(&self, worker: usize, searching: bool) -> Parking {
        let mut sleepers = self.sleepers.lock();
        debug_assert!(!sleepers.listed.contains(&worker));
        sleepers.listed.push(worker);
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
    /// also if another took it off before. Whether it was to keep watch: somebody
    /// counts on that, and another has to be appointed.
    #[must_use]
    pub(crate) fn unpark_to_search(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let was_watcher = sleepers.watcher == Some(worker);
        if sleepers.remove(worker) {
            self.note_watch(&sleepers);
            self.change(SEARCHING_ONE.wrapping_sub(PARKED_ONE));
        }
        was_watcher
    }

    /// Takes a worker that has woken off the list. Whether another had done so
    /// before, and counted it as searching.
    #[must_use]
    pub(crate) fn unpark(&self, worker: usize) -> bool {
        let mut sleepers = self.sleepers.lock();
        let was_listed = sleepers.remove(worker);
        if was_listed {
            self.note_watch(&sleepers);
            self.change(PARKED_ONE.wrapping_neg());
        }
        !was_listed
    }

    /// Appoints a parked worker to keep watch, if some run, some are parked and
    /// none does yet. It is to be unparked, and stays on the list.
    pub(crate) fn appoint_watcher(&self) -> Option<usize> {
        if !self.has_watch {
            return None;
        }
        let mut sleepers = self.sleepers.lock();
        if sleepers.watcher.is_some() || !self.any_runs(&sleepers) {
            return None;
        }
        sleepers.watcher = sleepers.listed.last().copied();
        self.note_watch(&sleepers);
        sleepers.watcher
    }

    /// Whether a watcher could be appointed. A hint: whoever parks after it
    /// takes the watch.
    #[inline]
    pub(crate) fn lacks_watch(&self) -> bool {
        // ORDERING: a running worker has synchronised with the change of the
        // list by which it began to run. A watcher that gave up the watch later
        // has seen it run, and has left it to another.
        let watched = || self.watched.load(Ordering::Relaxed);
        // ORDERING: as above.
        let parked = || Counts(self.counts.load(Ordering::Relaxed)).parked();
        self.has_watch && !watched() && parked() > 0
    }

    /// Whether there is a worker to watch over.
    fn any_runs(&self, sleepers: &Sleepers) -> bool {
        sleepers.listed.len() + sleepers.gone < self.workers
    }

    /// Says that a worker, which is not listed, has left for good.
    pub(crate) fn leave(&self) {
        self.sleepers.lock().gone += 1;
    }

    /// Whether a worker is listed as parked. One that is not lists itself later
    /// than the caller who is, should it park.
    pub(crate) fn is_listed(&self, worker: usize) -> bool {
        self.sleepers.lock().listed.contains(&worker)
    }

    /// Tells whether somebody keeps watch, after a change under the lock.
    fn note_watch(&self, sleepers: &Sleepers) {
        // ORDERING: see `lacks_watch`.
        self.watched
            .store(sleepers.watcher.is_some(), Ordering::Relaxed);
    }

    /// What a parked worker is to do now that it has woken, or is about to
    /// block. It takes the watch if nobody has it. A watcher gives it up when
    /// there is nobody left to watch over, unless it `lingers`.
    pub(crate) fn duty(&self, worker: usize, lingers: bool) -> Duty {
        let mut sleepers = self.sleepers.lock();
        // CHECK: another has taken the worker off the list, to search.
        if !sleepers.listed.contains(&worker) {
            return Duty::Leave;
        }
        if !self.has_watch {
            return Duty::Sleep;
        }
        if !self.any_runs(&sleepers) && !lingers {
            sleepers.dismiss(worker);
            self.note_watch(&sleepers);
            return Duty::Sleep;
        }
        if *sleepers.watcher.get_or_insert(worker) == worker {
            self.note_watch(&sleepers);
            Duty::Watch
        } else {
            Duty::Sleep
        }
    }

    /// Adds to the counts and returns what they were.
    #[inline]
    fn change(&self, difference: usize) -> Counts {
        // ORDERING: the changes order themselves among each other; towards the
        // queues the fences do it.
        Counts(self.counts.fetch_add(difference, Ordering::AcqRel))
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
