//! Files with the content of the rings, written when something happens.

use std::fmt;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use raddle_primitives::sync::atomic::{AtomicU64, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};
use raddle_primitives::thread::{self, JoinHandle};

use crate::analysis::{Distribution, polls, scheduling_delays};
use crate::recorder::files::{NumberedFiles, Reporter};
use crate::recorder::{ErrorHandler, Recorder};
use crate::{Recording, Writer};

#[cfg_attr(not(unix), path = "trigger/no_signal.rs")]
mod signal;

/// When [`Triggers`] write a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TriggerOptions {
    /// The directory of the files. It is created if it does not exist.
    pub directory: PathBuf,
    /// The prefix of the files' names. Default: `trigger`.
    pub prefix: String,
    /// The number of files that are kept; at least 1. The oldest are removed, including those of
    /// earlier processes, once the next one is written. Default: 10.
    pub max_files: usize,
    /// The shortest time from one file to the next. What happens within it writes no file, except a
    /// signal. Default: 1 minute.
    pub min_interval: Duration,
    /// Whether SIGUSR2 writes a file; only on Unix. It then no longer ends the process. Default:
    /// true.
    pub signal: bool,
    /// A poll of at least this time, and of [`RecorderOptions::slow`], writes a file when it ends.
    /// Default: none.
    ///
    /// [`RecorderOptions::slow`]: crate::recorder::RecorderOptions::slow
    pub slow_poll: Option<Duration>,
    /// A 99th percentile of the times of polls of at least this, over the records of a
    /// [`window`](Self::window), writes a file. Default: none.
    pub poll_p99: Option<Duration>,
    /// The same for the times from the wake of a task to its poll. Default: none.
    pub delay_p99: Option<Duration>,
    /// The time over which percentiles are computed, at its end. Of a thread whose ring holds less,
    /// they have what it holds. Default: 10 s.
    pub window: Duration,
    /// Called when a file cannot be written; see [`ArchiveOptions::on_error`]. Default: none.
    ///
    /// [`ArchiveOptions::on_error`]: crate::recorder::ArchiveOptions::on_error
    pub on_error: Option<ErrorHandler>,
}

impl TriggerOptions {
    /// Returns the default options for a directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            prefix: "trigger".to_owned(),
            max_files: 10,
            min_interval: Duration::from_secs(60),
            signal: true,
            slow_poll: None,
            poll_p99: None,
            delay_p99: None,
            window: Duration::from_secs(10),
            on_error: None,
        }
    }
}

/// Writes what the rings of a recorder hold to a file when something happens, until it is dropped:
/// a signal, a slow poll, or too great a percentile. The file has a
/// [mark](crate::Event::Marked) that says what.
///
/// The files are named as those of an [`Archive`](crate::recorder::Archive).
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # use raddle_recording::recorder::{Recorder, RecorderOptions, TriggerOptions, Triggers};
/// # let directory = tempfile::tempdir()?;
/// # let recorder = Recorder::new(RecorderOptions::default());
/// let mut options = TriggerOptions::new(directory.path());
/// options.slow_poll = Some(Duration::from_millis(200));
/// let triggers = Triggers::start(&recorder, options)?;
/// // The program runs here, and decides itself that a recording is worth keeping.
/// triggers.write("queue is full");
/// # drop(triggers);
/// # assert_eq!(std::fs::read_dir(directory.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Triggers {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    signal: Option<signal::Listener>,
}

struct Shared {
    recorder: Recorder,
    options: TriggerOptions,
    reasons: Arc<Reasons>,
}

/// The reason for the next file. A recording thread may drop the last reference to it, so it has
/// nothing of the application.
struct Reasons {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_stopping: bool,
    /// The reason for the next file.
    reason: Option<Reason>,
}

/// What happened.
#[derive(Debug)]
struct Reason {
    text: String,
    /// Whether a file is written even if there is another recent one.
    is_wanted: bool,
}

impl Triggers {
    /// Starts to wait for what the options name, on a thread of its own.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory or the thread cannot be created, or if the system refuses
    /// the signal.
    pub fn start(recorder: &Recorder, options: TriggerOptions) -> io::Result<Self> {
        fs::create_dir_all(&options.directory)?;
        let shared = Arc::new(Shared {
            recorder: recorder.clone(),
            options,
            reasons: Arc::new(Reasons {
                state: Mutex::ranked(Rank::leaf("recorder triggers"), State::default()),
                changed: Condvar::new(),
            }),
        });
        let of_writer = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("raddle-trigger".to_owned())
            .spawn(move || Writing::new(&of_writer).run())?;
        let mut triggers = Self {
            shared: Arc::clone(&shared),
            thread: Some(thread),
            signal: None,
        };
        if shared.options.signal {
            let reasons = Arc::clone(&shared.reasons);
            let listen = move || reasons.post(|| "SIGUSR2".to_owned(), true);
            triggers.signal = signal::Listener::start(listen)?;
        }
        if let Some(least) = shared.options.slow_poll {
            let reasons = Arc::clone(&shared.reasons);
            let notify = move |nanos| {
                reasons.post(|| format!("poll of {} ms", nanos / 1_000_000), false);
            };
            recorder.slow_polls().listen(&shared, least, notify);
        }
        Ok(triggers)
    }

    /// Writes a file soon, unless there is a recent one. `reason` is the text of its mark.
    pub fn write(&self, reason: &str) {
        self.shared.reasons.post(|| reason.to_owned(), false);
    }
}

/// Stops waiting. A file that is due is still written.
impl Drop for Triggers {
    fn drop(&mut self) {
        self.signal = None;
        self.shared.recorder.slow_polls().forget(&self.shared);
        self.shared.reasons.state.lock().is_stopping = true;
        self.shared.reasons.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            // It does not panic, except in the handler of errors.
            let _joined = thread.join();
        }
    }
}

impl fmt::Debug for Triggers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Triggers");
        debug
            .field("options", &self.shared.options)
            .finish_non_exhaustive()
    }
}

impl Reasons {
    fn post(&self, text: impl FnOnce() -> String, is_wanted: bool) {
        let reason = Reason {
            text: text(),
            is_wanted,
        };
        let former = {
            let mut state = self.state.lock();
            match &state.reason {
                Some(former) if former.is_wanted || !is_wanted => None,
                _ => state.reason.replace(reason),
            }
        };
        drop(former);
        self.changed.notify_all();
    }

    /// Waits for a reason, or until `end`. Returns the reason, and whether the triggers stop.
    fn wait(&self, end: Option<Instant>) -> (Option<Reason>, bool) {
        let mut state = self.state.lock();
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            let is_over = left.is_some_and(|left| left.is_zero());
            if state.reason.is_some() || state.is_stopping || is_over {
                return (state.reason.take(), state.is_stopping);
            }
            state = match left {
                Some(left) => self.changed.wait_timeout(state, left).0,
                None => self.changed.wait(state),
            };
        }
    }
}

/// The thread that writes files.
struct Writing<'a> {
    shared: &'a Shared,
    files: NumberedFiles,
    reporter: Reporter,
    last: Option<Instant>,
    /// When percentiles are computed next, if they are.
    check: Option<Instant>,
    /// The time of the last record at the last check.
    checked: u64,
}

impl<'a> Writing<'a> {
    fn new(shared: &'a Shared) -> Self {
        let options = &shared.options;
        let files = NumberedFiles::new(options.directory.clone(), options.prefix.clone());
        let checks = options.poll_p99.is_some() || options.delay_p99.is_some();
        Self {
            reporter: Reporter::new(&files, options.on_error.clone()),
            files,
            last: None,
            check: checks.then(|| Instant::now() + options.window),
            checked: 0,
            shared,
        }
    }

    fn run(mut self) {
        loop {
            let (reason, is_stopping) = self.shared.reasons.wait(self.check);
            let now = Instant::now();
            let is_due = self.check.is_some_and(|check| now >= check);
            let reason = match reason {
                None if is_due => self.check_percentiles(),
                reason => reason,
            };
            if is_due {
                self.check = Some(now + self.shared.options.window);
            }
            if let Some(reason) = reason {
                self.write(&reason);
            }
            if is_stopping {
                return;
            }
        }
    }

    /// Returns a reason if a percentile is too great, unless nothing was recorded since the last
    /// check.
    fn check_percentiles(&mut self) -> Option<Reason> {
        let options = &self.shared.options;
        let mut recording = self.shared.recorder.snapshot();
        let end = recording.end();
        if std::mem::replace(&mut self.checked, end) == end {
            return None;
        }
        let window = u64::try_from(options.window.as_nanos()).unwrap_or(u64::MAX);
        let start = recording.end().saturating_sub(window);
        for thread in recording.threads.values_mut() {
            thread.entries.retain(|entry| entry.time >= start);
            thread.rare.clear();
        }
        let p99 = |bound: Option<Duration>, times: Distribution, what: &str| {
            let found = times.percentile(99.0);
            let reason = Reason {
                text: format!("99th percentile of {what} is {found:?}"),
                is_wanted: false,
            };
            bound.filter(|bound| found >= *bound).map(|_| reason)
        };
        let of_polls = || polls(&recording).iter().map(|poll| poll.duration).collect();
        let of_delays = || {
            let delays = scheduling_delays(&recording);
            delays.iter().flat_map(|(_, times)| times.iter()).collect()
        };
        p99(options.poll_p99, of_polls(), "polls")
            .or_else(|| p99(options.delay_p99, of_delays(), "scheduling delays"))
    }

    fn write(&mut self, reason: &Reason) {
        let shared = self.shared;
        let is_early = |last: Instant| last.elapsed() < shared.options.min_interval;
        if !reason.is_wanted && self.last.is_some_and(is_early) {
            return;
        }
        shared.recorder.mark(&format!("trigger: {}", reason.text));
        let written = self.write_file(&shared.recorder.snapshot());
        if written.is_ok() {
            self.last = Some(Instant::now());
        }
        self.reporter.report(&written);
    }

    /// Writes a file, and then removes the oldest.
    fn write_file(&self, recording: &Recording) -> io::Result<()> {
        let (path, file) = self.files.create()?;
        let written = Writer::new(file).and_then(|mut writer| writer.append(recording));
        written.inspect_err(|_| drop(fs::remove_file(&path)))?;
        self.files
            .remove_oldest(self.shared.options.max_files.max(1))
    }
}

/// The triggers that wait for slow polls.
pub(crate) struct SlowPolls {
    /// The shortest poll that any of them waits for, in nanoseconds.
    least: AtomicU64,
    listeners: Mutex<Vec<Listener>>,
}

#[derive(Clone)]
struct Listener {
    /// The address of the triggers.
    triggers: usize,
    least: u64,
    notify: std::sync::Arc<dyn Fn(u64) + Send + Sync>,
}

impl Default for SlowPolls {
    fn default() -> Self {
        Self {
            least: AtomicU64::new(u64::MAX),
            listeners: Mutex::ranked(Rank::leaf("recorder slow polls"), Vec::new()),
        }
    }
}

impl SlowPolls {
    fn listen(
        &self,
        triggers: &Arc<Shared>,
        least: Duration,
        notify: impl Fn(u64) + Send + Sync + 'static,
    ) {
        let listener = Listener {
            triggers: Arc::as_ptr(triggers).addr(),
            least: u64::try_from(least.as_nanos()).unwrap_or(u64::MAX),
            notify: std::sync::Arc::new(notify),
        };
        self.change(|listeners| listeners.push(listener));
    }

    fn forget(&self, triggers: &Arc<Shared>) {
        let address = Arc::as_ptr(triggers).addr();
        self.change(|listeners| listeners.retain(|listener| listener.triggers != address));
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Listener>)) {
        let mut listeners = self.listeners.lock();
        change(&mut listeners);
        let least = listeners.iter().map(|listener| listener.least).min();
        // ORDERING: none. A poll that ends at this moment may be missed.
        self.least
            .store(least.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Notifies those that wait for a poll of this time.
    pub(crate) fn push(&self, nanos: u64) {
        // ORDERING: as in `change`.
        if nanos < self.least.load(Ordering::Relaxed) {
            return;
        }
        let listeners = self.listeners.lock().clone();
        for listener in listeners.iter().filter(|listener| nanos >= listener.least) {
            (listener.notify)(nanos);
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
