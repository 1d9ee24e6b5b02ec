//! The slow polls that the page shows, in groups.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc as StdArc;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_watchdog::Report;
use serde_json::{Value, json};

/// The number of groups that are kept.
const MAX_GROUPS: usize = 64;
/// The greatest length of the text of a stack, in bytes.
const MAX_STACK: usize = 32 * 1024;
/// The greatest length of another text, in bytes.
const MAX_TEXT: usize = 512;

/// A poll that takes too long, or that has taken too long.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_console::{Console, SlowPoll};
///
/// let console = Console::bind("127.0.0.1:0")?;
/// let found = SlowPoll {
///     number: 1,
///     task: Some(17),
///     name: Some("parse".to_owned()),
///     thread: "raddle-worker".to_owned(),
///     elapsed: Duration::from_millis(100),
///     frame: Some("shop::parse".to_owned()),
///     ..SlowPoll::default()
/// };
/// let ended = SlowPoll { elapsed: Duration::from_millis(250), has_ended: true, ..found.clone() };
/// console.slow_polls().push(found);
/// console.slow_polls().push(ended);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SlowPoll {
    /// The number of the poll, the same while it runs and when it has ended.
    pub number: u64,
    /// The number of the task.
    pub task: Option<u64>,
    /// The task's name.
    pub name: Option<String>,
    /// The tracing span in which the thread was.
    pub span: Option<String>,
    /// The location where the task was spawned.
    pub location: Option<String>,
    /// The thread that polls.
    pub thread: String,
    /// The time that the poll has taken.
    pub elapsed: Duration,
    /// Whether the poll has ended.
    pub has_ended: bool,
    /// The innermost function of the application on the stack.
    pub frame: Option<String>,
    /// The file and the line of this function.
    pub frame_at: Option<String>,
    /// The text of the thread's stack.
    pub stack: Option<String>,
}

/// The slow polls, grouped by the innermost function of the application on their stacks; without a
/// stack by the tracing span, the task's name, or the location where the task was spawned. Clones
/// share the groups.
#[derive(Clone)]
pub struct SlowPolls(Arc<Mutex<Groups>>);

#[derive(Default)]
struct Groups {
    /// The number of changes.
    version: u64,
    /// The number of groups that were made.
    made: u64,
    groups: HashMap<Key, Group>,
    /// The groups of the polls that run.
    running: HashMap<u64, Key>,
}

/// What the polls of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Frame(String),
    Span(String),
    Name(String),
    Location(Option<String>),
}

#[derive(Clone)]
struct Group {
    number: u64,
    /// The value of [`Groups::version`] at the last change.
    version: u64,
    count: u64,
    worst: Duration,
    /// The text of the stack of the worst poll.
    stack: Option<StdArc<str>>,
    /// The latest poll, without its stack.
    latest: SlowPoll,
    /// The time of the latest report.
    at: Instant,
    /// The numbers of the polls that run.
    running: BTreeSet<u64>,
}

impl SlowPolls {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::ranked(
            Rank::leaf("console slow polls"),
            Groups::default(),
        )))
    }

    /// Adds a poll, or the end of one. Removes the group that has not changed for the longest time
    /// if there are too many. Long texts are cut off.
    pub fn push(&self, mut poll: SlowPoll) {
        let optional = [
            &mut poll.name,
            &mut poll.span,
            &mut poll.location,
            &mut poll.frame,
            &mut poll.frame_at,
        ];
        for text in optional.into_iter().flatten() {
            cut_off(text, MAX_TEXT);
        }
        cut_off(&mut poll.thread, MAX_TEXT);
        let stack = poll.stack.take().map(|mut stack| {
            cut_off(&mut stack, MAX_STACK);
            stack.into()
        });
        let removed = self.0.lock().add(poll, stack);
        drop(removed);
    }

    /// Adds the poll of a report of the watchdog, if the report is of a slow poll or of its end.
    /// Looks up the names of the functions on its stack.
    ///
    /// ```
    /// use raddle_console::SlowPolls;
    /// use raddle_watchdog::Report;
    ///
    /// /// An action for a watchdog: prints each report, and shows slow polls on the page.
    /// fn action(slow: SlowPolls) -> impl Fn(&Report) {
    ///     move |report| {
    ///         eprintln!("{report}");
    ///         slow.push_report(report);
    ///     }
    /// }
    /// # let console = raddle_console::Console::bind("127.0.0.1:0")?;
    /// # let _ = action(console.slow_polls());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn push_report(&self, report: &Report) {
        let (Report::SlowPoll(poll) | Report::SlowPollEnded(poll)) = report else {
            return;
        };
        let frame = poll.stack().and_then(|stack| stack.application_frame());
        let stack = poll.stack().map(ToString::to_string);
        let missing = || Some(format!("no stack: {}", poll.missing_stack()?));
        let file = frame.and_then(|frame| frame.file()?.to_str());
        self.push(SlowPoll {
            number: poll.number().unwrap_or_default(),
            task: poll.task_id(),
            name: poll.task_name().map(str::to_owned),
            span: poll.span().map(str::to_owned),
            location: poll.spawned_at().map(ToString::to_string),
            thread: poll.thread_name().to_owned(),
            elapsed: poll.elapsed(),
            has_ended: poll.has_ended(),
            frame: poll.place(),
            frame_at: frame
                .and_then(|frame| frame.line())
                .zip(file)
                .map(|(line, file)| format!("{file}:{line}")),
            stack: stack.or_else(missing),
        });
    }

    /// Returns the groups that have changed after the version `after`, the latest change last, and
    /// the present version.
    pub(crate) fn after(&self, after: u64) -> (Vec<Value>, u64) {
        let groups = self.0.lock();
        let version = groups.version;
        let changed = groups.groups.values().filter(|group| group.version > after);
        let mut changed: Vec<_> = changed.cloned().collect();
        drop(groups);
        changed.sort_by_key(|group| group.version);
        (changed.iter().map(Group::to_json).collect(), version)
    }
}

impl Groups {
    /// Adds a poll, and returns a group that was removed.
    fn add(&mut self, poll: SlowPoll, stack: Option<StdArc<str>>) -> Option<Group> {
        self.version += 1;
        let started = self.running.remove(&poll.number);
        let is_new = started.is_none();
        let key = started.unwrap_or_else(|| Key::of(&poll));
        if !poll.has_ended {
            self.running.insert(poll.number, key.clone());
        }
        let group = self.groups.entry(key).or_insert_with(|| {
            self.made += 1;
            Group::new(self.made, &poll)
        });
        group.version = self.version;
        group.add(poll, stack, is_new);
        let is_full = self.groups.len() > MAX_GROUPS;
        let oldest = self.groups.iter().min_by_key(|(_, group)| group.version);
        let oldest = oldest.filter(|_| is_full).map(|(key, _)| key.clone());
        let removed = oldest.and_then(|key| self.groups.remove(&key));
        for number in removed.iter().flat_map(|group| &group.running) {
            self.running.remove(number);
        }
        removed
    }
}

impl Key {
    fn of(poll: &SlowPoll) -> Self {
        match (&poll.frame, &poll.span, &poll.name) {
            (Some(frame), ..) => Self::Frame(frame.clone()),
            (_, Some(span), _) => Self::Span(span.clone()),
            (.., Some(name)) => Self::Name(name.clone()),
            _ => Self::Location(poll.location.clone()),
        }
    }
}

impl Group {
    fn new(number: u64, poll: &SlowPoll) -> Self {
        Self {
            number,
            version: 0,
            count: 0,
            worst: Duration::ZERO,
            stack: None,
            latest: poll.clone(),
            at: Instant::now(),
            running: BTreeSet::new(),
        }
    }

    fn add(&mut self, poll: SlowPoll, stack: Option<StdArc<str>>, is_new: bool) {
        self.count += u64::from(is_new);
        if poll.has_ended {
            self.running.remove(&poll.number);
        } else {
            self.running.insert(poll.number);
        }
        if poll.elapsed >= self.worst {
            self.worst = poll.elapsed;
            self.stack = stack.or_else(|| self.stack.take());
        }
        self.at = Instant::now();
        self.latest = poll;
    }

    fn to_json(&self) -> Value {
        let latest = &self.latest;
        json!({
            "key": self.number,
            "frame": latest.frame,
            "frame_at": latest.frame_at,
            "name": latest.name,
            "span": latest.span,
            "location": latest.location,
            "count": self.count,
            "worst": self.worst.as_secs_f64(),
            "latest": latest.elapsed.as_secs_f64(),
            "age": self.at.elapsed().as_secs_f64(),
            "is_running": !self.running.is_empty(),
            "task": latest.task,
            "thread": latest.thread,
            "stack": self.stack.as_deref(),
        })
    }
}

/// Shortens a text to at most `length` bytes.
fn cut_off(text: &mut String, length: usize) {
    let mut end = text.len().min(length);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
}

impl fmt::Debug for SlowPolls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlowPolls").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
