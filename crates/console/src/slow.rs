//! Slow polls that the page shows.

use std::collections::VecDeque;
use std::fmt;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use raddle_primitives::sync::{Arc, Mutex, Rank};
use raddle_watchdog::Report;
use serde_json::{Value, json};

/// The number of slow polls that are kept.
const MAX_KEPT_POLLS: usize = 64;
/// The greatest length of the text of a stack, in bytes.
const MAX_STACK: usize = 32 * 1024;

/// The text of a stack, which is made when it is shown.
type Stack = LazyLock<String, Box<dyn FnOnce() -> String + Send>>;

/// A poll that takes too long.
///
/// ```
/// use std::time::Duration;
///
/// use raddle_console::{Console, SlowPoll};
///
/// let console = Console::bind("127.0.0.1:0")?;
/// console.slow_polls().push(SlowPoll {
///     task: Some(17),
///     name: Some("parse".to_owned()),
///     location: None,
///     thread: "raddle-worker".to_owned(),
///     elapsed: Duration::from_millis(250),
///     // Called only if a client opens the poll.
///     stack: Box::new(|| "no stack on this system".to_owned()),
/// });
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct SlowPoll {
    /// The number of the task.
    pub task: Option<u64>,
    /// The task's name.
    pub name: Option<String>,
    /// The location where the task was spawned.
    pub location: Option<String>,
    /// The thread that polls.
    pub thread: String,
    /// The time that the poll has taken.
    pub elapsed: Duration,
    /// Makes the text of the thread's stack, on a thread of the console.
    pub stack: Box<dyn FnOnce() -> String + Send>,
}

/// The latest slow polls. Clones share the list.
#[derive(Clone)]
pub struct SlowPolls(Arc<Mutex<List>>);

struct List {
    /// The number of the next slow poll.
    next: u64,
    polls: VecDeque<Arc<Kept>>,
}

struct Kept {
    number: u64,
    at: Instant,
    poll: Value,
    stack: Stack,
}

impl SlowPolls {
    pub(crate) fn new() -> Self {
        let list = List {
            next: 1,
            polls: VecDeque::new(),
        };
        Self(Arc::new(Mutex::ranked(
            Rank::leaf("console slow polls"),
            list,
        )))
    }

    /// Adds a poll. Removes the oldest one if the list is full.
    pub fn push(&self, poll: SlowPoll) {
        let fields = json!({
            "task": poll.task,
            "name": poll.name,
            "location": poll.location,
            "thread": poll.thread,
            "elapsed": poll.elapsed.as_secs_f64(),
        });
        let mut list = self.0.lock();
        let kept = Kept {
            number: list.next,
            at: Instant::now(),
            poll: fields,
            stack: LazyLock::new(poll.stack),
        };
        list.next += 1;
        list.polls.push_back(Arc::new(kept));
        let oldest = match list.polls.len() > MAX_KEPT_POLLS {
            true => list.polls.pop_front(),
            false => None,
        };
        drop(list);
        drop(oldest);
    }

    /// Adds the poll of a report of the watchdog, if the report is of a slow poll.
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
        let Report::SlowPoll(poll) = report else {
            return;
        };
        let stack = poll.stack().cloned();
        let text = move || stack.map_or_else(String::new, |stack| stack.to_string());
        self.push(SlowPoll {
            task: poll.task_id(),
            name: poll.task_name().map(str::to_owned),
            location: poll.spawned_at().map(ToString::to_string),
            thread: poll.thread_name().to_owned(),
            elapsed: poll.elapsed(),
            stack: Box::new(text),
        });
    }

    /// Returns the slow polls with numbers above `after`, and the number of the last one.
    pub(crate) fn after(&self, after: u64) -> (Vec<Value>, u64) {
        let list = self.0.lock();
        let last = list.next - 1;
        let new = list.polls.iter().filter(|kept| kept.number > after);
        let new: Vec<_> = new.cloned().collect();
        drop(list);
        (new.iter().map(|kept| kept.to_json()).collect(), last)
    }
}

impl Kept {
    fn to_json(&self) -> Value {
        let mut value = self.poll.clone();
        let stack = self.stack.as_str();
        let mut end = stack.len().min(MAX_STACK);
        while !stack.is_char_boundary(end) {
            end -= 1;
        }
        value["number"] = self.number.into();
        value["age"] = self.at.elapsed().as_secs_f64().into();
        value["stack"] = stack[..end].into();
        value
    }
}

impl fmt::Debug for SlowPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlowPoll")
            .field("task", &self.task)
            .field("elapsed", &self.elapsed)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for SlowPolls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SlowPolls").finish_non_exhaustive()
    }
}
