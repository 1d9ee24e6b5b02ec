//! The default action: warnings.

use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::panic::Location;
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Mutex, Rank};

use crate::report::{Report, SlowPoll};

/// The shortest interval between two warnings about one place.
const INTERVAL: Duration = Duration::from_secs(1);
/// The number of places at which those without recent warnings are forgotten.
const MAX_PLACES: usize = 1024;

/// What a warning is about: at most one a second is written for each.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Subject {
    SlowPoll(Place),
    SlowPollEnded(Place),
    WaitingJobs(Option<&'static Location<'static>>),
    NoSpareWorkers,
    Shutdown,
}

/// The place of a slow poll.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Place {
    Function(String),
    Span(Arc<str>),
    Task(String),
    Location(Option<&'static Location<'static>>),
}

/// The last warning about a subject.
struct Last {
    at: Instant,
    /// The number of reports since then that were not written.
    suppressed: usize,
}

/// Returns the default action: a warning through the crate `tracing`, at most one per second for
/// each place. The next one says how many were left out. If the program has no subscriber, the
/// warnings go to standard error.
///
/// The place of a slow poll is its [function](SlowPoll::place); without one its tracing span, its
/// task's name, or the location where the task was spawned. The end of a slow poll is
/// written in one line, with its whole time.
pub fn warn() -> impl Fn(&Report) + Send + Sync + 'static {
    let warnings = Mutex::ranked(Rank::leaf("watchdog warnings"), HashMap::new());
    move |report| {
        let subject = Subject::of(report);
        let due = suppressed_before(&mut warnings.lock(), subject, Instant::now());
        match due {
            None => {}
            Some(0) => write(format_args!("{report}")),
            Some(more) => write(format_args!("{report}; and {more} more like this")),
        }
    }
}

/// Writes a warning, to standard error if the program has no subscriber of `tracing`.
fn write(warning: fmt::Arguments<'_>) {
    tracing::warn!(target: "raddle::watchdog", "{warning}");
    let has_none = tracing::dispatcher::get_default(|dispatch| {
        dispatch.is::<tracing::subscriber::NoSubscriber>()
    });
    if has_none {
        // One write, so that no other output comes between the lines.
        let text = format!("raddle: {warning}\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// Returns the number of reports about the subject that were not written, if one may be written
/// now.
fn suppressed_before(
    warnings: &mut HashMap<Subject, Last>,
    subject: Subject,
    now: Instant,
) -> Option<usize> {
    let is_recent = |last: &Last| now.saturating_duration_since(last.at) < INTERVAL;
    if let Some(last) = warnings.get_mut(&subject).filter(|last| is_recent(last)) {
        last.suppressed += 1;
        return None;
    }
    if warnings.len() >= MAX_PLACES {
        warnings.retain(|_, last| is_recent(last));
    }
    let last = Last {
        at: now,
        suppressed: 0,
    };
    let last = warnings.insert(subject, last);
    Some(last.map_or(0, |last| last.suppressed))
}

impl Subject {
    fn of(report: &Report) -> Self {
        match report {
            Report::SlowPoll(poll) => Self::SlowPoll(Place::of(poll)),
            Report::SlowPollEnded(poll) => Self::SlowPollEnded(Place::of(poll)),
            Report::WaitingJobs(jobs) => Self::WaitingJobs(jobs.spawned_at()),
            Report::NoSpareWorkers(_) => Self::NoSpareWorkers,
            Report::Shutdown(_) => Self::Shutdown,
        }
    }
}

impl Place {
    fn of(poll: &SlowPoll) -> Self {
        if let Some(function) = poll.place() {
            return Self::Function(function);
        }
        if let Some(span) = &poll.span {
            return Self::Span(Arc::clone(span));
        }
        match poll.task_name() {
            Some(name) => Self::Task(name.to_owned()),
            None => Self::Location(poll.spawned_at()),
        }
    }
}

#[cfg(test)]
mod tests;
