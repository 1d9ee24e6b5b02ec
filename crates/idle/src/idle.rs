//! The idle set: it records which workers are parked, how many search, and which parked worker is
//! the monitor. `docs/scheduler.md` has the protocol, and says why no wake-up is lost.
//!
//! # Why there is always a monitor
//!
//! In each row, each worker changes its own word, passes a fence and reads the other's. At least
//! one of the two sees the other's change:
//!
//! | one worker | the other worker | result |
//! |---|---|---|
//! | parks, and reads that the monitor is parked | the monitor returns, and reads whether it had the role and others are parked | the first takes the role, or the second elects another |
//! | puts the monitor on standby or takes its role, because all are parked, and reads whether a worker runs | begins to run, and reads whether there is a monitor | the first has the monitor elected again, or the second does |
//! | elects a parked worker, and reads whether it is still parked | the elected one returns, and reads whether it had the role | the first elects another, or the second does |

use std::fmt;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering, fence};
use raddle_primitives::{CachePadded, named};

/// The maximum number of workers of a pool.
pub const MAX_WORKERS: usize = (1 << 16) - 1;

/// Bits of a word that count searching workers.
const SEARCHING_BITS: u32 = 8;
const SEARCHING_ONE: usize = 1;
/// Workers of one group, whose state is one word. Models see the border of two groups between the
/// second and the third worker.
const GROUP: usize = match cfg!(raddle_loom) {
    true => 2,
    false => (usize::BITS - SEARCHING_BITS) as usize,
};

/// The role's word while no worker has the role.
const NO_MONITOR: usize = usize::MAX;
/// Set in the role's word while the monitor is on standby.
const ON_STANDBY: usize = 1 << (usize::BITS - 1);

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
/// ```
/// use raddle_idle::{Duty, IdleSet, Parking};
///
/// let set = IdleSet::new(2, false);
/// // Worker 1 searches, finds nothing, and parks. No other searches for it.
/// assert!(set.transition_to_searching(1));
/// assert_eq!(set.transition_to_parked(1, true), Parking::RecheckQueues);
/// assert_eq!(set.duty(1, || None), Duty::Sleep);
/// // Worker 0 has pushed a task: it has to unpark worker 1, which searches from then on.
/// assert_eq!(set.claim_to_wake(|| None), Some(1));
/// assert_eq!(set.duty(1, || None), Duty::Search);
/// assert!(set.transition_to_running(1), "it was claimed");
/// // It finds the task. As the last searcher it checks whether there is more.
/// assert!(set.end_search(1));
/// ```
pub struct IdleSet {
    groups: Box<[CachePadded<Group>]>,
    /// The [`Role`]. A worker keeps the role while it runs, until another worker that parks takes
    /// it, so that a worker that parks repeatedly does not write this word.
    role: CachePadded<AtomicUsize>,
    /// Whether a parked worker monitors running ones.
    has_monitor: bool,
}

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

/// The worker that is the monitor while it is parked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    None,
    /// It checks the running workers at intervals.
    Active(usize),
    /// It sleeps until it is elected again, since no worker ran at its last check.
    Standby(usize),
}

impl Role {
    fn of(word: usize) -> Self {
        match word {
            NO_MONITOR => Self::None,
            _ if word & ON_STANDBY == 0 => Self::Active(word),
            _ => Self::Standby(word & !ON_STANDBY),
        }
    }

    fn word(self) -> usize {
        match self {
            Self::None => NO_MONITOR,
            Self::Active(worker) => worker,
            Self::Standby(worker) => worker | ON_STANDBY,
        }
    }

    fn worker(self) -> Option<usize> {
        match self {
            Self::None => None,
            Self::Active(worker) | Self::Standby(worker) => Some(worker),
        }
    }
}

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
pub enum Parking {
    /// No worker of its group is searching: check every queue again.
    RecheckQueues,
    /// Another worker is searching, and is responsible for all queued tasks.
    Sleep,
}

/// What a parked worker does next: the result of [`IdleSet::duty`], which it calls before each
/// wait.
///
/// ```
/// use raddle_idle::{Duty, IdleSet};
///
/// let set = IdleSet::new(2, true);
/// // Worker 0 parks first, and has to monitor worker 1.
/// let _recheck = set.transition_to_parked(0, false);
/// assert_eq!(set.duty(0, || None), Duty::Monitor);
/// // When both are parked, there is no worker to monitor.
/// let _recheck = set.transition_to_parked(1, false);
/// assert_eq!((set.duty(0, || None), set.duty(1, || None)), (Duty::Standby, Duty::Sleep));
/// // A thread has pushed a task and claimed worker 1, which has to search for it.
/// assert_eq!(set.claim_to_wake(|| None), Some(1));
/// assert_eq!(set.duty(1, || None), Duty::Search);
/// ```
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub enum Duty {
    /// Stop parking, and search: the worker has been claimed, and counts as searching.
    Search,
    /// Sleep until woken.
    Sleep,
    /// Sleep for a short time, then check the running workers.
    Monitor,
    /// Sleep until woken or elected, as the monitor on standby.
    Standby,
    /// Elect the monitor on standby, and ask again.
    Elect,
}

impl IdleSet {
    /// Makes a set in which all workers run. With `has_monitor`, a parked worker monitors the
    /// running ones.
    ///
    /// # Panics
    ///
    /// Panics if `workers` is more than [`MAX_WORKERS`].
    pub fn new(workers: usize, has_monitor: bool) -> Self {
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
        Self {
            groups: groups.collect(),
            role: CachePadded::new(named("role of the monitor", AtomicUsize::new(NO_MONITOR))),
            has_monitor,
        }
    }

    /// Claims a parked worker because there is new work, unless a worker is searching. The caller
    /// must unpark the claimed worker, which is no longer parked and counts as searching. Prefers
    /// workers that are neither in the driver nor the monitor, then the monitor, then the one in
    /// the driver; among several, the one with the lowest number.
    ///
    /// ```
    /// use raddle_idle::IdleSet;
    ///
    /// let set = IdleSet::new(3, false);
    /// for worker in 0..3 {
    ///     let _recheck = set.transition_to_parked(worker, false);
    /// }
    /// // Worker 0 waits for events in the driver. Worker 1 is woken in its place.
    /// assert_eq!(set.claim_to_wake(|| Some(0)), Some(1));
    /// // Worker 1 searches, and will find the next task as well.
    /// assert_eq!(set.claim_to_wake(|| Some(0)), None);
    /// ```
    #[inline]
    #[must_use = "the worker that is returned has to be unparked"]
    pub fn claim_to_wake(&self, in_driver: impl FnOnce() -> Option<usize>) -> Option<usize> {
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
    pub fn claim_after_fence(&self, in_driver: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let mut is_any_parked = false;
        for group in &self.groups {
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
        let monitor = self.role().worker();
        // Without a worker in the driver, events wait for the polls of the others. A monitor that
        // is claimed has its successor elected.
        for spared in [[monitor, in_driver], [in_driver, None], [None, None]] {
            for (index, group) in self.groups.iter().enumerate() {
                let mut state = group.load();
                loop {
                    // CHECK: a worker that has begun to search meanwhile is responsible for the
                    // task.
                    if state.searching() > 0 {
                        return None;
                    }
                    let candidates = state.parked() & !bits_in_group(index, spared);
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
    pub fn transition_to_searching(&self, worker: usize) -> bool {
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
    pub fn end_search(&self, worker: usize) -> bool {
        let before = self.group_of(worker).change(SEARCHING_ONE.wrapping_neg());
        // ORDERING: pairs with the fence in `claim_to_wake`. Without it, a pusher relies on this
        // searcher, which checks the queues before it sees the push; no worker is woken for the
        // task.
        fence(Ordering::SeqCst);
        before.searching() == 1
    }

    /// Marks a worker as parked. If it was searching, it no longer counts as searching.
    #[inline]
    pub fn transition_to_parked(&self, worker: usize, was_searching: bool) -> Parking {
        let searching = usize::from(was_searching);
        let group = self.group_of(worker);
        debug_assert!(!group.load().is_parked(bit_of(worker)));
        let before = group.change(bit_of(worker) - searching * SEARCHING_ONE);
        // ORDERING: pairs with the fence in `claim_to_wake`, which explains what the two prevent,
        // and with that of a monitor that returns.
        fence(Ordering::SeqCst);
        match before.searching() == searching {
            true => Parking::RecheckQueues,
            false => Parking::Sleep,
        }
    }

    /// Ends the parking of a worker that has found work before it blocked. The worker then counts
    /// as searching, even if it has been claimed.
    #[inline]
    pub fn cancel_parking(&self, worker: usize) {
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
    pub fn transition_to_running(&self, worker: usize) -> bool {
        let (group, bit) = (self.group_of(worker), bit_of(worker));
        let mut was_parked = group.load().is_parked(bit);
        if was_parked {
            // ORDERING: AcqRel as in `Group::change`.
            let before = group.state.fetch_and(!bit, Ordering::AcqRel);
            was_parked = Snapshot(before).is_parked(bit);
        }
        // ORDERING: pairs with the fences of a worker that parks and relies on this one as the
        // monitor, of one that elects it, and of a monitor that resigns because all are parked.
        // Without it, neither of the two sees the other's change, and no parked worker monitors
        // this one.
        fence(Ordering::SeqCst);
        !was_parked
    }

    /// Removes a worker permanently. It must not be parked.
    pub fn remove(&self, worker: usize) {
        let bit = bit_of(worker) >> SEARCHING_BITS;
        let present = &self.group_of(worker).present;
        // ORDERING: a monitor that does not see it yet checks again.
        present.fetch_and(!bit, Ordering::Relaxed);
    }

    /// Returns whether a worker is marked as parked. The thread that claims it clears the mark.
    #[inline]
    pub fn is_parked(&self, worker: usize) -> bool {
        self.group_of(worker).load().is_parked(bit_of(worker))
    }

    #[inline]
    fn is_any_parked(&self) -> bool {
        self.groups.iter().any(|group| group.load().parked() != 0)
    }

    /// Returns whether there is a worker to monitor.
    #[inline]
    fn is_any_running(&self) -> bool {
        self.groups.iter().any(|group| {
            // ORDERING: see `remove`.
            group.load().parked() != group.present.load(Ordering::Relaxed)
        })
    }

    #[inline]
    fn group_of(&self, worker: usize) -> &Group {
        &self.groups[worker / GROUP]
    }
}

/// The monitor.
impl IdleSet {
    #[inline]
    fn role(&self) -> Role {
        // ORDERING: the fences order it with the marks of parked workers.
        Role::of(self.role.load(Ordering::Relaxed))
    }

    /// Changes the role, if it has not changed since the caller read it.
    fn try_change_role(&self, from: Role, to: Role) -> bool {
        let (from, to) = (from.word(), to.word());
        // ORDERING: AcqRel orders the alarm: it is cleared before the role becomes standby, and set
        // after the monitor on standby is elected.
        let changed = self
            .role
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `transition_to_running`: the caller sees that a worker
        // runs, or that worker sees the change.
        fence(Ordering::SeqCst);
        changed.is_ok()
    }

    /// Returns whether the worker, which has just stopped parking, had the role: other workers may
    /// have relied on it.
    #[inline]
    pub fn was_monitor(&self, worker: usize) -> bool {
        self.has_monitor && self.role() == Role::Active(worker)
    }

    /// Returns whether workers are parked and none of them is the monitor. This is a hint for a
    /// running worker: a worker that parks later takes the role.
    #[inline]
    pub fn lacks_monitor(&self) -> bool {
        self.has_monitor && self.is_any_parked() && !self.has_parked_monitor()
    }

    #[inline]
    fn has_parked_monitor(&self) -> bool {
        matches!(self.role(), Role::Active(worker) if self.is_parked(worker))
    }

    /// Elects a parked worker as the monitor, if some workers run, some are parked, and no parked
    /// one is the monitor. If one is on standby outside the driver, that one is elected. The caller
    /// must set the alarm if the elected worker waits for it, and unpark the worker otherwise. The
    /// worker stays marked as parked.
    ///
    /// ```
    /// use raddle_idle::{Duty, IdleSet};
    ///
    /// let set = IdleSet::new(3, true);
    /// for worker in 0..3 {
    ///     let _recheck = set.transition_to_parked(worker, false);
    /// }
    /// assert_eq!(set.elect_monitor(None), None, "no worker runs");
    /// assert!(!set.transition_to_running(2));
    /// // Worker 0 waits for events in the driver, so worker 1 is elected.
    /// assert_eq!(set.elect_monitor(Some(0)), Some(1));
    /// assert_eq!(set.duty(1, || None), Duty::Monitor);
    /// ```
    #[must_use = "the worker that is returned has to be unparked, or its alarm set"]
    pub fn elect_monitor(&self, in_driver: Option<usize>) -> Option<usize> {
        if !self.has_monitor {
            return None;
        }
        loop {
            let former = self.role();
            if self.has_parked_monitor() || !self.is_any_running() {
                return None;
            }
            let elected = match former {
                Role::Standby(worker) if self.is_parked(worker) && in_driver != Some(worker) => {
                    worker
                }
                _ => self
                    .first_parked([in_driver])
                    .or_else(|| self.first_parked([]))?,
            };
            // CHECK: a worker that has returned since it was chosen, and has not found itself to be
            // the monitor.
            if self.try_change_role(former, Role::Active(elected)) && self.is_parked(elected) {
                return Some(elected);
            }
        }
    }

    /// Puts the monitor on standby, if no worker runs. Calls `clear_alarm` first. The caller is
    /// parked, and asks for its [`duty`](Self::duty) next. Returns `false` if the role changed
    /// meanwhile: then another worker may rely on the alarm, and the caller sets it again.
    #[must_use = "the alarm has to be set again if this is false"]
    pub fn put_monitor_on_standby(&self, clear_alarm: impl FnOnce()) -> bool {
        let role = self.role();
        let Role::Active(monitor) = role else {
            return true;
        };
        if self.is_any_running() {
            return true;
        }
        // Before the role changes: the worker that elects the monitor next sets the alarm again.
        clear_alarm();
        self.try_change_role(role, Role::Standby(monitor))
    }

    fn first_parked<const N: usize>(&self, spared: [Option<usize>; N]) -> Option<usize> {
        self.groups.iter().enumerate().find_map(|(index, group)| {
            let candidates = group.load().parked() & !bits_in_group(index, spared);
            (candidates != 0).then(|| index * GROUP + candidates.trailing_zeros() as usize)
        })
    }

    /// Returns the duty of a parked worker that has woken up, or is about to block. The worker
    /// takes the role of the monitor if no parked worker has it. The monitor goes on standby when
    /// no worker runs.
    ///
    /// `in_driver` returns the worker that waits in the driver, as far as the caller knows. If that
    /// worker has the role while no worker runs, this worker takes the role over, on standby: the
    /// worker in the driver is the next to run, and another would have to be woken to monitor it.
    #[inline]
    pub fn duty(&self, worker: usize, in_driver: impl Fn() -> Option<usize>) -> Duty {
        loop {
            // CHECK: the worker has been claimed, to search.
            if !self.is_parked(worker) {
                return Duty::Search;
            }
            if !self.has_monitor {
                return Duty::Sleep;
            }
            let role = self.role();
            let is_needed = self.is_any_running();
            match role {
                Role::Active(monitor) if monitor == worker => {
                    if is_needed {
                        return Duty::Monitor;
                    }
                    // CHECK: a worker that began to run before it could see that there is no
                    // monitor.
                    if self.try_change_role(role, Role::Standby(worker)) && !self.is_any_running() {
                        return Duty::Standby;
                    }
                }
                Role::Standby(monitor) if monitor == worker && !is_needed => return Duty::Standby,
                Role::Active(monitor) | Role::Standby(monitor)
                    if !is_needed && in_driver() == Some(monitor) =>
                {
                    // CHECK: a worker that began to run, and saw that the former monitor was
                    // parked.
                    if self.try_change_role(role, Role::Standby(worker)) && !self.is_any_running() {
                        return Duty::Standby;
                    }
                }
                Role::Active(monitor) if self.is_parked(monitor) => return Duty::Sleep,
                _ if !is_needed => return Duty::Sleep,
                Role::Standby(monitor) if monitor != worker && self.is_parked(monitor) => {
                    return Duty::Elect;
                }
                _ => {
                    if self.try_change_role(role, Role::Active(worker)) {
                        return Duty::Monitor;
                    }
                }
            }
        }
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

/// Returns which of `workers` are in a group, as bits from the lowest.
fn bits_in_group<const N: usize>(group: usize, workers: [Option<usize>; N]) -> usize {
    let workers = workers.into_iter().flatten();
    workers
        .filter(|worker| worker / GROUP == group)
        .fold(0, |bits, worker| bits | 1 << (worker % GROUP))
}

impl fmt::Debug for IdleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |count: fn(Snapshot) -> usize| -> usize {
            self.groups.iter().map(|group| count(group.load())).sum()
        };
        f.debug_struct("IdleSet")
            .field("searching", &sum(Snapshot::searching))
            .field("parked", &sum(|state| state.parked().count_ones() as usize))
            .finish_non_exhaustive()
    }
}
