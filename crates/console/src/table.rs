//! The workers and the tasks of a runtime, as the page shows them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::panic::Location;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Mutex, Rank};
use serde_json::{Value, json};

/// The number of locks that the tasks are spread over.
const SHARDS: u64 = 64;
/// A poll that takes so long is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(100);
/// A task that waits and was not polled for so long is idle.
pub(crate) const IDLE: Duration = Duration::from_secs(10);
/// How long a copy of the tasks serves several requests.
const COPY_AGE: Duration = Duration::from_millis(200);
/// The greatest number of tasks in one answer.
pub(crate) const MAX_ROWS: usize = 200;

/// The current state of workers and tasks.
pub(crate) struct Table {
    workers: OnceLock<Box<[Mutex<Lane>]>>,
    shards: Box<[Mutex<HashMap<u64, Task>>]>,
    /// The last copy of all tasks. Held while a copy is made, so that one is made at a time.
    copy: Mutex<Option<(Instant, Arc<[Task]>)>>,
}

/// The state of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    pub(crate) activity: Activity,
    pub(crate) since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// Between two polls.
    Ready,
    Polling(u64),
    Searching,
    Parked,
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    Waiting,
    Queued,
    Running,
}

/// What is known of a task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) id: u64,
    pub(crate) name: Option<Arc<str>>,
    pub(crate) location: &'static Location<'static>,
    pub(crate) spawned: Instant,
    pub(crate) state: State,
    /// Since when it has this state.
    pub(crate) since: Instant,
    pub(crate) polls: u64,
    pub(crate) busy: Duration,
    pub(crate) longest: Duration,
}

/// Which tasks a request wants to see.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) filter: Filter,
    /// Part of the name, the location or the number, in lower case.
    pub(crate) text: String,
    pub(crate) order: Order,
    pub(crate) is_descending: bool,
    pub(crate) offset: usize,
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Filter {
    #[default]
    All,
    Busy,
    Waiting,
    Slow,
    Idle,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Id,
    Name,
    Location,
    State,
    Age,
    Polls,
    Busy,
    Longest,
    Since,
}

/// The answer to a query.
#[derive(Debug)]
pub(crate) struct Page {
    /// All tasks, and those that the query matches.
    pub(crate) total: usize,
    pub(crate) matching: usize,
    pub(crate) tasks: Vec<Task>,
}

impl Table {
    pub(crate) fn new() -> Self {
        let shard = |_| Mutex::ranked(Rank::leaf("console tasks"), HashMap::new());
        Self {
            workers: OnceLock::new(),
            shards: (0..SHARDS).map(shard).collect(),
            copy: Mutex::ranked(Rank::outer(1, "console copy"), None),
        }
    }

    pub(crate) fn set_workers(&self, count: usize) {
        let lane = |_| {
            let lane = Lane {
                activity: Activity::Ready,
                since: Instant::now(),
            };
            Mutex::ranked(Rank::leaf("console worker"), lane)
        };
        self.workers.get_or_init(|| (0..count).map(lane).collect());
    }

    pub(crate) fn set_activity(&self, worker: usize, activity: Activity, since: Instant) {
        let workers = self.workers.get();
        if let Some(lane) = workers.and_then(|workers| workers.get(worker)) {
            *lane.lock() = Lane { activity, since };
        }
    }

    pub(crate) fn lanes(&self) -> Vec<Lane> {
        let workers = self.workers.get().into_iter().flatten();
        workers.map(|lane| *lane.lock()).collect()
    }

    fn shard(&self, id: u64) -> &Mutex<HashMap<u64, Task>> {
        &self.shards[(id % SHARDS) as usize]
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

    pub(crate) fn find(&self, id: u64) -> Option<Task> {
        self.shard(id).lock().get(&id).cloned()
    }

    /// A copy of all tasks, which may be a little old.
    fn copy(&self) -> Arc<[Task]> {
        let mut copy = self.copy.lock();
        if let Some((at, tasks)) = &*copy {
            if at.elapsed() < COPY_AGE {
                return Arc::clone(tasks);
            }
        }
        let mut tasks = Vec::new();
        for shard in &self.shards {
            // Room first: the workers wait for no allocation of many tasks.
            let length = shard.lock().len();
            tasks.reserve(length + length / 8);
            tasks.extend(shard.lock().values().cloned());
        }
        let tasks: Arc<[Task]> = tasks.into();
        *copy = Some((Instant::now(), Arc::clone(&tasks)));
        tasks
    }

    /// The tasks that a query wants.
    pub(crate) fn page(&self, query: &Query) -> Page {
        let now = Instant::now();
        let tasks = self.copy();
        let matching = tasks.iter().filter(|task| query.matches(task, now));
        let mut matching: Vec<&Task> = matching.collect();
        let count = matching.len();
        let end = query.offset.saturating_add(query.limit.min(MAX_ROWS));
        if end < count {
            // Only the rows of the page are sorted.
            matching.select_nth_unstable_by(end, |one, two| query.compare(one, two));
            matching.truncate(end);
        }
        matching.sort_unstable_by(|one, two| query.compare(one, two));
        let rows = matching.into_iter().skip(query.offset);
        Page {
            total: tasks.len(),
            matching: count,
            tasks: rows.cloned().collect(),
        }
    }
}

impl Query {
    fn matches(&self, task: &Task, now: Instant) -> bool {
        let since = now.saturating_duration_since(task.since);
        let is_in = match self.filter {
            Filter::All => true,
            Filter::Busy => task.state != State::Waiting,
            Filter::Waiting => task.state == State::Waiting,
            Filter::Slow => task.longest >= SLOW || (task.state == State::Running && since >= SLOW),
            Filter::Idle => task.state == State::Waiting && since >= IDLE,
        };
        is_in && self.matches_text(task)
    }

    fn matches_text(&self, task: &Task) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.text);
        self.text.is_empty()
            || task.name.as_deref().is_some_and(contains)
            || contains(task.location.file())
            || task.id.to_string() == self.text
    }

    fn compare(&self, one: &Task, two: &Task) -> Ordering {
        let place = |task: &Task| (task.location.file(), task.location.line());
        let order = match self.order {
            Order::Id => Ordering::Equal,
            Order::Name => one.name.cmp(&two.name),
            Order::Location => place(one).cmp(&place(two)),
            Order::State => one.state.cmp(&two.state),
            // The oldest has the greatest age.
            Order::Age => two.spawned.cmp(&one.spawned),
            Order::Polls => one.polls.cmp(&two.polls),
            Order::Busy => one.busy.cmp(&two.busy),
            Order::Longest => one.longest.cmp(&two.longest),
            Order::Since => two.since.cmp(&one.since),
        };
        let order = order.then(one.id.cmp(&two.id));
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }
}

impl Task {
    pub(crate) fn to_json(&self, now: Instant) -> Value {
        let since = now.saturating_duration_since(self.since);
        let running = match self.state {
            State::Running => since,
            _ => Duration::ZERO,
        };
        json!({
            "id": self.id,
            "name": self.name.as_deref(),
            "location": self.location.to_string(),
            "state": match self.state {
                State::Waiting => "waiting",
                State::Queued => "queued",
                State::Running => "running",
            },
            "is_slow": running >= SLOW || self.longest >= SLOW,
            "age": now.saturating_duration_since(self.spawned).as_secs_f64(),
            "since": since.as_secs_f64(),
            "polls": self.polls,
            "busy": (self.busy + running).as_secs_f64(),
            "longest": self.longest.max(running).as_secs_f64(),
        })
    }
}

#[cfg(test)]
mod tests;
