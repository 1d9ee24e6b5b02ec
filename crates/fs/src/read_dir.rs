//! The entries of a directory.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, FileType, Metadata};
use std::future::{Future, poll_fn};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use raddle_leaf::misuse::{Misuse, io_at_caller};
use raddle_task::blocking;

use crate::offload::{self, Mode};
use crate::serial::{Resource, Serial};
use crate::stream::budgeted;

/// Entries read in one call.
const CHUNK: usize = 32;

/// Returns the entries of the directory at `path`, without `.` and `..`.
///
/// # Errors
///
/// - `NotFound` if no file exists at the path.
/// - `NotADirectory` if it is not a directory.
/// - `PermissionDenied` if the process may not read it.
///
/// Other errors are the same as for [`std::fs::read_dir`].
///
/// # Cancel safety
///
/// See [the crate documentation](crate#cancel-safety).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// let mut entries = fs::read_dir(directory.path()).await?;
/// while let Some(entry) = entries.next_entry().await? {
///     assert_eq!(entry.path(), path);
/// }
/// # Ok(()) }) }
/// ```
#[track_caller]
pub fn read_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<ReadDir>> {
    io_at_caller(async move {
        let path = path.as_ref().to_owned();
        let chunk = offload::run(move || {
            let mut chunk = Chunk::new(fs::read_dir(path)?);
            chunk.fill();
            Ok(chunk)
        })
        .await?;
        Ok(ReadDir(Serial::new(chunk)))
    })
}

/// The entries of a directory, in the order in which the system returns them.
///
/// Comes from [`read_dir`].
#[derive(Debug)]
#[must_use = "entries are read only when asked for"]
pub struct ReadDir(Serial<Chunk>);

/// Some entries, and the source of the remaining ones.
#[derive(Debug)]
struct Chunk {
    entries: VecDeque<io::Result<DirEntry>>,
    rest: fs::ReadDir,
    /// Whether `rest` has returned its end.
    at_end: bool,
}

impl Chunk {
    fn new(directory: fs::ReadDir) -> Self {
        Self {
            entries: VecDeque::with_capacity(CHUNK),
            rest: directory,
            at_end: false,
        }
    }

    /// Reads entries, up to the first error; this blocks.
    fn fill(&mut self) {
        for _ in 0..CHUNK {
            let Some(entry) = self.rest.next() else {
                self.at_end = true;
                return;
            };
            let is_error = entry.is_err();
            self.entries.push_back(entry.map(DirEntry::new));
            if is_error {
                return;
            }
        }
    }
}

impl Resource for Chunk {
    fn job_lost(&mut self) {
        self.entries.push_back(Err(io::Error::other(
            "the call was cancelled by a shutdown, or it panicked",
        )));
    }
}

impl ReadDir {
    /// Returns the next entry; `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns the errors of the operating system, or that the call was cancelled by a shutdown of
    /// the runtime. The next call continues after the error, as the iterator of std does: on Unix,
    /// an error of the system is followed by the end.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, the next call returns the same
    /// entry.
    #[track_caller]
    pub fn next_entry(&mut self) -> impl Future<Output = io::Result<Option<DirEntry>>> {
        io_at_caller(async move { poll_fn(|cx| self.poll_entry(cx)).await })
    }

    /// The poll function of [`next_entry`](Self::next_entry).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`next_entry`](Self::next_entry).
    #[track_caller]
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        match ready!(self.poll_entry(cx)) {
            Ok(entry) => Poll::Ready(Ok(entry)),
            Err(error) => Poll::Ready(Err(Misuse::check_io(error))),
        }
    }

    fn poll_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        budgeted(cx, |cx| {
            loop {
                let mut chunk = ready!(self.0.poll_take(cx));
                if let Some(entry) = chunk.entries.pop_front() {
                    return Poll::Ready(entry.map(Some));
                }
                if chunk.at_end {
                    return Poll::Ready(Ok(None));
                }
                offload::begin(chunk, Mode::Optional, blocking::submit, Chunk::fill)?;
            }
        })
    }
}

/// An entry of a directory.
///
/// Comes from [`ReadDir::next_entry`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// fs::write(&path, "hello").await?;
/// let mut entries = fs::read_dir(directory.path()).await?;
/// let entry = entries.next_entry().await?.unwrap();
/// assert_eq!((entry.path(), entry.metadata().await?.len()), (path, 5));
/// # Ok(()) }) }
/// ```
pub struct DirEntry {
    std: Arc<fs::DirEntry>,
    /// `None` after an error. Most systems return it with the name.
    file_type: Option<FileType>,
}

impl DirEntry {
    /// Makes the entry; this may block.
    fn new(std: fs::DirEntry) -> Self {
        Self {
            file_type: std.file_type().ok(),
            std: Arc::new(std),
        }
    }

    /// Returns the path of the entry: the path that was given to [`read_dir`], joined with the
    /// name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Returns the name of the entry, without the directory.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// Returns the metadata of the entry. Does not follow symbolic links.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::DirEntry::metadata`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> {
        io_at_caller(async move {
            let std = Arc::clone(&self.std);
            offload::run(move || std.metadata()).await
        })
    }

    /// Returns the type of the entry. Does not follow symbolic links.
    ///
    /// The type was read with the entry. Only if that failed, the call asks the system, and needs a
    /// runtime.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::DirEntry::file_type`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    #[track_caller]
    pub fn file_type(&self) -> impl Future<Output = io::Result<FileType>> {
        io_at_caller(async move {
            if let Some(file_type) = self.file_type {
                return Ok(file_type);
            }
            let std = Arc::clone(&self.std);
            offload::run(move || std.file_type()).await
        })
    }

    /// Returns the inode number of the entry.
    #[cfg(unix)]
    pub fn ino(&self) -> u64 {
        std::os::unix::fs::DirEntryExt::ino(&*self.std)
    }
}

impl fmt::Debug for DirEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.std, f)
    }
}
