//! The process-wide table of guards, channel ends and members of sets.

pub(super) mod captures;

use std::collections::BTreeMap;

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use super::{Caller, GuardKind, ResourceUser, Role, User};

/// The number of locks that the objects are spread over.
const SHARDS: usize = 64;

/// The upper bits of each number in a [`Mark`], so that few other words look like one.
const MAGIC: u64 = 0xa7d5 << 48;

/// An address and the number of a record.
type Key = (usize, u64);

#[derive(Default)]
struct Shard {
    users: BTreeMap<Key, ResourceUser>,
    /// The number of records so far.
    count: u64,
}

static OBJECTS: [Mutex<Shard>; SHARDS] = [const {
    let empty = Shard {
        users: BTreeMap::new(),
        count: 0,
    };
    Mutex::ranked(Rank::leaf("users of locks and channels"), empty)
}; SHARDS];

fn shard(address: usize) -> &'static Mutex<Shard> {
    // The low bits of an address only reflect its alignment.
    &OBJECTS[(address >> 6) % SHARDS]
}

/// The records of an object.
fn of(address: usize) -> std::ops::RangeInclusive<Key> {
    (address, 0)..=(address, u64::MAX)
}

/// The tasks that hold the lock or the permits at an address, that have the ends of the channel
/// there, or that are in the set there.
///
/// # Examples
///
/// ```
/// use raddle_leaf::wait::{ChannelEnd, PollFrame, Role, enable, users};
///
/// enable();
/// let sender = ChannelEnd::new(4096, Role::Sender);
/// assert_eq!(users(4096)[0].task(), None, "no task has used it yet");
/// let _ = PollFrame::begin(7, None);
/// sender.used(None);
/// assert_eq!(users(4096)[0].task(), Some(7));
/// # PollFrame::resume(7).finish(|_| {});
/// ```
pub fn users(address: usize) -> Vec<ResourceUser> {
    let objects = shard(address).lock();
    objects
        .users
        .range(of(address))
        .map(|(_, user)| *user)
        .collect()
}

/// Removes all records of an object.
#[inline(never)]
pub(super) fn remove_all(address: usize) {
    remove_from(&mut shard(address).lock(), address);
}

fn remove_from(objects: &mut Shard, address: usize) {
    while let Some((key, _)) = objects.users.range(of(address)).next() {
        let key = *key;
        objects.users.remove(&key);
    }
}

/// The key of a record, in the guard or channel end that it describes. The two words stand next to
/// each other, so that they are found in the memory of a future.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Mark {
    /// Zero if nothing was recorded.
    number: u64,
    address: usize,
}

impl Mark {
    fn add(address: usize, user: ResourceUser) -> Self {
        Self::add_to(&mut shard(address).lock(), address, user)
    }

    fn add_to(objects: &mut Shard, address: usize, user: ResourceUser) -> Self {
        objects.count += 1;
        let number = MAGIC | objects.count;
        objects.users.insert((address, number), user);
        Self { number, address }
    }

    #[inline]
    pub(super) fn is_recorded(&self) -> bool {
        self.number != 0
    }

    pub(super) fn change(&self, change: impl FnOnce(&mut ResourceUser)) {
        if self.is_recorded() {
            let mut objects = shard(self.address).lock();
            if let Some(user) = objects.users.get_mut(&(self.address, self.number)) {
                change(user);
            }
        }
    }

    #[inline]
    pub(super) fn remove(self) -> Option<ResourceUser> {
        if !self.is_recorded() {
            return None;
        }
        let mut objects = shard(self.address).lock();
        objects.users.remove(&(self.address, self.number))
    }

    /// Moves permits to a record of their own.
    pub(super) fn split(&self, permits: usize) -> Self {
        let mut former = None;
        self.change(|user| {
            user.permits -= permits.min(user.permits);
            former = Some(*user);
        });
        former.map_or_else(Self::default, |former| {
            Self::add(self.address, ResourceUser { permits, ..former })
        })
    }
}

/// Records a guard.
#[inline(never)]
pub(super) fn acquire(address: usize, permits: usize, caller: Caller, kind: GuardKind) -> Mark {
    let user = ResourceUser {
        user: running(),
        role: Role::Holder,
        location: caller.location(),
        permits,
        is_owned: kind.is_owned,
        is_captured: false,
    };
    let mut objects = shard(address).lock();
    if kind.is_alone {
        remove_from(&mut objects, address);
    }
    Mark::add_to(&mut objects, address, user)
}

/// Removes the record of a guard.
#[inline(never)]
pub(super) fn release(mark: &mut Mark) {
    std::mem::take(mark).remove();
}

fn running() -> User {
    crate::wait::current_task().map_or(User::Unknown, User::Task)
}

/// A record that is removed on drop.
#[derive(Debug, Default)]
pub(super) struct Removed(Mark);

impl Removed {
    pub(super) fn member(address: usize, task: u64) -> Self {
        if !crate::wait::is_enabled() {
            return Self::default();
        }
        let user = ResourceUser {
            user: User::Task(task),
            role: Role::Member,
            location: None,
            permits: 0,
            is_owned: true,
            is_captured: false,
        };
        Self(Mark::add(address, user))
    }
}

impl Drop for Removed {
    fn drop(&mut self) {
        std::mem::take(&mut self.0).remove();
    }
}

#[derive(Debug, Default)]
pub(super) struct ChannelEnd {
    record: Removed,
    /// The task that used it last, as the table has it; zero if none has.
    task: AtomicU64,
}

impl ChannelEnd {
    pub(super) fn new(address: usize, role: Role) -> Self {
        if !crate::wait::is_enabled() {
            return Self::default();
        }
        let user = ResourceUser {
            user: User::Unused,
            role,
            location: None,
            permits: 0,
            is_owned: true,
            is_captured: false,
        };
        Self {
            record: Removed(Mark::add(address, user)),
            task: AtomicU64::new(0),
        }
    }

    #[inline]
    pub(super) fn used(&self, caller: Option<Caller>) {
        if !self.record.0.is_recorded() {
            return;
        }
        let user = running();
        let task = match user {
            User::Task(task) => task,
            _ => u64::MAX,
        };
        // ORDERING: it publishes nothing. The lock of the table orders the records, and two tasks
        // that use the end at the same time share it.
        if self.task.swap(task, Ordering::Relaxed) == task {
            return;
        }
        self.record.0.change(|record| {
            if record.user == user {
                record.location = record.location.or(caller.and_then(Caller::location));
                return;
            }
            // An end that several tasks use may be behind a reference that more tasks have.
            record.user = match record.user {
                User::Unused => user,
                _ => User::Unknown,
            };
            record.is_captured = false;
            record.location = caller.and_then(Caller::location);
        });
    }
}
