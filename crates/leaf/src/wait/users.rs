//! The tasks that hold a lock or permits, and those that use an end of a channel.

use std::panic::Location;

use crate::wait::Caller;

#[cfg(feature = "record")]
use record::{add, remove};

/// The role of a task for an object that others wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// It holds the lock, or permits of the semaphore.
    Holder,
    /// It was the last task that sent through one of the channel's senders.
    Sender,
    /// It was the last task that received from the channel.
    Receiver,
}

/// A task, and its role for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUser {
    task: Option<u64>,
    role: Role,
    location: Option<&'static Location<'static>>,
    permits: usize,
}

impl ResourceUser {
    /// The task. `None` if it was code outside the tasks of runtimes with dumps.
    pub fn task(&self) -> Option<u64> {
        self.task
    }

    /// Returns the role of the task.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns where the task has locked it, or has used the channel's end first.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }
}

/// Notes that the running task has taken `permits` of the lock or semaphore at an address.
#[inline(always)]
pub fn acquired(address: usize, permits: usize, caller: Caller) {
    #[cfg(feature = "record")]
    if crate::wait::is_enabled() {
        let task = crate::wait::current_task();
        add(address, task, Role::Holder, caller.location(), permits);
    }
    #[cfg(not(feature = "record"))]
    let _ = (address, permits, caller);
}

/// Records that `permits` of the lock or semaphore at an address were released. They are removed
/// from the running task's permits or, if it has none, from those of another task, which has passed
/// its guard on.
#[inline(always)]
pub fn released(address: usize, permits: usize) {
    #[cfg(feature = "record")]
    if crate::wait::is_enabled() {
        remove(address, crate::wait::current_task(), Role::Holder, permits);
    }
    #[cfg(not(feature = "record"))]
    let _ = (address, permits);
}

/// An end of a channel, which knows the task that used it last. It has a size with the feature
/// `record` only.
#[derive(Debug, Default)]
pub struct ChannelEnd {
    #[cfg(feature = "record")]
    end: record::ChannelEnd,
}

impl ChannelEnd {
    /// Notes that the running task uses this end of the channel at an address. The end has the same
    /// address and role in all its calls.
    #[inline(always)]
    pub fn used(&self, address: usize, role: Role, caller: Option<Caller>) {
        #[cfg(feature = "record")]
        if crate::wait::is_enabled() {
            self.end.used(address, role, caller);
        }
        #[cfg(not(feature = "record"))]
        let _ = (address, role, caller);
    }
}

#[cfg(feature = "record")]
pub use record::users;

#[cfg(feature = "record")]
mod record {
    use std::collections::BTreeMap;
    use std::panic::Location;

    use raddle_primitives::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
    use raddle_primitives::sync::{Mutex, Rank};

    use super::{Caller, ResourceUser, Role};

    /// The number of locks that the objects are spread over.
    const SHARDS: usize = 64;
    /// The largest number of users that are kept for one object.
    const MAX_USERS: usize = 64;

    type Shard = Mutex<BTreeMap<usize, Vec<ResourceUser>>>;

    static OBJECTS: [Shard; SHARDS] =
        [const { Mutex::ranked(Rank::leaf("users of locks and channels"), BTreeMap::new()) };
            SHARDS];

    /// The tasks that hold the lock or the permits at an address, or that use the ends of the
    /// channel there. At most 64 are kept.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_leaf::wait::{Caller, PollFrame, acquired, enable, released, users};
    ///
    /// enable();
    /// let _ = PollFrame::begin(7, None);
    /// acquired(8, 1, Caller::here());
    /// assert_eq!(users(8)[0].task(), Some(7));
    /// released(8, 1);
    /// assert!(users(8).is_empty());
    /// # PollFrame::resume(7).finish(|_| {});
    /// ```
    pub fn users(address: usize) -> Vec<ResourceUser> {
        shard(address)
            .lock()
            .get(&address)
            .cloned()
            .unwrap_or_default()
    }

    fn shard(address: usize) -> &'static Shard {
        // The low bits of an address only reflect its alignment.
        &OBJECTS[(address >> 6) % SHARDS]
    }

    pub(super) fn add(
        address: usize,
        task: Option<u64>,
        role: Role,
        location: Option<&'static Location<'static>>,
        permits: usize,
    ) {
        let added = ResourceUser {
            task,
            role,
            location,
            permits,
        };
        let mut objects = shard(address).lock();
        let users = objects.entry(address).or_default();
        if users.len() < MAX_USERS {
            users.push(added);
        }
    }

    /// Removes the task's latest uses first, then those of other tasks.
    pub(super) fn remove(address: usize, task: Option<u64>, role: Role, mut permits: usize) {
        let mut objects = shard(address).lock();
        let Some(users) = objects.get_mut(&address) else {
            return;
        };
        while permits > 0 {
            let of_role = |user: &ResourceUser| user.role == role;
            let own = users
                .iter()
                .rposition(|user| of_role(user) && user.task == task);
            let Some(index) = own.or_else(|| users.iter().rposition(of_role)) else {
                break;
            };
            let taken = users[index].permits.min(permits);
            permits -= taken;
            users[index].permits -= taken;
            if users[index].permits == 0 {
                users.remove(index);
            }
        }
        if users.is_empty() {
            objects.remove(&address);
        }
    }

    /// The object for which the use of an end is recorded.
    #[derive(Debug, Default)]
    pub(super) struct ChannelEnd {
        address: AtomicUsize,
        /// Zero if no task has used it.
        task: AtomicU64,
        is_receiver: AtomicUsize,
    }

    impl ChannelEnd {
        pub(super) fn used(&self, address: usize, role: Role, caller: Option<Caller>) {
            let Some(task) = crate::wait::current_task() else {
                return;
            };
            // ORDERING: it publishes nothing. If two tasks use an end at the same time, either may
            // be recorded as the last; the lock orders the records.
            let former = self.task.swap(task, Ordering::Relaxed);
            if former == task {
                return;
            }
            // ORDERING: as above; each call stores the same.
            self.address.store(address, Ordering::Relaxed);
            // ORDERING: as above.
            self.is_receiver
                .store(usize::from(role == Role::Receiver), Ordering::Relaxed);
            if former != 0 {
                remove(address, Some(former), role, 1);
            }
            let location = caller.and_then(Caller::location);
            add(address, Some(task), role, location, 1);
        }
    }

    impl Drop for ChannelEnd {
        fn drop(&mut self) {
            // ORDERING: no other thread has the end during its drop.
            let task = self.task.load(Ordering::Relaxed);
            if task == 0 {
                return;
            }
            // ORDERING: as above.
            let role = match self.is_receiver.load(Ordering::Relaxed) {
                0 => Role::Sender,
                _ => Role::Receiver,
            };
            // ORDERING: as above.
            remove(self.address.load(Ordering::Relaxed), Some(task), role, 1);
        }
    }
}
