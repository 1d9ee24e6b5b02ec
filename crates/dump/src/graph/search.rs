//! The search for deadlocks. The [README](crate#deadlocks) has its rules.

use std::collections::HashSet;
use std::time::Duration;

use raddle_leaf::wait::{Resource, Role, Wait, root_number, users};

use super::{Deadlock, Edge, Exit};
use crate::table::{Hashing, Map};

/// The numbers of tasks.
type Set = HashSet<u64, Hashing>;

/// A poll with this number of waits may have further waits that are not recorded.
const MAX_WAITS: usize = 64;

/// How long a task that also waits for something else must have waited for the cycle.
const MIN_BLOCKED: Duration = Duration::from_millis(50);

/// The same for a task that waits for what it holds itself: another part of its future may hold it,
/// and release it soon.
const MIN_BLOCKED_BY_ITSELF: Duration = Duration::from_secs(1);

/// A waiting task or `block_on`.
pub(crate) struct Waiting<'a> {
    pub(crate) id: u64,
    pub(crate) waits: &'a [Wait],
    /// The number of its wakers and abort handles, if it was counted.
    pub(crate) wakers: Option<usize>,
    /// How long its polls have found at least one wait for a lock, permits or a task.
    pub(crate) blocked: Duration,
}

/// What has to happen before a wait ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// The dump does not know all that may end it.
    Anything,
    /// One of the tasks that the edges lead to has to run.
    OneTask,
    /// All these tasks have to run.
    AllTasks,
}

struct Blocker {
    wait: Wait,
    need: Need,
    edges: Vec<Edge>,
}

/// A waiting task, in the search.
struct Waiter {
    id: u64,
    blockers: Vec<Blocker>,
    /// Whether the dump knows all that may wake the task.
    is_known: bool,
    has_other_wakers: bool,
    has_other_parts: bool,
    blocked: Duration,
}

/// Returns all edges, sorted by the waiting task, and the deadlocks. `is_unchanged` returns whether
/// a task has not been polled or woken since it was copied.
pub(crate) fn search<'a>(
    waiting: impl Iterator<Item = Waiting<'a>>,
    is_unchanged: impl Fn(u64) -> bool,
) -> (Vec<Edge>, Vec<Deadlock>) {
    let waiters: Map<_> = waiting.map(|task| (task.id, Waiter::new(&task))).collect();
    let mut edges: Vec<_> = waiters.values().flat_map(Waiter::edges).copied().collect();
    edges.sort_by_key(|edge| edge.from);
    let stuck = find_stuck(&waiters);
    let mut deadlocks = cycles(&waiters, &stuck);
    // A deadlock counts only if none of its tasks has been polled since the copy, so that all of
    // its waits existed at the same time.
    deadlocks.retain(|deadlock| {
        let mut supporters = deadlock.edges.iter().flat_map(|edge| {
            let blockers = waiters.get(&edge.from).map(|waiter| &waiter.blockers);
            let blocker = blockers
                .into_iter()
                .flatten()
                .find(|blocker| blocker.wait == edge.wait);
            let others = blocker
                .into_iter()
                .filter(|blocker| blocker.need == Need::OneTask);
            others
                .flat_map(|blocker| &blocker.edges)
                .map(|edge| edge.to)
                .chain([edge.from])
        });
        supporters.all(&is_unchanged)
    });
    (edges, deadlocks)
}

/// Returns whether a task may hold what the wait is for until it runs again. A message, a timer or
/// an event may come from anywhere instead.
pub(crate) fn is_holdable(wait: &Wait) -> bool {
    matches!(
        wait.resource(),
        Resource::Lock(_) | Resource::Semaphore(_) | Resource::Task(_) | Resource::Set(_)
    )
}

impl Blocker {
    fn new(from: u64, wait: Wait) -> Self {
        let edge = |to, role, location| Edge {
            from,
            to,
            wait,
            role,
            location,
        };
        let (address, role) = match wait.resource() {
            Resource::Task(task) => {
                let (need, edges) = (Need::AllTasks, vec![edge(task, None, None)]);
                return Self { wait, need, edges };
            }
            Resource::Lock(address) | Resource::Semaphore(address) => (address, Role::Holder),
            Resource::Messages(address) => (address, Role::Sender),
            Resource::Room(address) => (address, Role::Receiver),
            Resource::Set(address) => (address, Role::Member),
            _ => {
                let (need, edges) = (Need::Anything, Vec::new());
                return Self { wait, need, edges };
            }
        };
        let mut users = users(address);
        users.retain(|user| user.role() == role);
        let mut edges: Vec<Edge> = Vec::new();
        for user in &users {
            // A task may hold many permits, and is one that the wait needs.
            if let Some(task) = user.task() {
                if !edges.iter().any(|edge| edge.to == task) {
                    edges.push(edge(task, Some(role), user.location()));
                }
            }
        }
        let is_lock = matches!(wait.resource(), Resource::Lock(_));
        // An owned permit is often passed on, in a message for instance.
        let is_passed_on = |user: &raddle_leaf::wait::ResourceUser| {
            role == Role::Holder && user.is_owned() && !user.is_captured()
        };
        let is_unknown = users
            .iter()
            .any(|user| user.task().is_none() || is_passed_on(user));
        let need = match (is_lock, is_unknown || edges.is_empty()) {
            (true, _) => Need::AllTasks,
            (false, true) => Need::Anything,
            (false, false) => Need::OneTask,
        };
        Self { wait, need, edges }
    }

    /// Returns whether the wait lasts as long as the tasks in `stuck` do not run.
    fn is_blocked(&self, is_stuck: impl Fn(&Edge) -> bool) -> bool {
        match self.need {
            Need::Anything => false,
            Need::OneTask => self.edges.iter().all(is_stuck),
            Need::AllTasks => self.edges.iter().any(is_stuck),
        }
    }
}

impl Waiter {
    fn new(task: &Waiting<'_>) -> Self {
        let blockers: Vec<_> = task
            .waits
            .iter()
            .map(|wait| Blocker::new(task.id, *wait))
            .collect();
        let has_all = task.waits.len() < MAX_WAITS && task.waits.iter().all(Wait::is_direct);
        let is_root = root_number(task.id).is_some();
        let has_other_wakers = task.wakers.is_none_or(|wakers| wakers != task.waits.len());
        let can_end = blockers
            .iter()
            .any(|blocker| blocker.need == Need::Anything);
        Self {
            id: task.id,
            is_known: has_all && !is_root && !has_other_wakers && !can_end && !blockers.is_empty(),
            has_other_wakers: has_other_wakers && !is_root,
            has_other_parts: is_root || !has_all,
            blockers,
            blocked: task.blocked,
        }
    }

    fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.blockers.iter().flat_map(|blocker| &blocker.edges)
    }

    /// Returns whether the task may be in a deadlock even if other waits may end.
    fn is_long_blocked(&self) -> bool {
        self.blocked >= MIN_BLOCKED
            && self
                .blockers
                .iter()
                .any(|blocker| is_holdable(&blocker.wait))
    }

    /// Returns whether nothing wakes the task before a task in `stuck` runs.
    fn is_strictly_stuck(&self, stuck: &Set) -> bool {
        let is_stuck = |edge: &Edge| stuck.contains(&edge.to);
        self.is_known
            && self
                .blockers
                .iter()
                .all(|blocker| blocker.is_blocked(is_stuck))
    }

    /// Returns an edge by which the task waits for a task in `stuck`, if it is stuck because of
    /// that: strictly, or for a while in one wait for what the other task holds.
    fn next(&self, stuck: &Set) -> Option<&Edge> {
        let is_strict = self.is_strictly_stuck(stuck);
        if !is_strict && !self.is_long_blocked() {
            return None;
        }
        let is_long = is_strict || self.blocked >= MIN_BLOCKED_BY_ITSELF;
        let leads_to = |edge: &Edge| stuck.contains(&edge.to) && (is_long || edge.to != edge.from);
        let blocked = self.blockers.iter().find(|blocker| {
            (is_strict || is_holdable(&blocker.wait)) && blocker.is_blocked(leads_to)
        });
        blocked?.edges.iter().find(|edge| leads_to(edge))
    }

    /// Adds what may end the deadlock at this task, whose edge in the cycle is `edge`.
    fn add_exits(&self, edge: &Edge, stuck: &Set, exits: &mut Vec<Exit>) {
        exits.extend(match edge.wait.resource() {
            Resource::Lock(_) => Some(Exit::MovedGuard(*edge)),
            Resource::Semaphore(_) => Some(Exit::MorePermits(*edge)),
            Resource::Messages(_) | Resource::Room(_) => Some(Exit::MovedEnd(*edge)),
            Resource::Set(_) => Some(Exit::NewMember(*edge)),
            _ => None,
        });
        let task = self.id;
        if self.is_strictly_stuck(stuck) {
            return;
        }
        let others = self
            .blockers
            .iter()
            .filter(|blocker| blocker.wait != edge.wait);
        exits.extend(others.map(|other| Exit::OtherWait {
            task,
            wait: other.wait,
        }));
        exits.extend(self.has_other_wakers.then_some(Exit::OtherWaker { task }));
        exits.extend(self.has_other_parts.then_some(Exit::OtherParts { task }));
    }
}

/// Returns the largest set of tasks each of which is [stuck](Waiter::next) because of the
/// others.
fn find_stuck(waiters: &Map<Waiter>) -> Set {
    let mut waited_for: Map<Vec<u64>> = Map::default();
    let mut stuck = Set::default();
    for waiter in waiters.values() {
        if waiter.is_known || waiter.is_long_blocked() {
            stuck.insert(waiter.id);
            for edge in waiter.edges() {
                waited_for.entry(edge.to).or_default().push(waiter.id);
            }
        }
    }
    let mut to_check: Vec<_> = stuck.iter().copied().collect();
    while let Some(id) = to_check.pop() {
        let is_stuck = waiters
            .get(&id)
            .is_some_and(|waiter| waiter.next(&stuck).is_some());
        if !is_stuck && stuck.remove(&id) {
            to_check.extend(waited_for.get(&id).into_iter().flatten());
        }
    }
    stuck
}

/// Returns one cycle for each group of stuck tasks whose waits lead to it.
fn cycles(waiters: &Map<Waiter>, stuck: &Set) -> Vec<Deadlock> {
    let next = |id: u64| waiters.get(&id)?.next(stuck).copied();
    let mut deadlocks = Vec::new();
    let mut seen = Set::default();
    let mut starts: Vec<_> = stuck.iter().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let mut path: Vec<Edge> = Vec::new();
        let mut id = start;
        while seen.insert(id) {
            let Some(edge) = next(id) else { break };
            path.push(edge);
            id = edge.to;
        }
        // The walk may have reached the path of an earlier walk.
        let Some(first) = path.iter().position(|edge| edge.from == id) else {
            continue;
        };
        let edges = path.split_off(first).into_boxed_slice();
        let mut exits = Vec::new();
        for edge in &edges {
            if let Some(waiter) = waiters.get(&edge.from) {
                waiter.add_exits(edge, stuck, &mut exits);
            }
        }
        let exits = exits.into();
        deadlocks.push(Deadlock { edges, exits });
    }
    deadlocks
}
