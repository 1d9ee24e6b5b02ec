//! The table of the tasks of one scheduler.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::num::NonZeroU64;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_leaf::wait::Wait;
use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_task::WakerCount;

use crate::dump::{BlockOn, Dump, TaskDump, TaskState, WokenBy};
use crate::history::{Cause, History, TaskHistory};
use crate::observer::DumpObserver;

/// The number of shards of the table; each has a lock.
const SHARDS: u64 = 64;

/// Hashes the ids of tasks, which are counted up: a good hash for texts would be a third of the
/// cost of an event. It has no random keys, so a simulated program that keeps dumps asks for the
/// same random numbers as one that does not.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // The factor is 2^64 divided by the golden ratio. The map uses the low and the high bits.
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ (product >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

pub(crate) type Hashing = BuildHasherDefault<IdHasher>;

/// A map by the numbers of tasks.
pub(crate) type Map<T> = HashMap<u64, T, Hashing>;

/// A table of the tasks of one scheduler, from which dumps are taken. Clones share the table.
#[derive(Clone, Default)]
pub struct TaskTable(Arc<Shared>);

pub(crate) struct Shared {
    shards: Box<[Mutex<Map<Entry>>]>,
    /// The futures of `block_on` whose last poll has returned `Pending`, by their numbers.
    block_ons: Mutex<Map<Waiting>>,
}

/// The state of the future of a `block_on`.
#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) since: Instant,
    pub(crate) waits: Vec<Wait>,
}

/// A task of the table.
pub(crate) struct Entry {
    pub(crate) task: Task,
    /// A dump does not copy it.
    pub(crate) history: History,
    /// Counts the task's wakers, from its first poll on.
    pub(crate) wakers: Option<WakerCount>,
}

/// The state of a task.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) spawned: Instant,
    pub(crate) state: TaskState,
    /// The time when the task entered this state.
    pub(crate) since: Instant,
    /// The poll that has started and not finished. `state` may differ from `Running`: the task may
    /// have been woken after the poll returned and before the observer was called.
    pub(crate) poll: Option<Poll>,
    pub(crate) polls: u64,
    pub(crate) busy: Duration,
    pub(crate) longest: Duration,
    pub(crate) woken: Option<(Instant, WokenBy)>,
    /// The innermost open span that the last poll has entered.
    pub(crate) span: Option<std::sync::Arc<str>>,
    /// The waits that the last poll recorded, if the task has waited since then.
    pub(crate) waits: Vec<Wait>,
    /// The time since which each poll has found one of the waits for a lock, permits or a task that
    /// the poll before has found.
    pub(crate) blocked: Instant,
}

/// A poll that has not finished.
#[derive(Clone, Copy)]
pub(crate) struct Poll {
    pub(crate) started: Instant,
    /// The thread that polls, as a number of `observer::thread`.
    pub(crate) thread: usize,
    /// The time that the task has waited in a queue, and why it is polled.
    pub(crate) delay: Duration,
    pub(crate) cause: Cause,
}

impl Entry {
    /// Returns the state of the task, and the number of its wakers and abort handles.
    fn copy(&self) -> (Task, Option<usize>) {
        let wakers = self.wakers.as_ref().map(WakerCount::get);
        (self.task.clone(), wakers)
    }
}

impl TaskTable {
    /// Creates an empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the observer that keeps the table up to date. Give it to one scheduler. From then on
    /// the leaf futures of the process record what they wait for.
    pub fn observer(&self) -> std::sync::Arc<dyn raddle_sched::Observer> {
        raddle_leaf::wait::enable();
        std::sync::Arc::new(DumpObserver(self.clone()))
    }

    /// Copies the table. This polls no task, and needs no worker.
    ///
    /// The table is copied shard by shard. The entry of each task is consistent, but the entries of
    /// two tasks may be from different times during the copy.
    pub fn dump(&self) -> Dump {
        let mut tasks = Vec::new();
        for shard in &self.0.shards {
            // The memory is reserved without the lock, so that no worker waits while the vector
            // grows.
            let length = shard.lock().len();
            tasks.reserve(length + length / 8);
            tasks.extend(shard.lock().values().map(Entry::copy));
        }
        let now = Instant::now();
        let mut tasks: Vec<_> = tasks
            .into_iter()
            .map(|copy| TaskDump::new(copy, now))
            .collect();
        tasks.sort_unstable_by_key(TaskDump::id);
        let block_ons = self.0.block_ons.lock().clone();
        let block_on = |(id, waiting): (&u64, &Waiting)| BlockOn {
            id: *id,
            thread: waiting.thread.clone(),
            since: now.saturating_duration_since(waiting.since),
            waits: waiting.waits.as_slice().into(),
        };
        let mut copies: Vec<_> = block_ons.iter().map(block_on).collect();
        copies.sort_unstable_by_key(BlockOn::id);
        let polls: Map<_> = tasks.iter().map(|task| (task.id(), task.polls())).collect();
        let is_unchanged = |id| match raddle_leaf::wait::root_number(id) {
            None => polls
                .get(&id)
                .is_some_and(|polls| self.is_waiting_since(id, *polls)),
            Some(_) => self.is_blocked_since(id, block_ons.get(&id).map(|waiting| waiting.since)),
        };
        Dump::new(tasks, copies, is_unchanged)
    }

    /// Returns whether the task waits and has not been polled since it had `polls` polls.
    fn is_waiting_since(&self, id: u64, polls: u64) -> bool {
        let shard = self.shard(id).lock();
        let task = shard.get(&id).map(|entry| &entry.task);
        task.is_some_and(|task| task.state == TaskState::Waiting && task.polls == polls)
    }

    /// Returns whether the future of the `block_on` still waits since then.
    fn is_blocked_since(&self, id: u64, since: Option<Instant>) -> bool {
        let block_ons = self.0.block_ons.lock();
        since.is_some() && block_ons.get(&id).map(|waiting| waiting.since) == since
    }

    /// Records that the future of a `block_on` waits.
    pub(crate) fn block(&self, id: u64, waiting: Waiting) {
        let former = self.0.block_ons.lock().insert(id, waiting);
        drop(former);
    }

    /// Records that the future of a `block_on` is polled, or has ended.
    pub(crate) fn unblock(&self, id: u64) {
        let former = self.0.block_ons.lock().remove(&id);
        drop(former);
    }

    /// Returns the entry that one task would have in a [dump](Self::dump), or `None` if it has
    /// ended.
    pub fn task(&self, id: u64) -> Option<TaskDump> {
        let shard = self.shard(id).lock();
        let task = shard.get(&id).map(|entry| entry.copy());
        drop(shard);
        task.map(|copy| TaskDump::new(copy, Instant::now()))
    }

    /// Records that the task that runs on the calling thread has entered a span with this text: see
    /// [`TaskDump::span`].
    pub fn enter_span(&self, span: &std::sync::Arc<str>) {
        self.change_present(|task| task.span = Some(span.clone()));
    }

    /// Records that a span has ended, and that the calling thread is in `present`.
    pub fn close_span(&self, span: &std::sync::Arc<str>, present: Option<&std::sync::Arc<str>>) {
        self.change_present(|task| {
            if let Some(former) = task.span.take_if(|it| std::sync::Arc::ptr_eq(it, span)) {
                task.span = present.cloned();
                drop(former);
            }
        });
    }

    /// Changes the task that runs on the calling thread, if one does.
    fn change_present(&self, change: impl FnOnce(&mut Task)) {
        if let Some(task) = raddle_task::try_id() {
            self.change(NonZeroU64::from(task).get(), |entry| {
                change(&mut entry.task)
            });
        }
    }

    /// Returns the latest polls and the wakes of a task, or `None` if it has ended.
    pub fn history(&self, id: u64) -> Option<TaskHistory> {
        let shard = self.shard(id).lock();
        let entry = shard.get(&id)?;
        Some(entry.history.copy(Instant::now()))
    }

    fn shard(&self, id: u64) -> &Mutex<Map<Entry>> {
        &self.0.shards[(id % SHARDS) as usize]
    }

    pub(crate) fn add(&self, task: Task) {
        let shard = self.shard(task.id);
        let id = task.id;
        let entry = Entry {
            task,
            history: History::default(),
            wakers: None,
        };
        let former = shard.lock().insert(id, entry);
        drop(former);
    }

    pub(crate) fn remove(&self, id: u64) {
        let removed = self.shard(id).lock().remove(&id);
        drop(removed);
    }

    pub(crate) fn change(&self, id: u64, change: impl FnOnce(&mut Entry)) {
        if let Some(entry) = self.shard(id).lock().get_mut(&id) {
            change(entry);
        }
    }
}

impl Default for Shared {
    fn default() -> Self {
        let shard = |_| Mutex::ranked(Rank::leaf("tasks of dumps"), Map::default());
        Self {
            shards: (0..SHARDS).map(shard).collect(),
            block_ons: Mutex::ranked(Rank::leaf("block_on futures of dumps"), Map::default()),
        }
    }
}

impl fmt::Debug for TaskTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskTable").finish_non_exhaustive()
    }
}
