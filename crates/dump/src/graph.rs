//! The wait-for graph, and the deadlocks in it.

use std::collections::HashSet;
use std::fmt;
use std::panic::Location;

use raddle_leaf::wait::{Resource, Role, Wait, users};

use crate::table::{Hashing, Map};

/// The numbers of tasks.
type Set = HashSet<u64, Hashing>;

/// A poll with this number of waits may have further waits that are not recorded.
const MAX_WAITS: usize = 64;

/// An edge of the wait-for graph: one task waits for something that another task must do.
///
/// [`Display`](fmt::Display) prints it as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    from: u64,
    to: u64,
    wait: Wait,
    role: Option<Role>,
    location: Option<&'static Location<'static>>,
}

/// Tasks that wait for each other in a cycle, so that none makes progress.
///
/// [`Display`](fmt::Display) prints a line for each task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    edges: Box<[Edge]>,
}

impl Edge {
    /// Returns the id of the task that waits.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// Returns the id of the task that it waits for.
    pub fn to(&self) -> u64 {
        self.to
    }

    /// Returns what it waits for.
    pub fn wait(&self) -> &Wait {
        &self.wait
    }

    /// Returns where the other task has taken the lock or the permits, or has first used its end of
    /// the channel. `None` if the wait is for the completion of that task.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns whether only the other task can end the wait: it holds the lock, or the wait is for
    /// its completion. A wait for a semaphore is not certain, since any task may add permits; nor
    /// is one for a channel, which may have ends that no task has used yet, nor one of a
    /// `block_on`, whose future may have parts that it did not poll.
    pub fn is_certain(&self) -> bool {
        let is_known = raddle_leaf::wait::root_number(self.from).is_none();
        is_known && needs_all(&self.wait)
    }
}

impl Deadlock {
    /// Returns the edges of the cycle: each edge begins at the task where the previous one ends,
    /// and the first one where the last one ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns whether an edge is not [certain](Edge::is_certain), so that other code may end the
    /// deadlock.
    pub fn is_suspected(&self) -> bool {
        !self.edges.iter().all(Edge::is_certain)
    }
}

/// The name of a task or a `block_on` in sentences.
pub(crate) struct Name(pub(crate) u64);

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match raddle_leaf::wait::root_number(self.0) {
            Some(number) => write!(f, "block_on {number}"),
            None => write!(f, "task {}", self.0),
        }
    }
}

/// A waiting task or `block_on`, in the search for deadlocks.
struct Waiter {
    /// The edges of each wait, or `None` if a wait may end without the tasks of its edges.
    blockers: Option<Vec<Vec<Edge>>>,
}

/// Returns all edges, sorted by the waiting task, and the deadlocks. `is_unchanged` returns whether
/// a task has not been polled or woken since it was copied.
pub(crate) fn search<'a>(
    waiting: impl Iterator<Item = (u64, &'a [Wait])>,
    is_unchanged: impl Fn(u64) -> bool,
) -> (Vec<Edge>, Vec<Deadlock>) {
    let mut edges = Vec::new();
    let mut waiters = Map::default();
    for (id, waits) in waiting {
        let of_each: Vec<_> = waits.iter().map(|wait| edges_of(id, wait)).collect();
        edges.extend(of_each.iter().flatten());
        let is_whole = !waits.is_empty() && waits.len() < MAX_WAITS;
        let is_blocked = is_whole && waits.iter().all(Wait::is_direct);
        let is_blocked = is_blocked && !of_each.iter().any(Vec::is_empty);
        let blockers = is_blocked.then_some(of_each);
        waiters.insert(id, Waiter { blockers });
    }
    let stuck = find_stuck(&waiters);
    let mut deadlocks = cycles(&waiters, &stuck);
    // A deadlock counts only if none of its tasks has been polled since the copy, so that all of
    // its waits existed at the same time.
    deadlocks.retain(|deadlock| deadlock.edges.iter().all(|edge| is_unchanged(edge.from)));
    edges.sort_by_key(|edge: &Edge| edge.from);
    (edges, deadlocks)
}

/// Returns the tasks that can end a wait. Returns none if other code can end it too, or if the
/// tasks are unknown.
fn edges_of(from: u64, wait: &Wait) -> Vec<Edge> {
    let edge = |to, role, location| Edge {
        from,
        to,
        wait: *wait,
        role,
        location,
    };
    let (address, role) = match wait.resource() {
        Resource::Task(task) => return vec![edge(task, None, None)],
        Resource::Lock(address) | Resource::Semaphore(address) => (address, Role::Holder),
        Resource::Messages(address) => (address, Role::Sender),
        Resource::Room(address) => (address, Role::Receiver),
        _ => return Vec::new(),
    };
    let users = users(address);
    let of_role = users.iter().filter(|user| user.role() == role);
    let known: Option<Vec<_>> = of_role
        .map(|user| Some(edge(user.task()?, Some(role), user.location())))
        .collect();
    known.unwrap_or_default()
}

/// Returns whether the wait lasts while one of its tasks is stuck: all holders of a lock have to
/// release it, but one task that adds a permit, a message or room is enough.
fn needs_all(wait: &Wait) -> bool {
    matches!(wait.resource(), Resource::Lock(_) | Resource::Task(_))
}

/// Returns the largest set of tasks none of whose waits ends unless a task outside the set, or
/// other code, ends it.
fn find_stuck(waiters: &Map<Waiter>) -> Set {
    let mut waited_for: Map<Vec<u64>> = Map::default();
    let mut stuck = Set::default();
    for (id, waiter) in waiters {
        if let Some(blockers) = &waiter.blockers {
            stuck.insert(*id);
            for edge in blockers.iter().flatten() {
                waited_for.entry(edge.to).or_default().push(*id);
            }
        }
    }
    let mut to_check: Vec<_> = stuck.iter().copied().collect();
    while let Some(id) = to_check.pop() {
        let Some(blockers) = waiters.get(&id).and_then(|waiter| waiter.blockers.as_ref()) else {
            continue;
        };
        let is_stuck = blockers.iter().all(|edges| {
            let is_stuck = |edge: &Edge| stuck.contains(&edge.to);
            match edges.iter().any(|edge| needs_all(&edge.wait)) {
                true => edges.iter().any(is_stuck),
                false => edges.iter().all(is_stuck),
            }
        });
        if !is_stuck && stuck.remove(&id) {
            to_check.extend(waited_for.get(&id).into_iter().flatten());
        }
    }
    stuck
}

/// Returns one cycle for each group of stuck tasks whose waits lead to it.
fn cycles(waiters: &Map<Waiter>, stuck: &Set) -> Vec<Deadlock> {
    let next = |id: u64| {
        let blockers = waiters.get(&id)?.blockers.as_ref()?;
        let mut edges = blockers.iter().flatten();
        edges.find(|edge| stuck.contains(&edge.to)).copied()
    };
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
        if let Some(first) = path.iter().position(|edge| edge.from == id) {
            let edges = path.split_off(first).into();
            deadlocks.push(Deadlock { edges });
        }
    }
    deadlocks
}

/// Writes what the other task has to do with the resource; nothing for a task that is joined.
pub(crate) fn write_blocker(f: &mut fmt::Formatter<'_>, edge: &Edge) -> fmt::Result {
    let to = Name(edge.to);
    let how = match edge.role {
        None => return Ok(()),
        Some(Role::Holder) => "held by",
        Some(Role::Sender) => "whose sender is used by",
        Some(_) => "whose receiver is used by",
    };
    write!(f, ", {how} {to}")?;
    match edge.location {
        Some(location) => write!(f, " since {location}"),
        None => Ok(()),
    }
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} waits for {}", Name(self.from), self.wait)?;
        write_blocker(f, self)
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suspected = if self.is_suspected() {
            "suspected "
        } else {
            ""
        };
        let count = self.edges.len();
        let plural = if count == 1 { "" } else { "s" };
        writeln!(f, "{suspected}deadlock of {count} task{plural}:")?;
        self.edges
            .iter()
            .try_for_each(|edge| writeln!(f, "  {edge}"))
    }
}
