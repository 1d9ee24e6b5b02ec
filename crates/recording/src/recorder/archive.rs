//! Files that a recorder writes while it records.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Writer;
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};
use raddle_primitives::thread::{self, JoinHandle};

use crate::recorder::{Follower, Recorder};

/// The extension of the files' names.
const EXTENSION: &str = "raddle";

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
    /// oldest are removed, including those of earlier processes. Default: 10.
    pub max_files: usize,
    /// The interval at which events are taken from the rings. A thread that records more than
    /// [`RecorderOptions::records_per_thread`](crate::recorder::RecorderOptions::records_per_thread) in this
    /// time loses the oldest. Default: 100 ms.
    pub interval: Duration,
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
        }
    }
}

/// Writes the events of a recorder to files, on a separate thread, until it is dropped.
///
/// The files are named `<prefix>-<milliseconds since the Unix epoch>.raddle`, so that their names
/// sort by age. Each file can be read by itself.
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
    /// If a write fails later, the archive continues with another file; the events of that write
    /// are lost. [`finish`](Self::finish) returns the first such error.
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
    /// `None` after an error.
    open: Option<Open>,
    /// The number in the name of the last file.
    last: u128,
}

/// The file that is written to.
#[derive(Debug)]
struct Open {
    writer: Writer<File>,
    since: Instant,
}

impl Files {
    fn new(follower: Follower, options: ArchiveOptions) -> io::Result<Self> {
        fs::create_dir_all(&options.directory)?;
        let mut files = Self {
            follower,
            options,
            open: None,
            last: 0,
        };
        files.open_next()?;
        Ok(files)
    }

    /// Writes the events since the last call, and opens the next file if this one is large or old
    /// enough.
    fn write(&mut self) -> io::Result<()> {
        let piece = self.follower.read();
        // Without new events no file is replaced, so an idle program keeps its files.
        if piece.threads.is_empty() {
            return Ok(());
        }
        let is_full = self.open.as_ref().is_none_or(|open| {
            open.writer.bytes() >= self.options.max_file_bytes
                || open.since.elapsed() >= self.options.max_file_age
        });
        if is_full {
            self.open_next()?;
        }
        let open = self.open.as_mut();
        let result = open.map_or(Ok(()), |open| open.writer.append(&piece));
        if result.is_err() {
            self.open = None;
        }
        result
    }

    fn open_next(&mut self) -> io::Result<()> {
        self.open = None;
        self.remove_oldest(self.options.max_files.max(1) - 1)?;
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let mut number = time.map_or(0, |time| time.as_millis()).max(self.last + 1);
        let file = loop {
            match File::create_new(self.path(number)) {
                // The file belongs to an earlier process.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                result => break result?,
            }
        };
        self.last = number;
        self.open = Some(Open {
            writer: Writer::new(file)?,
            since: Instant::now(),
        });
        Ok(())
    }

    fn path(&self, number: u128) -> PathBuf {
        let name = format!("{}-{number:013}.{EXTENSION}", self.options.prefix);
        self.options.directory.join(name)
    }

    /// Removes all files except the latest `kept`.
    fn remove_oldest(&self, kept: usize) -> io::Result<()> {
        let mut numbers = Vec::new();
        for entry in fs::read_dir(&self.options.directory)? {
            numbers.extend(number_of(&self.options.prefix, &entry?.path()));
        }
        numbers.sort_unstable();
        let surplus = numbers.len().saturating_sub(kept);
        for number in &numbers[..surplus] {
            match fs::remove_file(self.path(*number)) {
                // Another program has removed the file.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => result?,
            }
        }
        Ok(())
    }
}

/// Returns the number in the name of a file of the archive, or `None` for another file.
fn number_of(prefix: &str, path: &Path) -> Option<u128> {
    let name = path.file_name()?.to_str()?;
    let digits = name
        .strip_prefix(prefix)?
        .strip_prefix('-')?
        .strip_suffix(EXTENSION)?
        .strip_suffix('.')?;
    let is_number = digits.len() >= 13 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
