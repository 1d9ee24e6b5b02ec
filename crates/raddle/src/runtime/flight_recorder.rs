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

use std::sync::Arc;

/// Recordings: their events, files, analyses and exports.
pub use raddle_recording as recording;
pub use raddle_recording::recorder::{
    Archive, ArchiveOptions, Follower, Recorder, RecorderOptions,
};

use crate::runtime::tools::{RecordingFile, Tool, Tools};
use crate::runtime::{Builder, Handle};

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
        let start = Arc::new(move |tools: &mut Tools| {
            let recorder = Recorder::new(options.clone());
            tools
                .observers
                .add_scheduler_observer(Arc::new(recorder.clone()));
            tools.observers.add_job_observer(Arc::new(recorder.clone()));
            tools.shared.add(recorder.clone());
            tools.shared.add(RecordingFile(Box::new(move || {
                let mut file = Vec::new();
                let written = recorder.snapshot().write_to(&mut file);
                written.is_ok().then_some(file)
            })));
            Ok(())
        });
        self.tools.insert(Tool::FlightRecorder, start);
        self
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
