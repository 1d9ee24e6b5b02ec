//! A dump, and its text.

use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_wait::Wait;

use crate::table::Task;

/// All tasks of a scheduler at one moment, ordered by id. [`Display`](fmt::Display) prints one line
/// for each task, and under it one for each of its waits.
///
/// # Examples
///
/// ```
/// let dump = raddle_dump::Tasks::new().dump();
/// assert_eq!(dump.to_string(), "0 tasks\n");
/// ```
#[derive(Clone, Debug)]
pub struct Dump {
    tasks: Box<[TaskDump]>,
}

impl Dump {
    pub(crate) fn new(tasks: Vec<TaskDump>) -> Self {
        Self {
            tasks: tasks.into(),
        }
    }

    /// The tasks that had not ended, ordered by id.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// for task in dump.tasks() {
    ///     println!("{} was polled {} times", task.id(), task.polls());
    /// }
    /// ```
    pub fn tasks(&self) -> &[TaskDump] {
        &self.tasks
    }

    /// The task with this id, unless it had ended.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert!(dump.task(1).is_none());
    /// ```
    pub fn task(&self, id: u64) -> Option<&TaskDump> {
        let index = self.tasks.binary_search_by_key(&id, TaskDump::id).ok()?;
        Some(&self.tasks[index])
    }
}

/// What a dump says of one task.
///
/// # Examples
///
/// ```
/// use raddle_dump::{TaskDump, Tasks};
///
/// let dump = Tasks::new().dump();
/// let slowest = dump.tasks().iter().max_by_key(|task| task.longest_poll());
/// assert!(slowest.is_none());
/// ```
#[derive(Clone, Debug)]
pub struct TaskDump {
    id: u64,
    name: Option<Arc<str>>,
    location: &'static Location<'static>,
    state: State,
    since: Duration,
    age: Duration,
    polls: u64,
    busy: Duration,
    longest: Duration,
    woken: Option<Wake>,
    waits: Box<[Wait]>,
}

/// What a task does.
///
/// # Examples
///
/// ```
/// assert_eq!(raddle_dump::State::Waiting.to_string(), "waiting");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It waits to be woken.
    Waiting,
    /// It is in a queue, and waits for a worker.
    Queued,
    /// A worker polls it.
    Running,
}

/// When and by what a task was woken.
///
/// # Examples
///
/// ```
/// use raddle_dump::{Dump, WokenBy};
///
/// /// The number of tasks that an event or a timer woke last.
/// fn woken_by_driver(dump: &Dump) -> usize {
///     let wakes = dump.tasks().iter().filter_map(|task| task.last_wake());
///     wakes.filter(|wake| wake.by() == WokenBy::Driver).count()
/// }
/// # assert_eq!(woken_by_driver(&raddle_dump::Tasks::new().dump()), 0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wake {
    ago: Duration,
    by: WokenBy,
}

/// What has woken a task.
///
/// # Examples
///
/// ```
/// assert_eq!(raddle_dump::WokenBy::Task(7).to_string(), "task 7");
/// ```
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
    pub(crate) fn new(task: Task, now: Instant) -> Self {
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
            woken: task.woken.map(|(at, by)| Wake {
                ago: now.saturating_duration_since(at),
                by,
            }),
            waits: match task.state {
                State::Waiting => task.waits.into(),
                State::Queued | State::Running => Box::default(),
            },
        }
    }

    /// The task's id, as a number.
    ///
    /// # Examples
    ///
    /// ```
    /// let ids = raddle_dump::Tasks::new().dump().tasks().iter().map(|task| task.id()).sum::<u64>();
    /// assert_eq!(ids, 0);
    /// ```
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The task's name, if it was given one.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert!(!dump.tasks().iter().any(|task| task.name() == Some("worker")));
    /// ```
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Where the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     println!("{}", task.spawned_at());
    /// }
    /// ```
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.location
    }

    /// What the task does.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_dump::{State, Tasks};
    ///
    /// let dump = Tasks::new().dump();
    /// assert!(dump.tasks().iter().all(|task| task.state() == State::Waiting));
    /// ```
    pub fn state(&self) -> State {
        self.state
    }

    /// How long the task has been in its [state](Self::state).
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     println!("{} for {:?}", task.state(), task.time_in_state());
    /// }
    /// ```
    pub fn time_in_state(&self) -> Duration {
        self.since
    }

    /// The time since the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert!(dump.tasks().iter().map(|task| task.age()).max().is_none());
    /// ```
    pub fn age(&self) -> Duration {
        self.age
    }

    /// The number of polls that have returned.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert_eq!(dump.tasks().iter().map(|task| task.polls()).sum::<u64>(), 0);
    /// ```
    pub fn polls(&self) -> u64 {
        self.polls
    }

    /// The time that the polls of the task have taken, with that of the present poll.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert!(dump.tasks().iter().map(|task| task.busy()).max().is_none());
    /// ```
    pub fn busy(&self) -> Duration {
        self.busy
    }

    /// The time of the longest poll, which may be the present one.
    ///
    /// # Examples
    ///
    /// ```
    /// let dump = raddle_dump::Tasks::new().dump();
    /// assert!(dump.tasks().iter().map(|task| task.longest_poll()).max().is_none());
    /// ```
    pub fn longest_poll(&self) -> Duration {
        self.longest
    }

    /// When and by what the task was last woken while it waited. `None` if it was not: it has been
    /// in a queue since its spawn, or was woken during its polls only.
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     if let Some(wake) = task.last_wake() {
    ///         println!("woken {:?} ago by {}", wake.ago(), wake.by());
    ///     }
    /// }
    /// ```
    pub fn last_wake(&self) -> Option<Wake> {
        self.woken
    }

    /// What the task waits for: the leaf operations that returned `Pending` in its last poll, in
    /// the order in which they were polled. A task in a `select!` has several. Empty if the task
    /// does not wait, and if none of its leaf operations is one of Raddle's.
    ///
    /// At most 64 are kept. A poll of a task that polls its parts apart (`FuturesUnordered`,
    /// `LocalSet`) has the waits of the parts that it has polled, which are marked by
    /// [`Wait::is_direct`].
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     for wait in task.waits() {
    ///         println!("task {} waits for {wait}", task.id());
    ///     }
    /// }
    /// ```
    pub fn waits(&self) -> &[Wait] {
        &self.waits
    }
}

impl Wake {
    /// The time since the wake.
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     println!("{:?}", task.last_wake().map(|wake| wake.ago()));
    /// }
    /// ```
    pub fn ago(&self) -> Duration {
        self.ago
    }

    /// What has woken the task.
    ///
    /// # Examples
    ///
    /// ```
    /// for task in raddle_dump::Tasks::new().dump().tasks() {
    ///     println!("{:?}", task.last_wake().map(|wake| wake.by()));
    /// }
    /// ```
    pub fn by(&self) -> WokenBy {
        self.by
    }
}

impl fmt::Display for Dump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.tasks.len() == 1 { "" } else { "s" };
        writeln!(f, "{} task{plural}", self.tasks.len())?;
        for task in &self.tasks {
            writeln!(f, "{task}")?;
            for wait in task.waits() {
                writeln!(f, "  waits for {wait}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for TaskDump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "task {}", self.id)?;
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
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

impl fmt::Display for State {
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
