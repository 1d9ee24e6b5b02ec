//! Reports of a watchdog.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::registry::Elapsed;
use crate::slot::ActivityKind;
use crate::stack::{NoStack, StackTrace};

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
    /// A slow poll that was reported has returned. [`SlowPoll::elapsed`] is its whole time, and the
    /// rest is as in the first report.
    SlowPollEnded(SlowPoll),
    /// Jobs of the blocking pool that wait too long for a thread.
    WaitingJobs(WaitingJobs),
    /// Tasks that wait behind polls that do not return, while all spare workers are in use.
    /// Reported at most every 10 s.
    NoSpareWorkers(NoSpareWorkers),
    /// A shutdown that has stopped waiting while polls or jobs still run.
    Shutdown(ShutdownReport),
}

/// A poll that takes too long, or a job of the blocking pool that has not returned.
///
/// # Examples
///
/// ```
/// # use raddle_watchdog::Report;
/// /// Prints the whole time of each slow poll, and the function of the application in which it was.
/// fn print(report: &Report) {
///     if let Report::SlowPollEnded(poll) = report {
///         let frame = poll.stack().and_then(|stack| stack.application_frame());
///         let function = frame.and_then(|frame| frame.function()).unwrap_or("unknown");
///         eprintln!("{:?} in {function}", poll.elapsed());
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct SlowPoll {
    pub(crate) number: Option<u64>,
    pub(crate) kind: ActivityKind,
    pub(crate) id: u64,
    pub(crate) name: Option<String>,
    pub(crate) span: Option<Arc<str>>,
    pub(crate) location: Option<&'static Location<'static>>,
    pub(crate) worker: Option<usize>,
    pub(crate) thread: String,
    pub(crate) elapsed: Elapsed,
    pub(crate) has_ended: bool,
    pub(crate) stack: Result<StackTrace, NoStack>,
}

impl SlowPoll {
    /// Returns the number of the slow poll, which is unique in the process and the same in the
    /// report of its end. `None` for a poll that was not reported as slow, and for a job.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    /// Returns the id of the task or the blocking job, as a number. `None` for the future of
    /// `block_on`.
    pub fn task_id(&self) -> Option<u64> {
        (self.id != 0).then_some(self.id)
    }

    /// Returns the task's name, if it has one.
    pub fn task_name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the [tracing span](crate::Watchdog::set_span) in which the thread was when the stack
    /// was taken, if one was set.
    pub fn span(&self) -> Option<&str> {
        self.span.as_deref()
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

    /// Returns how long the poll has taken until this report, at least: its time begins when the
    /// watchdog first sees it.
    pub fn elapsed(&self) -> Duration {
        self.elapsed.at_least
    }

    /// Returns how long the poll has taken until this report, at most: the watchdog has not seen it
    /// in the check before, usually a quarter of the threshold earlier.
    pub fn elapsed_at_most(&self) -> Duration {
        self.elapsed.at_most
    }

    /// Returns whether the poll has returned.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the stack of the thread in this poll, when the poll was found.
    /// [`missing_stack`](Self::missing_stack) is the reason if there is none.
    pub fn stack(&self) -> Option<&StackTrace> {
        self.stack.as_ref().ok()
    }

    /// Returns the function by which equal polls can be grouped: the innermost one of the
    /// [application](StackTrace::application_frame). A program without line tables has no names of
    /// inlined functions. If the application has none on the stack, and the poll has neither a span
    /// nor a name, it is the innermost function of a library with its address.
    pub fn place(&self) -> Option<String> {
        let stack = self.stack()?;
        match stack.application_frame() {
            Some(frame) => frame.place(),
            None if self.span.is_some() || self.name.is_some() => None,
            None => stack.library_place(),
        }
    }

    /// Returns why there is no stack, in words.
    pub fn missing_stack(&self) -> Option<&'static str> {
        self.stack.as_ref().err().map(|reason| reason.as_str())
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
            Self::SlowPoll(poll) | Self::SlowPollEnded(poll) => poll.fmt(f),
            Self::WaitingJobs(jobs) => jobs.fmt(f),
            Self::NoSpareWorkers(report) => report.fmt(f),
            Self::Shutdown(report) => report.fmt(f),
        }
    }
}

/// Writes a poll that runs with its stack, and one that has returned in one line.
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
        if let Some(span) = &self.span {
            write!(f, " in span {span:?}")?;
        }
        if let Some(location) = self.location {
            write!(f, ", spawned at {location},")?;
        }
        let Elapsed { at_least, at_most } = self.elapsed;
        let verb = if self.has_ended {
            "took"
        } else {
            "has run for"
        };
        write!(f, " {verb} {at_least:.1?} (at most {at_most:.1?})")?;
        if let Some(place) = self.place() {
            write!(f, " in {place},")?;
        }
        write!(f, " on thread {:?}", self.thread)?;
        if let Some(worker) = self.worker {
            write!(f, ", worker {worker}")?;
        }
        match &self.stack {
            _ if self.has_ended => Ok(()),
            Ok(stack) => write!(f, "\n{stack}"),
            Err(NoStack::Unsupported) => Ok(()),
            Err(reason) => write!(f, "; no stack: {}", reason.as_str()),
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
            *longest = poll.elapsed().max(*longest);
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
