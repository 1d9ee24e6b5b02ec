//! The table of the tasks of one scheduler.

use std::collections::HashMap;
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_wait::Wait;

use crate::dump::{Dump, State, TaskDump, WokenBy};
use crate::observer::Recorder;

/// The number of locks that the tasks are spread over.
const SHARDS: u64 = 64;

/// A table of the tasks of one scheduler, from which dumps are taken. A clone is the same table.
///
/// # Examples
///
/// ```
/// use raddle_dump::Tasks;
/// use raddle_sched::{Config, CurrentThread};
///
/// let tasks = Tasks::new();
/// let config = Config { observer: Some(tasks.observer()), ..Config::default() };
/// let scheduler = CurrentThread::new(config, None);
/// scheduler.block_on(async { raddle_sched::spawn(async {}).await.unwrap() });
/// assert!(tasks.dump().tasks().is_empty());
/// ```
#[derive(Clone, Default)]
pub struct Tasks(Arc<Table>);

pub(crate) struct Table {
    shards: Box<[Mutex<HashMap<u64, Task>>]>,
}

/// What is known of a task.
#[derive(Clone)]
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) spawned: Instant,
    pub(crate) state: State,
    /// Since when it has this state.
    pub(crate) since: Instant,
    /// The poll that has started and not finished. Its state may be another: it may have been woken
    /// since the poll returned, before the observer was called.
    pub(crate) poll: Option<Poll>,
    pub(crate) polls: u64,
    pub(crate) busy: Duration,
    pub(crate) longest: Duration,
    pub(crate) woken: Option<(Instant, WokenBy)>,
    /// What its last poll has noted, if the task waits since.
    pub(crate) waits: Vec<Wait>,
}

/// A poll under way.
#[derive(Clone, Copy)]
pub(crate) struct Poll {
    pub(crate) started: Instant,
    /// The thread that polls; see `observer::thread`.
    pub(crate) thread: usize,
}

impl Tasks {
    /// Creates an empty table.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(raddle_dump::Tasks::new().dump().tasks().is_empty());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the observer that keeps the table up to date. Give it to one scheduler. From then
    /// on the leaf futures of the process note what they wait for.
    ///
    /// # Examples
    ///
    /// ```
    /// let tasks = raddle_dump::Tasks::new();
    /// let config = raddle_sched::Config {
    ///     observer: Some(tasks.observer()),
    ///     ..Default::default()
    /// };
    /// ```
    pub fn observer(&self) -> std::sync::Arc<dyn raddle_sched::Observer> {
        raddle_wait::enable();
        std::sync::Arc::new(Recorder(self.clone()))
    }

    /// Copies the table. No task is polled, and no worker takes part.
    ///
    /// The copy is made shard by shard: what a dump says of one task is from one moment, and two
    /// tasks may be from moments that lie apart as long as the copy takes.
    ///
    /// # Examples
    ///
    /// ```
    /// print!("{}", raddle_dump::Tasks::new().dump());
    /// ```
    pub fn dump(&self) -> Dump {
        let mut tasks = Vec::new();
        for shard in &self.0.shards {
            // Room first: no worker waits while many tasks are moved.
            let length = shard.lock().len();
            tasks.reserve(length + length / 8);
            tasks.extend(shard.lock().values().cloned());
        }
        let now = Instant::now();
        let mut tasks: Vec<_> = tasks
            .into_iter()
            .map(|task| TaskDump::new(task, now))
            .collect();
        tasks.sort_unstable_by_key(TaskDump::id);
        Dump::new(tasks)
    }

    /// What a [dump](Self::dump) would say of one task, unless it has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// assert!(raddle_dump::Tasks::new().task(1).is_none());
    /// ```
    pub fn task(&self, id: u64) -> Option<TaskDump> {
        let task = self.shard(id).lock().get(&id).cloned();
        task.map(|task| TaskDump::new(task, Instant::now()))
    }

    fn shard(&self, id: u64) -> &Mutex<HashMap<u64, Task>> {
        &self.0.shards[(id % SHARDS) as usize]
    }

    pub(crate) fn add(&self, task: Task) {
        let shard = self.shard(task.id);
        let former = shard.lock().insert(task.id, task);
        drop(former);
    }

    pub(crate) fn remove(&self, id: u64) {
        let removed = self.shard(id).lock().remove(&id);
        drop(removed);
    }

    pub(crate) fn change(&self, id: u64, change: impl FnOnce(&mut Task)) {
        if let Some(task) = self.shard(id).lock().get_mut(&id) {
            change(task);
        }
    }
}

impl Default for Table {
    fn default() -> Self {
        let shard = |_| Mutex::ranked(Rank::leaf("tasks of dumps"), HashMap::new());
        Self {
            shards: (0..SHARDS).map(shard).collect(),
        }
    }
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}
