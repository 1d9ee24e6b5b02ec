//! A dump, and its text.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_leaf::wait::Wait;
use raddle_primitives::sync::Arc;

use crate::graph::{self, Deadlock, Edge, Name, Waiting};
use crate::group::{self, TaskGroup};
use crate::table::Task;

/// The number of tasks that the text names for one wait.
const MAX_BLOCKERS: usize = 4;

/// All tasks of a scheduler at one moment, ordered by id. [`Display`](fmt::Display) prints one line
/// for each task, and under it one for each of its waits; then the deadlocks. Five or more tasks of
/// one [group](TaskGroup), which wait at the same lines, have one line together;
/// [`tasks`](Self::tasks) has each of them.
///
/// # Examples
///
/// ```
/// # let dump = raddle_dump::TaskTable::new().dump();
/// for task in dump.tasks() {
///     println!("{} has been {} for {:?}", task.id(), task.state(), task.time_in_state());
///     for wait in task.waits() {
///         println!("  it waits for {wait}");
///     }
/// }
/// for deadlock in dump.deadlocks() {
///     eprint!("{deadlock}");
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Dump {
    tasks: Box<[TaskDump]>,
    block_ons: Box<[BlockOn]>,
    edges: Box<[Edge]>,
    deadlocks: Box<[Deadlock]>,
}

impl Dump {
    /// `is_unchanged` returns whether a task is unchanged since it was copied.
    pub(crate) fn new(
        tasks: Vec<TaskDump>,
        block_ons: Vec<BlockOn>,
        is_unchanged: impl Fn(u64) -> bool,
    ) -> Self {
        let waiting = tasks.iter().filter(|task| task.state == TaskState::Waiting);
        let waiting = waiting.map(|task| Waiting {
            id: task.id,
            waits: task.waits(),
            wakers: task.wakers,
            blocked: task.blocked,
        });
        let blocked = block_ons.iter().map(|call| Waiting {
            id: call.id,
            waits: call.waits(),
            wakers: None,
            blocked: call.since,
        });
        let (edges, deadlocks) = graph::search(waiting.chain(blocked), is_unchanged);
        Self {
            tasks: tasks.into(),
            block_ons: block_ons.into(),
            edges: edges.into(),
            deadlocks: deadlocks.into(),
        }
    }

    /// Returns the tasks that had not completed, ordered by id.
    pub fn tasks(&self) -> &[TaskDump] {
        &self.tasks
    }

    /// Returns the calls of `block_on` on the runtime whose futures were waiting.
    pub fn block_ons(&self) -> &[BlockOn] {
        &self.block_ons
    }

    /// Returns the known edges of the wait-for graph: which task waits for which.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// Returns the edges that begin at a task or a [`block_on`](BlockOn::id): the tasks that can
    /// end its waits.
    pub fn edges_from(&self, id: u64) -> &[Edge] {
        let first = self.edges.partition_point(|edge| edge.from() < id);
        let count = self.edges[first..].partition_point(|edge| edge.from() == id);
        &self.edges[first..first + count]
    }

    /// Returns the deadlocks: cycles of the wait-for graph in which each task waits for the next
    /// one, so that none makes progress. Most are [suspected](Deadlock::is_suspected), and say what
    /// may end them. The [crate's page](crate#deadlocks) has the rules.
    pub fn deadlocks(&self) -> &[Deadlock] {
        &self.deadlocks
    }

    /// Returns the task with this id, unless it had completed.
    pub fn task(&self, id: u64) -> Option<&TaskDump> {
        let index = self.tasks.binary_search_by_key(&id, TaskDump::id).ok()?;
        Some(&self.tasks[index])
    }
}

/// A call of `block_on` whose future was waiting.
#[derive(Clone, Debug)]
pub struct BlockOn {
    pub(crate) id: u64,
    pub(crate) thread: Option<Arc<str>>,
    pub(crate) since: Duration,
    pub(crate) waits: Box<[Wait]>,
}

impl BlockOn {
    /// Returns whether an id, such as that of an [edge](Edge::from), is that of a `block_on` and
    /// not that of a task.
    pub fn has_id(id: u64) -> bool {
        raddle_leaf::wait::root_number(id).is_some()
    }

    /// Returns a number that serves as an id; no task has the same id.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the name of the thread.
    pub fn thread(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// Returns the time since the future's last poll.
    pub fn time_in_state(&self) -> Duration {
        self.since
    }

    /// Returns what the future waits for, like [`TaskDump::waits`].
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }
}

impl fmt::Display for BlockOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let thread = self.thread().unwrap_or("without a name");
        let name = Name(self.id);
        write!(
            f,
            "{name}, on thread {thread:?}: waiting for {:.1?}",
            self.since
        )
    }
}

/// The entry of one task in a dump.
#[derive(Clone, Debug)]
pub struct TaskDump {
    id: u64,
    name: Option<Arc<str>>,
    location: &'static Location<'static>,
    state: TaskState,
    since: Duration,
    age: Duration,
    polls: u64,
    busy: Duration,
    longest: Duration,
    woken: Option<LastWake>,
    span: Option<std::sync::Arc<str>>,
    waits: Box<[Wait]>,
    wakers: Option<usize>,
    blocked: Duration,
}

/// The state of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TaskState {
    /// The task waits to be woken.
    Waiting,
    /// The task is in a queue, and waits for a worker.
    Queued,
    /// A worker polls the task.
    Running,
}

/// When and by what a task was woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastWake {
    ago: Duration,
    by: WokenBy,
}

/// The code that woke a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WokenBy {
    /// The poll of the task with this id.
    Task(u64),
    /// The driver: an event of the operating system, or a timer.
    Driver,
    /// Code outside tasks and the driver: a blocking thread, a `block_on`, another runtime.
    Other,
}

impl TaskDump {
    pub(crate) fn new((task, wakers): (Task, Option<usize>), now: Instant) -> Self {
        let poll = task.poll.map_or(Duration::ZERO, |poll| {
            now.saturating_duration_since(poll.started)
        });
        Self {
            id: task.id,
            name: task.name,
            location: task.location,
            state: task.state,
            since: now.saturating_duration_since(task.since),
            age: now.saturating_duration_since(task.spawned),
            polls: task.polls,
            busy: task.busy + poll,
            longest: task.longest.max(poll),
            woken: task.woken.map(|(at, by)| LastWake {
                ago: now.saturating_duration_since(at),
                by,
            }),
            span: task.span,
            waits: match task.state {
                TaskState::Waiting => task.waits.into(),
                TaskState::Queued | TaskState::Running => Box::default(),
            },
            wakers,
            blocked: now.saturating_duration_since(task.blocked),
        }
    }

    /// Returns the task's id, as a number.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Returns the task's name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the task was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns the state of the task.
    pub fn state(&self) -> TaskState {
        self.state
    }

    /// Returns how long the task has been in its [state](Self::state).
    pub fn time_in_state(&self) -> Duration {
        self.since
    }

    /// Returns the time since the task was spawned.
    pub fn age(&self) -> Duration {
        self.age
    }

    /// Returns the number of polls that have returned.
    pub fn polls(&self) -> u64 {
        self.polls
    }

    /// Returns the total time of the task's polls, including the current one.
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// Returns the time of the longest poll, which may be the current one.
    pub fn longest_poll(&self) -> Duration {
        self.longest
    }

    /// Returns when and by what the task was last woken while it waited. `None` if it was not: it
    /// has been in a queue since its spawn, or was woken only during its polls.
    pub fn last_wake(&self) -> Option<LastWake> {
        self.woken
    }

    /// Returns the text of the innermost span of the crate `tracing` that the task's last poll has
    /// entered and that has not ended since, such as `request{GET /users}`; `None` without a layer
    /// that [records](crate::TaskTable::enter_span) spans.
    pub fn span(&self) -> Option<&str> {
        self.span.as_deref()
    }

    /// Returns what the task waits for: the leaf operations that returned `Pending` in its last
    /// poll, in the order in which they were polled. A task in a `select!` has several. Empty if
    /// the task does not wait, or if none of its leaf operations is one of Raddle's.
    ///
    /// At most 64 are kept. If the task polls its parts separately (`FuturesUnordered`,
    /// `LocalSet`), the list has the waits of the parts that the last poll has polled;
    /// [`Wait::is_direct`] distinguishes them.
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }

    /// Returns the number of wakers and abort handles that the task has. Each of its waits has a
    /// waker; the others are abort handles, or wakers that other code keeps. `None` before the
    /// first poll.
    pub fn wakers(&self) -> Option<usize> {
        self.wakers
    }
}

impl LastWake {
    /// Returns the time since the wake.
    pub fn ago(&self) -> Duration {
        self.ago
    }

    /// Returns which code woke the task.
    pub fn by(&self) -> WokenBy {
        self.by
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.tasks.len() == 1 { "" } else { "s" };
        writeln!(f, "{} task{plural}", self.tasks.len())?;
        for group in self.groups() {
            if group.is_joined() {
                self.write_group(f, &group)?;
                continue;
            }
            for task in group.tasks() {
                writeln!(f, "{task}")?;
                self.write_waits(f, task.id, &group::sorted(&task.waits))?;
            }
        }
        for call in &self.block_ons {
            writeln!(f, "{call}")?;
            self.write_waits(f, call.id, &group::sorted(&call.waits))?;
        }
        self.deadlocks
            .iter()
            .try_for_each(|deadlock| deadlock.fmt(f))
    }
}

impl Dump {
    /// Writes a line for each wait, with the tasks that can end it.
    fn write_waits(&self, f: &mut fmt::Formatter<'_>, id: u64, waits: &[Wait]) -> fmt::Result {
        for wait in waits {
            write!(f, "  waits for {wait}")?;
            self.write_blockers(f, id, wait)?;
        }
        Ok(())
    }

    /// Writes one line for the tasks of a group, and one for each wait that all of them have.
    fn write_group(&self, f: &mut fmt::Formatter<'_>, group: &TaskGroup<'_>) -> fmt::Result {
        writeln!(f, "{group}")?;
        let first = group.first();
        for (wait, is_shared) in group.waits() {
            write!(f, "  wait for ")?;
            if *is_shared {
                write!(f, "{wait}")?;
            } else {
                write!(f, "{}", wait.operation())?;
                if let Some(location) = wait.location() {
                    write!(f, " at {location}")?;
                }
                write!(f, ", such as {}", wait.resource())?;
            }
            self.write_blockers(f, first.id, wait)?;
        }
        Ok(())
    }

    /// Ends the line of a wait: the tasks that can end it.
    fn write_blockers(&self, f: &mut fmt::Formatter<'_>, id: u64, wait: &Wait) -> fmt::Result {
        let edges = self.edges_from(id).iter();
        let mut of_wait = edges.filter(|edge| edge.wait() == wait);
        of_wait
            .by_ref()
            .take(MAX_BLOCKERS)
            .try_for_each(|edge| graph::write_blocker(f, edge))?;
        match of_wait.count() {
            0 => writeln!(f),
            others => writeln!(f, " and {others} others"),
        }
    }
}

impl fmt::Display for TaskDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(span) = &self.span {
            write!(f, ", in span {span:?}")?;
        }
        write!(
            f,
            ", spawned at {} {:.1?} ago: {} for {:.1?}, {} polls, {:.1?} in polls, longest {:.1?}",
            self.location, self.age, self.state, self.since, self.polls, self.busy, self.longest,
        )?;
        match self.woken {
            Some(wake) => write!(f, ", woken {:.1?} ago by {}", wake.ago, wake.by),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting",
            Self::Queued => "queued",
            Self::Running => "running",
        })
    }
}

impl fmt::Display for WokenBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(id) => write!(f, "task {id}"),
            Self::Driver => f.write_str("the driver"),
            Self::Other => f.write_str("code outside tasks"),
        }
    }
}
