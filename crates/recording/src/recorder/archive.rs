//! Files that a recorder writes while it records.

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::{Recording, Writer};
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};
use raddle_primitives::thread::{self, JoinHandle};

use crate::recorder::files::{NumberedFiles, Reporter};
use crate::recorder::{ErrorHandler, Follower, Recorder};

/// The files that an [`Archive`] writes, and how many of them are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArchiveOptions {
    /// The directory of the files. It is created if it does not exist.
    pub directory: PathBuf,
    /// The prefix of the files' names. Files of another archive in the same directory must have
    /// another prefix. Default: `recording`.
    pub prefix: String,
    /// When a file has this many bytes, the archive continues with the next file. The file may be
    /// longer by the last piece that was written. Default: 64 MiB.
    pub max_file_bytes: u64,
    /// The maximum time for which one file is written to. Default: 10 minutes.
    pub max_file_age: Duration,
    /// The number of files that are kept, including the one that is being written; at least 1. The
    /// oldest are removed, including those of earlier processes, once the next one is written:
    /// there is one more file for a moment. Default: 10.
    pub max_files: usize,
    /// The interval at which events are taken from the rings. A thread that records more than
    /// [`RecorderOptions::records_per_thread`](crate::recorder::RecorderOptions::records_per_thread) in this
    /// time loses the oldest. Default: 100 ms.
    pub interval: Duration,
    /// Called on the thread of the archive when a write fails, and not again before a write has
    /// succeeded. The log gets a warning in any case: the crate `tracing` if it has a subscriber,
    /// or standard error. Default: none.
    pub on_error: Option<ErrorHandler>,
}

impl ArchiveOptions {
    /// Returns the default options for a directory.
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            prefix: "recording".to_owned(),
            max_file_bytes: 64 << 20,
            max_file_age: Duration::from_secs(600),
            max_files: 10,
            interval: Duration::from_millis(100),
            on_error: None,
        }
    }
}

/// Writes the events of a recorder to files, on a separate thread, until it is dropped.
///
/// The files are named `<prefix>-<milliseconds since the Unix epoch>.raddle`. The number of a file
/// is greater than that of each file before it, even if the clock is set back, so their names sort
/// by age. Each file can be read by itself.
///
/// If a write fails, as on a full disk, no file is removed. The archive keeps the events that it
/// could not write, and tries again in each interval; the rings lose further events meanwhile, and
/// the next file says how many.
///
/// # Examples
///
/// ```
/// # use raddle_recording::recorder::{Archive, ArchiveOptions, Recorder, RecorderOptions};
/// # let directory = tempfile::tempdir()?;
/// # let recorder = Recorder::new(RecorderOptions::default());
/// let mut options = ArchiveOptions::new(directory.path());
/// options.max_files = 24;
/// let archive = Archive::start(&recorder, options)?;
/// // The program runs here.
/// archive.finish()?;
/// # assert_eq!(std::fs::read_dir(directory.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Archive {
    stop: Arc<Stop>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

/// Tells the thread to stop.
#[derive(Debug)]
struct Stop {
    is_wanted: Mutex<bool>,
    changed: Condvar,
}

impl Archive {
    /// Starts to write the events in the rings, and all later ones.
    ///
    /// If a write fails later, [`ArchiveOptions::on_error`] is called, and
    /// [`finish`](Self::finish) returns the first such error.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory, the first file or the thread cannot be created.
    pub fn start(recorder: &Recorder, options: ArchiveOptions) -> io::Result<Self> {
        let mut files = Files::new(recorder.follow(), options)?;
        let stop = Arc::new(Stop {
            is_wanted: Mutex::ranked(Rank::leaf("recorder archive"), false),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&stop);
        let thread = thread::Builder::new()
            .name("raddle-recorder".to_owned())
            .spawn(move || {
                let mut result = Ok(());
                loop {
                    let is_last = shared.wait(files.options.interval);
                    let written = files.write();
                    files.reporter.report(&written);
                    result = result.and(written);
                    if is_last {
                        return result;
                    }
                }
            })?;
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }

    /// Writes the remaining events and stops.
    ///
    /// # Errors
    ///
    /// Returns the first error that occurred since the start.
    pub fn finish(mut self) -> io::Result<()> {
        self.end()
    }

    fn end(&mut self) -> io::Result<()> {
        *self.stop.is_wanted.lock() = true;
        self.stop.changed.notify_all();
        let panicked = |_| io::Error::other("the thread of the archive panicked");
        self.thread
            .take()
            .map_or(Ok(()), |thread| thread.join().map_err(panicked)?)
    }
}

/// Writes the remaining events, without reporting an error.
impl Drop for Archive {
    fn drop(&mut self) {
        let _unreported = self.end();
    }
}

impl Stop {
    /// Waits for `time`, or until the archive stops. Returns whether the archive stops.
    fn wait(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        let mut is_wanted = self.is_wanted.lock();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if *is_wanted || left.is_zero() {
                return *is_wanted;
            }
            (is_wanted, _) = self.changed.wait_timeout(is_wanted, left);
        }
    }
}

/// The files of an archive.
#[derive(Debug)]
struct Files {
    follower: Follower,
    options: ArchiveOptions,
    numbered: NumberedFiles,
    reporter: Reporter,
    /// The file that is written to.
    open: Open,
    /// The events of a write that failed.
    unwritten: Option<Recording>,
}

/// The file that is written to.
#[derive(Debug)]
struct Open {
    writer: Writer<File>,
    since: Instant,
}

impl Files {
    fn new(follower: Follower, options: ArchiveOptions) -> io::Result<Self> {
        let directory = options.directory.clone();
        let numbered = NumberedFiles::new(directory, options.prefix.clone());
        Self::with(follower, options, numbered)
    }

    fn with(
        follower: Follower,
        options: ArchiveOptions,
        numbered: NumberedFiles,
    ) -> io::Result<Self> {
        let open = Open::create(&numbered, None)?;
        numbered.remove_oldest(options.max_files.max(1))?;
        Ok(Self {
            follower,
            reporter: Reporter::new(&numbered, options.on_error.clone()),
            numbered,
            options,
            open,
            unwritten: None,
        })
    }

    /// Writes the events since the last call.
    fn write(&mut self) -> io::Result<()> {
        if let Some(piece) = self.unwritten.take() {
            self.write_piece(piece)?;
        }
        let piece = self.follower.read();
        // Without new events no file is replaced, so an idle program keeps its files.
        match piece.threads.is_empty() {
            true => Ok(()),
            false => self.write_piece(piece),
        }
    }

    /// Writes a piece to the open file, or to the next one if this one is large or old enough.
    /// Removes files only after that.
    fn write_piece(&mut self, piece: Recording) -> io::Result<()> {
        let is_full = self.open.writer.bytes() >= self.options.max_file_bytes
            || self.open.since.elapsed() >= self.options.max_file_age;
        let written = match is_full {
            true => Open::create(&self.numbered, Some(&piece)).map(|next| self.open = next),
            false => self.open.append(&piece),
        };
        if written.is_err() {
            self.unwritten = Some(piece);
            return written;
        }
        match is_full {
            true => self.numbered.remove_oldest(self.options.max_files.max(1)),
            false => Ok(()),
        }
    }
}

impl Open {
    /// Creates the next file with a first piece. If that fails, there is no such file.
    fn create(numbered: &NumberedFiles, piece: Option<&Recording>) -> io::Result<Self> {
        let (path, file) = numbered.create()?;
        let write = || {
            let mut writer = Writer::new(file)?;
            piece.map_or(Ok(()), |piece| writer.append(piece))?;
            Ok(writer)
        };
        write()
            .map(|writer| Self {
                writer,
                since: Instant::now(),
            })
            .inspect_err(|_| drop(fs::remove_file(&path)))
    }

    /// Appends a piece. If that fails, the file ends with the piece before it.
    fn append(&mut self, piece: &Recording) -> io::Result<()> {
        self.writer.append(piece).inspect_err(|_| {
            let length = self.writer.bytes();
            let mut file = self.writer.get_ref();
            // If this fails too, the next piece does not begin where a piece must, and readers
            // look for the next whole chunk.
            let _cut = file
                .set_len(length)
                .and_then(|()| file.seek(SeekFrom::Start(length)));
        })
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
