//! Reports of a watchdog.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::panic::Location;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Mutex, Rank};

use crate::slot::ActivityKind;
use crate::stack::StackTrace;

/// The shortest interval between two warnings about one location.
const WARNING_INTERVAL: Duration = Duration::from_secs(1);

/// A finding of a watchdog. `Display` writes it as text, with the stack.
///
/// # Examples
///
/// ```
/// # use raddle_watchdog::Report;
/// // An action of a watchdog.
/// fn print(report: &Report) {
///     match report {
///         Report::SlowPoll(poll) => eprintln!("{} blocks: {poll}", poll.thread_name()),
///         other => eprintln!("{other}"),
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Report {
    /// A poll that takes too long and has not returned yet.
    SlowPoll(SlowPoll),
    /// Jobs of the blocking pool that wait too long for a thread.
    WaitingJobs(WaitingJobs),
    /// Tasks that wait behind polls that do not return, while all spare workers are in use.
    /// Reported at most every 10 s.
    NoSpareWorkers(NoSpareWorkers),
    /// A shutdown that has stopped waiting while polls or jobs still run.
    Shutdown(ShutdownReport),
}

/// A poll that takes too long, or a job of the blocking pool that has not returned.
#[derive(Clone, Debug)]
pub struct SlowPoll {
    pub(crate) kind: ActivityKind,
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) worker: Option<usize>,
    pub(crate) thread: String,
    pub(crate) elapsed: Duration,
    pub(crate) stack: Option<StackTrace>,
}

impl SlowPoll {
    /// Returns the id of the task or the blocking job, as a number. `None` for the future of
    /// `block_on`.
    pub fn task_id(&self) -> Option<u64> {
        (self.id != 0).then_some(self.id)
    }

    /// Returns the task's name, if it has one.
    pub fn task_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns where the task was spawned. `None` for the future of `block_on`.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.location
    }

    /// Returns the index of the worker that polls, if a worker does.
    pub fn worker(&self) -> Option<usize> {
        self.worker
    }

    /// Returns the name of the thread.
    pub fn thread_name(&self) -> &str {
        &self.thread
    }

    /// Returns how long the poll has taken so far, at least. The poll may have begun up to one
    /// interval of the watchdog earlier, usually a quarter of its threshold.
    pub fn elapsed(&self) -> Duration {
        self.elapsed
    }

    /// Returns the stack of the thread in this poll. `None` if the platform does not support it
    /// (Linux on x86-64 and AArch64 does), if the thread blocks the signal, or if the poll has just
    /// returned.
    pub fn stack(&self) -> Option<&StackTrace> {
        self.stack.as_ref()
    }

    /// Returns whether this is a job of the blocking pool, not a poll.
    pub fn is_blocking_job(&self) -> bool {
        self.kind == ActivityKind::Job
    }
}

/// Jobs of the blocking pool that wait too long for a thread.
#[derive(Clone, Debug)]
pub struct WaitingJobs {
    pub(crate) count: usize,
    pub(crate) longest: Duration,
    pub(crate) location: Option<&'static Location<'static>>,
}

impl WaitingJobs {
    /// Returns the number of jobs that have waited longer than the threshold.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns how long the oldest has waited.
    pub fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns where the oldest was spawned, if that is known.
    pub fn spawned_at(&self) -> Option<&'static Location<'static>> {
        self.location
    }
}

/// The polls that run when tasks wait and no spare worker is left. Most of them are probably long:
/// compare [`SlowPoll::elapsed`].
///
/// `Display` writes one line, then one for each location at which their tasks were spawned, and no
/// stacks.
///
/// # Examples
///
/// ```
/// # use raddle_watchdog::NoSpareWorkers;
/// fn print_stacks(report: &NoSpareWorkers) {
///     eprintln!("{report}");
///     for poll in report.polls() {
///         eprintln!("{poll}");
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct NoSpareWorkers {
    pub(crate) polls: Vec<SlowPoll>,
}

impl NoSpareWorkers {
    /// Returns the polls of tasks that run now, with the stacks of their threads. Those in
    /// `block_in_place` are left out: they keep no worker.
    pub fn polls(&self) -> &[SlowPoll] {
        &self.polls
    }
}

/// The tasks and jobs that a shutdown did not stop within its time limit.
///
/// # Examples
///
/// ```
/// # use raddle_watchdog::ShutdownReport;
/// fn check(report: &ShutdownReport) {
///     if !report.is_complete() {
///         eprintln!("{report}");
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ShutdownReport {
    /// Whether the threads of the workers have ended.
    pub(crate) workers_ended: bool,
    /// Whether the threads of the blocking pool have ended.
    pub(crate) blocking_ended: bool,
    pub(crate) tasks: usize,
    pub(crate) stuck: Vec<SlowPoll>,
}

impl ShutdownReport {
    /// Makes a report from these facts: whether the threads of the workers and of the blocking pool
    /// have exited, how many tasks have not completed, and what the remaining threads run.
    pub fn new(
        workers_ended: bool,
        blocking_ended: bool,
        tasks: usize,
        stuck: Vec<SlowPoll>,
    ) -> Self {
        Self {
            workers_ended,
            blocking_ended,
            tasks,
            stuck,
        }
    }

    /// Returns whether everything has stopped.
    pub fn is_complete(&self) -> bool {
        self.workers_ended && self.blocking_ended
    }

    /// Returns whether the threads of all workers have exited.
    pub fn has_stopped_workers(&self) -> bool {
        self.workers_ended
    }

    /// Returns whether all threads of the blocking pool have exited.
    pub fn has_stopped_blocking_threads(&self) -> bool {
        self.blocking_ended
    }

    /// Returns the number of tasks that have not completed: those that are being polled, and those
    /// that the shutdown drops once these polls return.
    pub fn tasks(&self) -> usize {
        self.tasks
    }

    /// Returns the polls and the blocking jobs that still run, with stacks. Empty without a
    /// watchdog.
    pub fn stuck(&self) -> &[SlowPoll] {
        &self.stuck
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SlowPoll(poll) => poll.fmt(f),
            Self::WaitingJobs(jobs) => jobs.fmt(f),
            Self::NoSpareWorkers(report) => report.fmt(f),
            Self::Shutdown(report) => report.fmt(f),
        }
    }
}

impl fmt::Display for SlowPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ActivityKind::Poll => write!(f, "a poll of task {}", self.id)?,
            ActivityKind::RootPoll => write!(f, "a poll of the future of block_on")?,
            ActivityKind::Job => write!(f, "blocking job {}", self.id)?,
        }
        if let Some(name) = &self.name {
            write!(f, " {name:?}")?;
        }
        if let Some(location) = self.location {
            write!(f, ", spawned at {location},")?;
        }
        write!(
            f,
            " has run for {:.1?} on thread {:?}",
            self.elapsed, self.thread
        )?;
        if let Some(worker) = self.worker {
            write!(f, ", worker {worker}")?;
        }
        match &self.stack {
            Some(stack) => write!(f, "\n{stack}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for WaitingJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { count, longest, .. } = self;
        write!(
            f,
            "{count} blocking jobs wait for a thread, the oldest for {longest:.1?}"
        )?;
        match self.location {
            Some(location) => write!(f, ", spawned at {location}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for NoSpareWorkers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tasks wait behind polls that do not return, and all spare workers are in use; move \
             what blocks to spawn_blocking, or raise Builder::max_spare_workers"
        )?;
        let mut places = BTreeMap::new();
        for poll in &self.polls {
            let (count, longest) = places.entry(poll.location).or_insert((0, Duration::ZERO));
            *count += 1;
            *longest = poll.elapsed.max(*longest);
        }
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_by_key(|&(_, (count, longest))| Reverse((count, longest)));
        for (place, (count, longest)) in places {
            let place: &dyn fmt::Display = match &place {
                Some(place) => place,
                None => &"an unknown location",
            };
            write!(f, "\n{count:4}  spawned at {place}, longest {longest:.1?}")?;
        }
        Ok(())
    }
}

impl fmt::Display for ShutdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_complete() {
            return write!(f, "all threads have ended");
        }
        let threads = match (self.workers_ended, self.blocking_ended) {
            (false, false) => "workers and blocking threads",
            (false, true) => "workers",
            _ => "blocking threads",
        };
        write!(
            f,
            "{threads} have not stopped; {} tasks have not ended",
            self.tasks
        )?;
        for stuck in &self.stuck {
            write!(f, "\n{stuck}")?;
        }
        Ok(())
    }
}

/// Returns the default action: a warning through the crate `tracing`, at most one per second for
/// each location at which tasks are spawned.
pub fn warn() -> impl Fn(&Report) + Send + Sync + 'static {
    let warned = Mutex::ranked(Rank::leaf("watchdog warnings"), HashMap::new());
    move |report| {
        let place = match report {
            Report::SlowPoll(poll) => (0, poll.location),
            Report::WaitingJobs(jobs) => (1, jobs.location),
            Report::Shutdown(_) => (2, None),
            Report::NoSpareWorkers(_) => (3, None),
        };
        let now = Instant::now();
        let is_due = {
            let mut warned = warned.lock();
            let last = warned.get(&place);
            let is_due = last.is_none_or(|last| now.duration_since(*last) >= WARNING_INTERVAL);
            if is_due {
                warned.insert(place, now);
            }
            is_due
        };
        if is_due {
            tracing::warn!(target: "raddle::watchdog", "{report}");
        }
    }
}
