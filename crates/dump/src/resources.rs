//! The locks, channels and other objects that tasks wait for.

use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

use raddle_leaf::wait::{Resource, Role, Wait, users};

use crate::dump::{Dump, TaskState};
use crate::graph::Edge;

/// An object that tasks wait for.
#[derive(Clone, Debug)]
pub struct ResourceDump {
    kind: ResourceKind,
    address: usize,
    users: Vec<ResourceUse>,
    waiters: Vec<ResourceWaiter>,
}

/// The kind of an object that tasks wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ResourceKind {
    /// A mutex or a lock of readers and writers.
    Lock,
    /// A semaphore.
    Semaphore,
    /// A channel: its receivers wait for messages, and its senders for room.
    Channel,
    /// An object that notifies: a `Notify`, a barrier, a cell that is not initialized.
    Notification,
}

/// A task that holds a lock or permits, or uses an end of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceUse {
    task: Option<u64>,
    role: Role,
    location: Option<&'static Location<'static>>,
}

/// A task or a `block_on` that waits for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceWaiter {
    task: u64,
    wait: Wait,
    time: Duration,
}

impl ResourceDump {
    /// Returns the kind of the object.
    pub fn kind(&self) -> ResourceKind {
        self.kind
    }

    /// Returns the address that identifies it in the dump.
    pub fn address(&self) -> usize {
        self.address
    }

    /// Returns the tasks that hold it or use its ends, as far as they are known. A semaphore or a
    /// channel may have others.
    pub fn users(&self) -> &[ResourceUse] {
        &self.users
    }

    /// Returns the tasks and the calls of `block_on` that wait for it. The one whose latest poll is
    /// longest ago is the first: in the order of the queue, unless a task polls it several times.
    pub fn waiters(&self) -> &[ResourceWaiter] {
        &self.waiters
    }
}

impl ResourceUse {
    /// Returns the id of the task or the [`block_on`](crate::BlockOn::id). `None` if code outside
    /// them holds it.
    pub fn task(&self) -> Option<u64> {
        self.task
    }

    /// Returns the role of the task.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns where the task has taken it, or has used the channel's end first.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.location
    }
}

impl ResourceWaiter {
    /// Returns the id of the task or the [`block_on`](crate::BlockOn::id).
    pub fn task(&self) -> u64 {
        self.task
    }

    /// Returns the wait.
    pub fn wait(&self) -> &Wait {
        &self.wait
    }

    /// Returns the time since the last poll of the task.
    pub fn time(&self) -> Duration {
        self.time
    }
}

impl ResourceKind {
    /// Returns the kind of the object of a wait and its address, unless the wait is for a task, for
    /// a time or for a socket.
    pub fn of(resource: Resource) -> Option<(Self, usize)> {
        match resource {
            Resource::Lock(address) => Some((Self::Lock, address)),
            Resource::Semaphore(address) => Some((Self::Semaphore, address)),
            Resource::Messages(address) | Resource::Room(address) => Some((Self::Channel, address)),
            Resource::Notification(address) => Some((Self::Notification, address)),
            _ => None,
        }
    }
}

impl fmt::Display for ResourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lock => "lock",
            Self::Semaphore => "semaphore",
            Self::Channel => "channel",
            Self::Notification => "notification",
        })
    }
}

/// The role of the tasks that can end such a wait.
fn role(resource: Resource) -> Option<Role> {
    match resource {
        Resource::Lock(_) | Resource::Semaphore(_) => Some(Role::Holder),
        Resource::Messages(_) => Some(Role::Sender),
        Resource::Room(_) => Some(Role::Receiver),
        _ => None,
    }
}

impl Dump {
    /// Returns the objects that tasks wait for, those with the most waiters first: locks,
    /// semaphores, channels and notifications, each with the tasks that hold or use it and those
    /// that wait.
    ///
    /// Users that the dump does not know, such as code outside tasks, are looked up when this is
    /// called.
    ///
    /// # Examples
    ///
    /// ```
    /// # let dump = raddle_dump::TaskTable::new().dump();
    /// for resource in dump.resources() {
    ///     let (users, waiters) = (resource.users(), resource.waiters());
    ///     println!("{}: {} users, {} wait", resource.kind(), users.len(), waiters.len());
    /// }
    /// ```
    pub fn resources(&self) -> Vec<ResourceDump> {
        let mut found: BTreeMap<(ResourceKind, usize), ResourceDump> = BTreeMap::new();
        let tasks = self.tasks().iter();
        let tasks = tasks.filter(|task| task.state() == TaskState::Waiting);
        let tasks = tasks.map(|task| (task.id(), task.time_in_state(), task.waits()));
        let calls = self.block_ons().iter();
        let calls = calls.map(|call| (call.id(), call.time_in_state(), call.waits()));
        for (task, time, waits) in tasks.chain(calls) {
            for wait in waits {
                let Some((kind, address)) = ResourceKind::of(wait.resource()) else {
                    continue;
                };
                let resource = found.entry((kind, address)).or_insert(ResourceDump {
                    kind,
                    address,
                    users: Vec::new(),
                    waiters: Vec::new(),
                });
                let wait = *wait;
                resource.waiters.push(ResourceWaiter { task, wait, time });
            }
        }
        for edge in self.edges() {
            let key = ResourceKind::of(edge.wait().resource());
            if let Some(resource) = key.and_then(|key| found.get_mut(&key)) {
                resource.add_user_of(edge);
            }
        }
        let mut resources: Vec<_> = found.into_values().collect();
        for resource in &mut resources {
            if resource.users.is_empty() {
                resource.look_up_users();
            }
            resource.users.sort_unstable_by_key(|user| user.task);
            resource.users.dedup();
            resource
                .waiters
                .sort_by_key(|waiter| std::cmp::Reverse(waiter.time));
        }
        // Those of which no task is known to end the waits say less, such as the notification that
        // all connections of a server wait for.
        resources.sort_by_key(|resource| {
            std::cmp::Reverse((!resource.users.is_empty(), resource.waiters.len()))
        });
        resources
    }
}

impl ResourceDump {
    fn add_user_of(&mut self, edge: &Edge) {
        let Some(role) = role(edge.wait().resource()) else {
            return;
        };
        let user = ResourceUse {
            task: Some(edge.to()),
            role,
            location: edge.location(),
        };
        // Each waiter has edges to the same users, in the same order.
        if !self.users.contains(&user) {
            self.users.push(user);
        }
    }

    /// Adds the present users, if not all of them are tasks.
    fn look_up_users(&mut self) {
        let roles: Vec<_> = self
            .waiters
            .iter()
            .filter_map(|waiter| role(waiter.wait.resource()))
            .collect();
        let users = users(self.address).into_iter();
        let users = users.filter(|user| roles.contains(&user.role()));
        self.users.extend(users.map(|user| ResourceUse {
            task: user.task(),
            role: user.role(),
            location: user.location(),
        }));
    }
}
