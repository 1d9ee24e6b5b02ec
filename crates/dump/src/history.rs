//! The latest polls of a task, and what woke it.

use std::thread::Thread;
use std::time::{Duration, Instant};

use crate::dump::WokenBy;

/// The number of polls that are kept for each task.
const MAX_POLLS: usize = 16;

/// What happened to a task. Its size is bounded; a task that completes in its first poll allocates
/// nothing for it.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// The latest polls; once there are [`MAX_POLLS`], a ring whose oldest poll is at `oldest`.
    polls: Vec<Record>,
    oldest: usize,
    next_cause: Cause,
    by_tasks: u64,
    by_driver: u64,
    by_other: u64,
    during_polls: u64,
    /// The thread outside tasks and drivers that woke the task last.
    thread: Option<Thread>,
    started: u64,
    delay: Duration,
    longest_delay: Duration,
}

/// A poll in 40 bytes.
#[derive(Clone, Copy, Debug)]
struct Record {
    started: Instant,
    /// Nanoseconds.
    time: u64,
    delay: u64,
    cause: Cause,
}

/// Why a task is polled, in one word: the id of the task that woke it, or a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cause(u64);

impl Cause {
    /// The spawn of the task.
    const SPAWN: Self = Self(u64::MAX);
    /// A wake during the previous poll.
    const DURING_POLL: Self = Self(u64::MAX - 1);
    const DRIVER: Self = Self(u64::MAX - 2);
    const OTHER: Self = Self(u64::MAX - 3);

    fn public(self) -> PollCause {
        match self {
            Self::SPAWN => PollCause::Spawn,
            Self::DURING_POLL => PollCause::WokenDuringPoll,
            Self::DRIVER => PollCause::Woken(WokenBy::Driver),
            Self::OTHER => PollCause::Woken(WokenBy::Other),
            Self(task) => PollCause::Woken(WokenBy::Task(task)),
        }
    }
}

impl Default for Cause {
    fn default() -> Self {
        Self::SPAWN
    }
}

impl History {
    /// Records a wake of the waiting task. `thread` is the calling thread, if neither a task nor
    /// the driver woke it.
    pub(crate) fn wake(&mut self, by: WokenBy, thread: Option<Thread>) {
        let (count, cause) = match by {
            WokenBy::Task(task) => (&mut self.by_tasks, Cause(task)),
            WokenBy::Driver => (&mut self.by_driver, Cause::DRIVER),
            WokenBy::Other => (&mut self.by_other, Cause::OTHER),
        };
        *count += 1;
        self.next_cause = cause;
        if thread.is_some() {
            self.thread = thread;
        }
    }

    /// Records that the task was woken during its poll.
    pub(crate) fn wake_during_poll(&mut self) {
        self.during_polls += 1;
        self.next_cause = Cause::DURING_POLL;
    }

    /// Records the start of a poll for which the task has waited in a queue for `delay`. Returns
    /// why the task is polled.
    pub(crate) fn start(&mut self, delay: Duration) -> Cause {
        self.started += 1;
        self.delay += delay;
        self.longest_delay = self.longest_delay.max(delay);
        self.next_cause
    }

    /// Records the end of a poll.
    pub(crate) fn finish(
        &mut self,
        started: Instant,
        time: Duration,
        delay: Duration,
        cause: Cause,
    ) {
        let record = Record {
            started,
            time: nanoseconds(time),
            delay: nanoseconds(delay),
            cause,
        };
        if self.polls.len() < MAX_POLLS {
            self.polls.push(record);
        } else {
            self.polls[self.oldest] = record;
            self.oldest = (self.oldest + 1) % MAX_POLLS;
        }
    }

    pub(crate) fn copy(&self, now: Instant) -> TaskHistory {
        let (newer, older) = self.polls.split_at(self.oldest);
        let public = |record: &Record| PollRecord {
            ago: now.saturating_duration_since(record.started),
            time: Duration::from_nanos(record.time),
            delay: Duration::from_nanos(record.delay),
            cause: record.cause.public(),
        };
        TaskHistory {
            polls: older.iter().chain(newer).map(public).collect(),
            wakes: WakeCounts {
                by_tasks: self.by_tasks,
                by_driver: self.by_driver,
                by_other: self.by_other,
                during_polls: self.during_polls,
            },
            thread: self.thread.clone(),
            started: self.started,
            delay: self.delay,
            longest_delay: self.longest_delay,
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    time.as_secs()
        .saturating_mul(1_000_000_000)
        .saturating_add(u64::from(time.subsec_nanos()))
}

/// The latest polls of a task, its wakes, and how long it has waited in queues.
///
/// # Examples
///
/// ```
/// use raddle_dump::{PollCause, TaskTable};
/// use raddle_sched::{Config, CurrentThread, yield_now};
///
/// let table = TaskTable::new();
/// let config = Config { observer: Some(table.observer()), ..Config::default() };
/// let scheduler = CurrentThread::new(config, None);
/// drop(scheduler.handle().spawn(async {
///     yield_now().await;
///     std::future::pending::<()>().await;
/// }));
/// scheduler.block_on(async { for _ in 0..3 { yield_now().await; } });
///
/// let task = table.dump().tasks()[0].id();
/// let history = table.history(task).unwrap();
/// assert_eq!(history.polls()[0].cause(), PollCause::Spawn);
/// assert_eq!(history.polls()[1].cause(), PollCause::WokenDuringPoll);
/// assert_eq!(history.wakes().during_polls, 1);
/// ```
#[derive(Clone, Debug)]
pub struct TaskHistory {
    polls: Box<[PollRecord]>,
    wakes: WakeCounts,
    thread: Option<Thread>,
    started: u64,
    delay: Duration,
    longest_delay: Duration,
}

/// A poll that has returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollRecord {
    ago: Duration,
    time: Duration,
    delay: Duration,
    cause: PollCause,
}

/// Why a task was polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PollCause {
    /// It was the first poll of a task that was not woken before it.
    Spawn,
    /// The task was woken while it waited.
    Woken(WokenBy),
    /// The task was woken during its previous poll: by itself, or by another thread.
    WokenDuringPoll,
}

/// How often a task was woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WakeCounts {
    /// The wakes by polls of other tasks, while the task waited.
    pub by_tasks: u64,
    /// The wakes by the driver: events of the operating system, and timers.
    pub by_driver: u64,
    /// The wakes by code outside tasks and drivers.
    pub by_other: u64,
    /// The polls during which the task was woken, in most cases by itself.
    pub during_polls: u64,
}

impl TaskHistory {
    /// Returns the latest polls that have returned `Pending`, the oldest first; at most 16.
    pub fn polls(&self) -> &[PollRecord] {
        &self.polls
    }

    /// Returns how often the task was woken, and by what.
    pub fn wakes(&self) -> WakeCounts {
        self.wakes
    }

    /// Returns the name of the thread outside tasks and drivers that woke the task last. `None` if
    /// there was none, or if it has no name.
    pub fn last_thread(&self) -> Option<&str> {
        self.thread.as_ref()?.name()
    }

    /// Returns the mean time between the wake or the spawn of the task and its poll.
    pub fn mean_delay(&self) -> Duration {
        let mean = self.delay.as_secs_f64() / self.started.max(1) as f64;
        Duration::from_secs_f64(mean)
    }

    /// Returns the longest such time.
    pub fn longest_delay(&self) -> Duration {
        self.longest_delay
    }
}

impl PollRecord {
    /// Returns the time since the start of the poll.
    pub fn ago(&self) -> Duration {
        self.ago
    }

    /// Returns how long it has taken.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Returns how long the task had waited in a queue for this poll.
    pub fn delay(&self) -> Duration {
        self.delay
    }

    /// Returns why the task was polled.
    pub fn cause(&self) -> PollCause {
        self.cause
    }
}
