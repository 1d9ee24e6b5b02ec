//! The workers and the tasks of a runtime, as the page shows them.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use raddle_dump::{Dump, TaskDump, TaskState, TaskTable};
use raddle_primitives::sync::{Arc, Mutex, Rank};

/// The duration from which a poll is slow.
pub(crate) const SLOW: Duration = Duration::from_millis(100);
/// The time without a poll after which a waiting task is idle.
pub(crate) const IDLE: Duration = Duration::from_secs(10);
/// The age up to which a copy of the tasks is used for further requests.
const COPY_AGE: Duration = Duration::from_millis(200);
/// The greatest number of tasks in one answer.
pub(crate) const MAX_ROWS: usize = 200;

/// The current state of workers and tasks.
pub(crate) struct Table {
    workers: OnceLock<Box<[Mutex<WorkerState>]>>,
    /// The spare workers that serve, by their index among all workers.
    spares: Mutex<BTreeMap<usize, WorkerState>>,
    pub(crate) tasks: TaskTable,
    /// The last copy of all tasks. Held while a copy is made, so that one is made at a time.
    copy: Mutex<Option<(Instant, Arc<Dump>)>>,
}

/// The state of a worker.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerState {
    pub(crate) activity: Activity,
    pub(crate) since: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// The worker is between two polls.
    Ready,
    Polling(u64),
    Searching,
    Parked,
    Stopped,
}

/// The tasks that a request asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) filter: Filter,
    /// Part of the name, the span, the location or the number, in lower case.
    pub(crate) text: String,
    /// The key of the tasks' group.
    pub(crate) group: Option<u64>,
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
pub(crate) struct Page<'a> {
    /// The numbers of all tasks, and of those that the query matches.
    pub(crate) total: usize,
    pub(crate) matching: usize,
    pub(crate) tasks: Vec<&'a TaskDump>,
}

impl Table {
    pub(crate) fn of(tasks: TaskTable) -> Self {
        Self {
            workers: OnceLock::new(),
            spares: Mutex::ranked(Rank::leaf("console spare workers"), BTreeMap::new()),
            tasks,
            copy: Mutex::ranked(Rank::outer(1, "console copy"), None),
        }
    }

    pub(crate) fn set_workers(&self, count: usize) {
        let state = |_| {
            let state = WorkerState {
                activity: Activity::Ready,
                since: Instant::now(),
            };
            Mutex::ranked(Rank::leaf("console worker"), state)
        };
        self.workers.get_or_init(|| (0..count).map(state).collect());
    }

    pub(crate) fn set_activity(&self, worker: usize, activity: Activity, since: Instant) {
        let new = WorkerState { activity, since };
        let Some(workers) = self.workers.get() else {
            return;
        };
        match (workers.get(worker), activity) {
            (Some(state), _) => *state.lock() = new,
            (None, Activity::Stopped) => drop(self.spares.lock().remove(&worker)),
            (None, _) => drop(self.spares.lock().insert(worker, new)),
        }
    }

    /// Returns the states of the workers.
    pub(crate) fn worker_states(&self) -> Vec<WorkerState> {
        let workers = self.workers.get().into_iter().flatten();
        workers.map(|state| *state.lock()).collect()
    }

    /// Returns the states of the spare workers that serve, each with its number among the spare
    /// workers.
    pub(crate) fn spare_states(&self) -> Vec<(usize, WorkerState)> {
        let first = self.workers.get().map_or(0, |workers| workers.len());
        let spares = self.spares.lock();
        let spares = spares
            .iter()
            .map(|(worker, state)| (worker - first, *state));
        spares.collect()
    }

    /// Returns a copy of all tasks, which is at most `COPY_AGE` old.
    pub(crate) fn copy(&self) -> Arc<Dump> {
        let mut copy = self.copy.lock();
        if let Some((at, tasks)) = &*copy {
            if at.elapsed() < COPY_AGE {
                return Arc::clone(tasks);
            }
        }
        let tasks = Arc::new(self.tasks.dump());
        *copy = Some((Instant::now(), Arc::clone(&tasks)));
        tasks
    }
}

impl Filter {
    fn matches(self, state: TaskState, since: Duration, longest: Duration) -> bool {
        match self {
            Self::All => true,
            Self::Busy => state != TaskState::Waiting,
            Self::Waiting => state == TaskState::Waiting,
            Self::Slow => longest >= SLOW,
            Self::Idle => state == TaskState::Waiting && since >= IDLE,
        }
    }
}

impl Query {
    /// Returns the tasks that the query selects.
    pub(crate) fn select<'a>(&self, dump: &'a Dump) -> Page<'a> {
        let tasks = dump.tasks();
        let matching = tasks.iter().filter(|task| self.matches(task));
        let mut matching: Vec<&TaskDump> = matching.collect();
        let count = matching.len();
        let end = self.offset.saturating_add(self.limit.min(MAX_ROWS));
        if end < count {
            // Only the rows of the page are sorted.
            matching.select_nth_unstable_by(end, |one, two| self.compare(one, two));
            matching.truncate(end);
        }
        matching.sort_unstable_by(|one, two| self.compare(one, two));
        matching.drain(..self.offset.min(matching.len()));
        Page {
            total: tasks.len(),
            matching: count,
            tasks: matching,
        }
    }

    fn matches(&self, task: &TaskDump) -> bool {
        let (since, longest) = (task.time_in_state(), task.longest_poll());
        self.filter.matches(task.state(), since, longest)
            && self.matches_text(task)
            && self.group.is_none_or(|group| task.group_key() == group)
    }

    fn matches_text(&self, task: &TaskDump) -> bool {
        let contains = |text: &str| text.to_lowercase().contains(&self.text);
        self.text.is_empty()
            || task.name().is_some_and(contains)
            || task.span().is_some_and(contains)
            || contains(task.spawned_at().file())
            || task.id().to_string() == self.text
    }

    fn compare(&self, one: &TaskDump, two: &TaskDump) -> Ordering {
        let place = |task: &TaskDump| (task.spawned_at().file(), task.spawned_at().line());
        let order = match self.order {
            Order::Id => Ordering::Equal,
            Order::Name => one.name().cmp(&two.name()),
            Order::Location => place(one).cmp(&place(two)),
            Order::State => (one.state() as u8).cmp(&(two.state() as u8)),
            Order::Age => one.age().cmp(&two.age()),
            Order::Polls => one.polls().cmp(&two.polls()),
            Order::Busy => one.busy().cmp(&two.busy()),
            Order::Longest => one.longest_poll().cmp(&two.longest_poll()),
            Order::Since => one.time_in_state().cmp(&two.time_in_state()),
        };
        let order = order.then(one.id().cmp(&two.id()));
        if self.is_descending {
            order.reverse()
        } else {
            order
        }
    }
}

#[cfg(test)]
mod tests;
