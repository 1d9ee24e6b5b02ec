//! The edges of the wait-for graph, the deadlocks, and what may end them.

mod search;

use std::fmt;
use std::panic::Location;

use raddle_leaf::wait::{Role, Wait};

pub(crate) use search::{Waiting, is_holdable, search};

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
/// [`Display`](fmt::Display) prints a line for each task, and one for each [`Exit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deadlock {
    edges: Box<[Edge]>,
    exits: Box<[Exit]>,
}

/// An event that may end a suspected deadlock.
///
/// [`Display`](fmt::Display) prints it as a clause: "task 5 is woken by ...".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exit {
    /// A task of the cycle also waits for this, which may end first.
    OtherWait {
        /// The id of the task.
        task: u64,
        /// The other wait.
        wait: Wait,
    },
    /// More wakers and abort handles of this task exist than the task has waits: a future that
    /// records no waits may wake it, or other code may abort it.
    OtherWaker {
        /// The id of the task.
        task: u64,
    },
    /// The future of this task may have parts that wait for more, and were not polled by the last
    /// poll.
    OtherParts {
        /// The id of the task.
        task: u64,
    },
    /// The guard of a lock is not where it was taken: the task has passed it to other code, which
    /// may drop it.
    MovedGuard(Edge),
    /// Other code adds permits to the semaphore, or drops permits that a task has passed to it.
    MorePermits(Edge),
    /// Other code has got this end of the channel, and uses it.
    MovedEnd(Edge),
    /// Other code adds a task to the set.
    NewMember(Edge),
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
}

impl Deadlock {
    /// Returns the edges of the cycle: each edge begins at the task where the previous one ends,
    /// and the first one where the last one ends.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns what may end the deadlock, in the order of the tasks of the cycle.
    pub fn exits(&self) -> &[Exit] {
        &self.exits
    }

    /// Returns whether the deadlock has an [exit](Self::exits). Without one it is certain: it lasts
    /// until one of its tasks is aborted, or the runtime shuts down.
    pub fn is_suspected(&self) -> bool {
        !self.exits.is_empty()
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

/// Writes what the other task has to do with the resource; nothing for a task that is joined.
pub(crate) fn write_blocker(f: &mut fmt::Formatter<'_>, edge: &Edge) -> fmt::Result {
    let to = Name(edge.to);
    let how = match edge.role {
        None => return Ok(()),
        Some(Role::Holder) => "held by",
        Some(Role::Member) => "with",
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
        for edge in &self.edges {
            writeln!(f, "  {edge}")?;
        }
        let mut before = "it may end if";
        for exit in &self.exits {
            writeln!(f, "  {before} {exit}")?;
            before = "or if";
        }
        Ok(())
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let resource = |edge: &Edge| edge.wait.resource();
        match self {
            Self::OtherWait { task, wait } => {
                write!(f, "the other wait of {} ends: {wait}", Name(*task))
            }
            Self::OtherWaker { task } => {
                let name = Name(*task);
                write!(
                    f,
                    "code that has a waker or an abort handle of {name} uses it"
                )
            }
            Self::OtherParts { task } => {
                write!(
                    f,
                    "the future of {} has parts that wait for more",
                    Name(*task)
                )
            }
            Self::MovedGuard(edge) => {
                write!(
                    f,
                    "{} has passed its guard of {} on",
                    Name(edge.to),
                    resource(edge)
                )
            }
            Self::MorePermits(edge) => {
                write!(f, "other code adds permits to {}", resource(edge))
            }
            Self::MovedEnd(edge) => {
                let end = match edge.role {
                    Some(Role::Receiver) => "the receiver",
                    _ => "a sender",
                };
                let (to, wait) = (Name(edge.to), resource(edge));
                write!(
                    f,
                    "{to} has passed {end} on, by which other code ends the wait for {wait}"
                )
            }
            Self::NewMember(edge) => {
                write!(
                    f,
                    "other code adds a task to the set of {}",
                    Name(edge.from)
                )
            }
        }
    }
}
