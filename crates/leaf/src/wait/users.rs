//! The tasks that hold a lock or permits, those that use an end of a channel, and the members of a
//! set of tasks.

use std::panic::Location;

use crate::wait::Caller;

/// The role of a task for an object that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// It holds the lock, or permits of the semaphore.
    Holder,
    /// It has one of the channel's senders.
    Sender,
    /// It has the channel's receiver.
    Receiver,
    /// It is in the set of tasks.
    Member,
}

/// A task, and its role for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUser {
    user: User,
    role: Role,
    location: Option<&'static Location<'static>>,
    permits: usize,
    is_owned: bool,
    is_captured: bool,
}

/// The code that has a guard or the end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "record"), expect(dead_code))]
enum User {
    /// The end has not been used yet.
    Unused,
    /// Code outside of tasks, or several tasks that share the end.
    Unknown,
    Task(u64),
}

impl ResourceUser {
    /// Returns the task. `None` if it is not known: code outside the tasks of runtimes with dumps
    /// has taken the lock, or the end of the channel is unused, or shared by several tasks.
    pub fn task(&self) -> Option<u64> {
        match self.user {
            User::Task(task) => Some(task),
            User::Unused | User::Unknown => None,
        }
    }

    /// Returns the role of the task.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns where the task has locked it, or has used the channel's end first.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns the number of permits, for a semaphore. A lock for readers and a writer has as many
    /// as it allows readers; a writer has all of them.
    pub fn permits(&self) -> usize {
        self.permits
    }

    /// Returns whether the guard borrows nothing, so that it can be moved to any code.
    pub fn is_owned(&self) -> bool {
        self.is_owned
    }

    /// Returns whether the task had the guard or the end when it was spawned, and no other task has
    /// used it since.
    pub fn is_captured(&self) -> bool {
        self.is_captured
    }
}

/// Where a guard may go, and whether it is the only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardKind {
    is_owned: bool,
    is_alone: bool,
}

impl GuardKind {
    /// A guard that borrows its lock.
    pub const BORROWED: Self = Self {
        is_owned: false,
        is_alone: false,
    };
    /// A guard that borrows nothing, so that it can be moved to any code.
    pub const OWNED: Self = Self {
        is_owned: true,
        is_alone: false,
    };
    /// A guard that borrows its lock, which has no other guard. Records that are left at its
    /// address are those of a former lock.
    pub const BORROWED_ALONE: Self = Self {
        is_owned: false,
        is_alone: true,
    };
    /// The same for a guard that borrows nothing.
    pub const OWNED_ALONE: Self = Self {
        is_owned: true,
        is_alone: true,
    };
}

/// The permits of one guard of a lock or semaphore, as a task dump knows them. It has a size with
/// the feature `record` only. Dropping it records nothing: a guard that is forgotten keeps its
/// permits.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "record")] {
/// use raddle_leaf::wait::{Caller, GuardKind, Holding, PollFrame, enable, users};
///
/// enable();
/// let _ = PollFrame::begin(7, None);
/// let mut guard = Holding::new(4096, 1, Caller::here(), GuardKind::BORROWED);
/// assert_eq!(users(4096)[0].task(), Some(7));
/// guard.release();
/// assert!(users(4096).is_empty());
/// # PollFrame::resume(7).finish(|_| {});
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Holding {
    #[cfg(feature = "record")]
    mark: record::Mark,
}

impl Holding {
    /// Records that the running task has taken `permits` of the lock or semaphore at an address.
    #[inline(always)]
    pub fn new(address: usize, permits: usize, caller: Caller, kind: GuardKind) -> Self {
        #[cfg(feature = "record")]
        return Self {
            mark: match crate::wait::is_enabled() {
                true => record::acquire(address, permits, caller, kind),
                false => record::Mark::default(),
            },
        };
        #[cfg(not(feature = "record"))]
        {
            let _ = (address, permits, caller, kind);
            Self {}
        }
    }

    /// Records that the permits are about to be released, or are forgotten.
    #[inline(always)]
    pub fn release(&mut self) {
        #[cfg(feature = "record")]
        if self.mark.is_recorded() {
            record::release(&mut self.mark);
        }
    }

    /// Records that all permits but `permits` are about to be released.
    #[inline(always)]
    pub fn keep(&mut self, permits: usize) {
        #[cfg(feature = "record")]
        self.mark.change(|user| user.permits = permits);
        #[cfg(not(feature = "record"))]
        let _ = permits;
    }

    /// Adds the permits of another guard of the same semaphore.
    #[inline(always)]
    pub fn merge(&mut self, other: &mut Self) {
        #[cfg(feature = "record")]
        {
            let merged = std::mem::take(&mut other.mark).remove();
            let permits = merged.map_or(0, |merged| merged.permits);
            self.mark.change(|user| user.permits += permits);
        }
        #[cfg(not(feature = "record"))]
        let _ = other;
    }

    /// Splits `permits` off.
    #[inline(always)]
    pub fn split(&mut self, permits: usize) -> Self {
        #[cfg(feature = "record")]
        return Self {
            mark: self.mark.split(permits),
        };
        #[cfg(not(feature = "record"))]
        {
            let _ = permits;
            Self {}
        }
    }
}

/// Records that the lock or semaphore at an address no longer exists. Guards that were forgotten do
/// not count for the next object there.
#[inline(always)]
pub fn object_dropped(address: usize) {
    #[cfg(feature = "record")]
    if crate::wait::is_enabled() {
        record::remove_all(address);
    }
    #[cfg(not(feature = "record"))]
    let _ = address;
}

/// An end of a channel, which knows the task that used it last. It has a size with the feature
/// `record` only.
#[derive(Debug, Default)]
pub struct ChannelEnd {
    #[cfg(feature = "record")]
    end: record::ChannelEnd,
}

impl ChannelEnd {
    /// Records an end of the channel at an address, which no task has used yet.
    #[inline(always)]
    pub fn new(address: usize, role: Role) -> Self {
        #[cfg(feature = "record")]
        return Self {
            end: record::ChannelEnd::new(address, role),
        };
        #[cfg(not(feature = "record"))]
        {
            let _ = (address, role);
            Self {}
        }
    }

    /// Records that the running task uses this end.
    #[inline(always)]
    pub fn used(&self, caller: Option<Caller>) {
        #[cfg(feature = "record")]
        self.end.used(caller);
        #[cfg(not(feature = "record"))]
        let _ = caller;
    }
}

/// A task in the set at an address. It has a size with the feature `record` only.
#[derive(Debug)]
pub struct SetMember {
    #[cfg(feature = "record")]
    _member: record::Removed,
}

impl SetMember {
    /// Records that the task is in the set, until this is dropped.
    #[inline(always)]
    pub fn new(address: usize, task: u64) -> Self {
        #[cfg(feature = "record")]
        return Self {
            _member: record::Removed::member(address, task),
        };
        #[cfg(not(feature = "record"))]
        {
            let _ = (address, task);
            Self {}
        }
    }
}

/// Records the guards and channel ends in a value that was just moved to the heap, to this address,
/// in case the box becomes a task. `read` passes the words of the value in order.
#[inline(always)]
pub fn boxed(address: usize, read: impl FnOnce(&mut dyn FnMut(usize))) {
    #[cfg(feature = "record")]
    if crate::wait::is_enabled() {
        record::captures::boxed(address, read);
    }
    #[cfg(not(feature = "record"))]
    let _ = (address, read);
}

/// Records that the guards and channel ends in a future belong to the task that it becomes, which
/// the running task spawns. `read` passes the words of the future in order.
#[inline(always)]
pub fn spawned(task: u64, read: impl FnOnce(&mut dyn FnMut(usize))) {
    #[cfg(feature = "record")]
    if crate::wait::is_enabled() {
        record::captures::spawned(task, read);
    }
    #[cfg(not(feature = "record"))]
    let _ = (task, read);
}

#[cfg(feature = "record")]
pub use record::users;

#[cfg(feature = "record")]
mod record;
