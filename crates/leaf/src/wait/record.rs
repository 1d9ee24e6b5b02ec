//! A wait and its resource.

use std::fmt;
use std::panic::Location;
use std::time::Instant;

/// One wait of a task: the operation that returned `Pending`, where the program calls it, and the
/// resource.
///
/// Two waits are equal if they are of one call, which a later poll has polled again, or of two
/// calls at one line in one poll. [`Display`](fmt::Display) prints the three, a deadline as the
/// time that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    operation: &'static str,
    location: Option<&'static Location<'static>>,
    resource: Resource,
    is_direct: bool,
    /// The number of the poll that has recorded it first, on the thread of that poll; 0 if unknown.
    started: u64,
}

/// The resource that an operation waits for. An object is identified by its address, which is
/// unique among objects of one kind while they exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resource {
    /// The operation does not say.
    Unknown,
    /// The lock at this address.
    Lock(usize),
    /// Permits of the semaphore at this address.
    Semaphore(usize),
    /// A message of the channel at this address.
    Messages(usize),
    /// Room in the channel at this address.
    Room(usize),
    /// A call that notifies the object at this address.
    Notification(usize),
    /// The end of the task with this id.
    Task(u64),
    /// The end of a task of the set at this address.
    Set(usize),
    /// A point in time.
    Deadline(Instant),
    /// Readiness of a socket, or another source of events.
    Readiness {
        /// The address of the reactor's registration of the socket.
        source: usize,
        /// The direction for which it is to be ready.
        direction: Direction,
    },
}

/// The readiness that an operation of a socket waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Direction {
    /// Bytes, a connection, or the end of the stream.
    Read,
    /// Room for bytes, or the end of a connect.
    Write,
    /// Another set of events.
    Other,
}

impl Wait {
    #[cfg(feature = "record")]
    pub(crate) fn new(
        operation: &'static str,
        location: Option<&'static Location<'static>>,
        resource: Resource,
        is_direct: bool,
        started: u64,
    ) -> Self {
        Self {
            operation,
            location,
            resource,
            is_direct,
            started,
        }
    }

    /// The operation, as the program names it: `Mutex::lock`.
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// Returns where the program calls the operation, or makes the future of it. `None` if the
    /// operation has no such place: a join handle is awaited without a call.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns the resource that the operation waits for.
    pub fn resource(&self) -> Resource {
        self.resource
    }

    /// Returns whether the operation has the waker of the task itself. An operation that has
    /// another, from a `FuturesUnordered` or a local set, may be one of several: a later poll of
    /// the task does not poll those that have not been woken, and so does not note them again.
    pub fn is_direct(&self) -> bool {
        self.is_direct
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.operation)?;
        if let Some(location) = self.location {
            write!(f, " at {location}")?;
        }
        match self.resource {
            Resource::Unknown => Ok(()),
            resource => write!(f, ", {resource}"),
        }
    }
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Unknown => f.write_str("unknown"),
            Self::Lock(address) => write!(f, "lock {address:#x}"),
            Self::Semaphore(address) => write!(f, "semaphore {address:#x}"),
            Self::Messages(address) => write!(f, "message of channel {address:#x}"),
            Self::Room(address) => write!(f, "room in channel {address:#x}"),
            Self::Notification(address) => write!(f, "notification {address:#x}"),
            Self::Task(task) => write!(f, "task {task}"),
            Self::Set(address) => write!(f, "a task of set {address:#x}"),
            Self::Deadline(deadline) => {
                let now = Instant::now();
                match deadline.checked_duration_since(now) {
                    Some(left) => write!(f, "due in {left:.1?}"),
                    None => write!(f, "due {:.1?} ago", now.duration_since(deadline)),
                }
            }
            Self::Readiness { source, direction } => write!(f, "source {source:#x} {direction}"),
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "readable",
            Self::Write => "writable",
            Self::Other => "ready",
        })
    }
}
