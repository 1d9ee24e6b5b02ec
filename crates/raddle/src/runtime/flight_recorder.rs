//! The flight recorder, which keeps the latest events of a runtime to be read afterwards.
//!
//! [`Builder::flight_recorder`] gives a runtime a recorder: each of its threads keeps its latest
//! events in memory, 16 bytes each. [`Handle::flight_recorder`] returns the [`Recorder`], which can
//! be switched off and on, and takes snapshots. The program `raddle-recording` prints reports
//! of a snapshot in a file, and exports it.
//!
//! ```
//! use raddle::runtime::Builder;
//! use raddle::runtime::flight_recorder::{RecorderOptions, recording::analysis::AnalysisReport};
//!
//! let runtime = Builder::new_multi_thread()
//!     .worker_threads(2)
//!     .flight_recorder(RecorderOptions::default())
//!     .build()?;
//! runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
//! let recorder = runtime.handle().flight_recorder().unwrap();
//! let recording = recorder.snapshot();
//! print!("{}", AnalysisReport::of(&recording));
//! # let mut file = Vec::new();
//! // Into a file, for the program.
//! recording.write_to(&mut file)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// Recordings: their events, files, analyses and exports.
pub use raddle_recording as recording;
pub use raddle_recording::recorder::{
    Archive, ArchiveOptions, ErrorHandler, Follower, Recorder, RecorderOptions, TriggerOptions,
    Triggers,
};

use crate::runtime::tools::{self, RecordingFile, Running, SpanListener, Start, Tool, Tools};
use crate::runtime::{Builder, Handle};

/// Selects a recorder and an archive in a directory, for `RADDLE_RECORD`. The rings are four times
/// as long as by default, since a worker that fills its ring between two copies loses events.
pub(crate) fn select_archive(builder: &mut Builder, directory: &str) {
    let mut options = RecorderOptions::default();
    options.records_per_thread = 65_536;
    builder.flight_recorder(options);
    let directory = directory.to_owned();
    let start = Arc::new(move |tools: &mut Tools| start_archive(directory.as_ref(), tools));
    builder.tools.insert(Tool::Archive, start);
}

fn start_archive(directory: &Path, tools: &mut Tools) -> io::Result<()> {
    let Some(recorder) = tools.shared.get::<Recorder>() else {
        return Ok(());
    };
    let number = ArchiveNumber::take();
    let mut options = ArchiveOptions::new(directory);
    if number.0 > 1 {
        options.prefix = format!("{}-{}", options.prefix, number.0);
    }
    let files = directory.join(format!("{}-*.raddle", options.prefix));
    let archive = Archive::start(recorder, options).map_err(|error| {
        let text = format!(
            "no recording can be written to {}: {error}",
            directory.display()
        );
        io::Error::new(error.kind(), text)
    })?;
    tools::print(&format!(
        "the recordings of this runtime are {}",
        files.display()
    ));
    tools.running.push(Box::new(Archiving {
        archive: Some(archive),
        _number: number,
    }));
    Ok(())
}

/// The archive of one runtime.
struct Archiving {
    archive: Option<Archive>,
    _number: ArchiveNumber,
}

impl Running for Archiving {
    fn stop(&mut self) {
        if let Some(Err(error)) = self.archive.take().map(Archive::finish) {
            tools::warn(&format!("the recording is not complete: {error}"));
        }
    }
}

/// The number of an archive among those of the process that are open. The archives in a directory
/// need prefixes of their own, and remove old files with the same prefix.
struct ArchiveNumber(usize);

#[allow(clippy::disallowed_types, reason = "the facade is never modelled")]
// UNRANKED: no lock is taken under it.
static ARCHIVES: std::sync::Mutex<BTreeSet<usize>> = std::sync::Mutex::new(BTreeSet::new());

impl ArchiveNumber {
    fn take() -> Self {
        let mut taken = ARCHIVES.lock().unwrap_or_else(|error| error.into_inner());
        let number = (1..).find(|number| !taken.contains(number)).unwrap_or(1);
        taken.insert(number);
        Self(number)
    }
}

impl Drop for ArchiveNumber {
    fn drop(&mut self) {
        let mut taken = ARCHIVES.lock().unwrap_or_else(|error| error.into_inner());
        taken.remove(&self.0);
    }
}

impl Builder {
    /// Gives each runtime that is built a flight recorder of its own, which is on. Default: none.
    ///
    /// It records spawns, polls, wakes and ends of tasks, what workers do between polls, and
    /// blocking jobs. It does not record the tasks of a [`LocalSet`](crate::task::LocalSet), which
    /// are polled within the poll of the set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::runtime::flight_recorder::RecorderOptions;
    ///
    /// let mut options = RecorderOptions::default();
    /// options.records_per_thread = 65_536;
    /// let runtime = Builder::new_current_thread().flight_recorder(options).build()?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn flight_recorder(&mut self, options: RecorderOptions) -> &mut Self {
        self.tools.insert(Tool::FlightRecorder, start(options));
        self
    }

    /// Writes what the flight recorder of a runtime holds to a file when something happens: the
    /// process gets SIGUSR2, a poll is slow, or a percentile is too great. Without
    /// [`flight_recorder`](Self::flight_recorder), each runtime gets a recorder with the default
    /// options.
    ///
    /// # Errors
    ///
    /// [`build`](Self::build) fails if the directory or a thread cannot be created.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use raddle::runtime::Builder;
    /// use raddle::runtime::flight_recorder::TriggerOptions;
    ///
    /// # let directory = tempfile::tempdir()?;
    /// let mut triggers = TriggerOptions::new(directory.path());
    /// triggers.slow_poll = Some(Duration::from_millis(200));
    /// let runtime = Builder::new_multi_thread()
    ///     .flight_recorder_triggers(triggers)
    ///     .build()?;
    /// # drop(runtime);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn flight_recorder_triggers(&mut self, options: TriggerOptions) -> &mut Self {
        let recorder = self.tools.entry(Tool::FlightRecorder);
        recorder.or_insert_with(|| start(RecorderOptions::default()));
        let start = Arc::new(move |tools: &mut Tools| {
            if let Some(recorder) = tools.shared.get::<Recorder>() {
                let triggers = Triggers::start(recorder, options.clone())?;
                tools
                    .running
                    .push(Box::new(RunningTriggers(Some(triggers))));
            }
            Ok(())
        });
        self.tools.insert(Tool::RecordingTriggers, start);
        self
    }
}

/// Starts a recorder with these options for each runtime.
fn start(options: RecorderOptions) -> Start {
    Arc::new(move |tools: &mut Tools| {
        let recorder = Recorder::new(options.clone());
        tools
            .observers
            .add_scheduler_observer(Arc::new(recorder.clone()));
        tools.observers.add_job_observer(Arc::new(recorder.clone()));
        tools.shared.add(recorder.clone());
        tools
            .shared
            .add_span_listener(RecordedSpans(recorder.clone()));
        tools.shared.add(RecordingFile(Box::new(move || {
            let mut file = Vec::new();
            let written = recorder.snapshot().write_to(&mut file);
            written.is_ok().then_some(file)
        })));
        Ok(())
    })
}

/// Records the spans of threads.
struct RecordedSpans(Recorder);

impl SpanListener for RecordedSpans {
    fn entered(&self, name: &'static str, _: &Arc<str>) {
        self.0.enter_span(name);
    }

    fn left(&self, name: &'static str, _: Option<&Arc<str>>) {
        self.0.leave_span(name);
    }
}

/// The triggers of a runtime, until it has shut down.
struct RunningTriggers(Option<Triggers>);

impl Running for RunningTriggers {
    fn stop(&mut self) {
        self.0 = None;
    }
}

impl Handle {
    /// Returns the runtime's flight recorder, if its builder was [asked](Builder::flight_recorder)
    /// for one. It can still be used after the runtime has shut down.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::runtime::flight_recorder::RecorderOptions;
    ///
    /// let mut builder = Builder::new_current_thread();
    /// let runtime = builder.flight_recorder(RecorderOptions::default()).build()?;
    /// let recorder = runtime.handle().flight_recorder().unwrap();
    /// recorder.stop();
    /// assert!(!recorder.is_on());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn flight_recorder(&self) -> Option<Recorder> {
        self.inner.tools.get().cloned()
    }
}
