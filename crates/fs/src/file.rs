//! An open file.

mod stream;

use std::fs::{self, FileTimes, Metadata, Permissions};
use std::future::poll_fn;
use std::io::{self, Seek, SeekFrom};
use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, SystemTime};

use super::OpenOptions;
use super::in_flight::Lane;
use crate::buffer::DEFAULT_MAX_BUF_SIZE;
use crate::offload;

/// An open file.
///
/// It makes one call at a time. A write is complete when its bytes are copied:
/// they are written afterwards, and an error of that is the error of the next
/// write or flush. So [flush](raddle_io::AsyncWriteExt::flush) before the file
/// is dropped, to know that all is written. A write that was taken is made even
/// if the file is dropped or the runtime shut down, as long as the process
/// lives. Where the system has no thread for a call, and after the runtime's
/// shutdown, a write is not taken: it is an error itself. So is a read or a seek, and
/// the file stays as it was: the call can be made again.
///
/// Closing the file, when it is dropped, is a call that may block, too. Where
/// that matters, [`into_std`](Self::into_std) and a `spawn_blocking` do it
/// elsewhere.
///
/// # Cancel safety
///
/// As with every stream, `read`, `write` and `flush` are cancel safe, `read_exact` and `write_all`
/// are not. What a dropped read gave is in the file's buffer for the next one. The other methods,
/// when dropped, may have had their effect or not.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::fs::File;
/// use raddle::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// # let directory = tempfile::tempdir()?;
/// let path = directory.path().join("greeting");
/// let mut file = File::options().read(true).write(true).create(true).open(&path).await?;
/// file.write_all(b"hello").await?;
/// // Waits until the bytes are with the system.
/// file.flush().await?;
/// file.rewind().await?;
/// let mut text = String::new();
/// file.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(())
/// # }) }
/// ```
#[derive(Debug)]
pub struct File {
    pub(crate) std: Arc<fs::File>,
    lane: Lane,
    /// Bytes moved in one call at most.
    max_buf_size: usize,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// - `NotFound` if there is nothing at the path.
    /// - `PermissionDenied` if the process may not read it.
    ///
    /// Other errors are the same as for [`std::fs::File::open`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    /// use raddle::io::AsyncReadExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// std::fs::write(&path, "hello")?;
    /// let mut text = String::new();
    /// File::open(&path).await?.read_to_string(&mut text).await?;
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        Self::options().read(true).open(path).await
    }

    /// Opens a file for writing, which is made if there is none; the content of
    /// one that exists is removed.
    ///
    /// # Errors
    ///
    /// - `NotFound` if the parent is missing.
    /// - `PermissionDenied` if the process may not write to the file or the parent.
    /// - `IsADirectory` if it is a directory, on Unix.
    ///
    /// Other errors are the same as for [`std::fs::File::create`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.flush().await?;
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn create(path: impl AsRef<Path>) -> io::Result<Self> {
        let mut options = Self::options();
        options.write(true).create(true).truncate(true);
        options.open(path).await
    }

    /// Makes a file, and opens it for reading and writing.
    ///
    /// # Errors
    ///
    /// Returns `AlreadyExists` if there is one; otherwise as [`std::fs::File::create_new`].
    ///
    /// # Cancel safety
    ///
    /// See [the crate documentation](crate#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// File::create_new(&path).await?;
    /// let error = File::create_new(&path).await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<Self> {
        let mut options = Self::options();
        options.read(true).write(true).create_new(true);
        options.open(path).await
    }

    /// Other ways to open a file.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let log = File::options().append(true).create(true).open(&path).await?;
    /// # drop(log);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Converts a file of std.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::from_std(std::fs::File::create(&path)?);
    /// assert_eq!(file.metadata().await?.len(), 0);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn from_std(std: fs::File) -> Self {
        Self {
            std: Arc::new(std),
            lane: Lane::new(),
            max_buf_size: DEFAULT_MAX_BUF_SIZE,
        }
    }

    /// Waits until the content and the metadata of the file are on the disk. Waits first for a
    /// write that is under way; its error is returned by the next write or flush.
    ///
    /// # Errors
    ///
    /// - The error of an earlier write that the system made later, such as `StorageFull`.
    /// - `InvalidInput` for a file that cannot be synchronised, such as a pipe.
    ///
    /// Other errors are the same as for [`std::fs::File::sync_all`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// // On the disk, not only with the system.
    /// file.sync_all().await?;
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn sync_all(&self) -> io::Result<()> {
        self.settled(|std| std.sync_all()).await
    }

    /// Waits until the content is on the disk, and what the system needs to
    /// know to read it. For the rest see [`sync_all`](Self::sync_all).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    /// use raddle::io::AsyncWriteExt;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let mut file = File::create(&path).await?;
    /// file.write_all(b"hello").await?;
    /// file.sync_data().await?;
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn sync_data(&self) -> io::Result<()> {
        self.settled(|std| std.sync_data()).await
    }

    /// Makes the file `size` bytes long: what is beyond is cut off, what is
    /// missing is zeros. Where the next read or write is stays as it was.
    ///
    /// # Errors
    ///
    /// - `InvalidInput` if the file was not opened for writing.
    /// - `StorageFull` or `FileTooLarge` if it cannot be so long.
    ///
    /// Other errors are the same as for [`std::fs::File::set_len`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// file.set_len(1024).await?;
    /// assert_eq!(file.metadata().await?.len(), 1024);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn set_len(&self, size: u64) -> io::Result<()> {
        self.lane.settle().await;
        // What was read ahead may be cut off.
        let mut ahead = self.lane.lock().idle().map(mem::take).unwrap_or_default();
        let std = Arc::clone(&self.std);
        let call = offload::spawn_mandatory(move |taken| {
            if let Err(error) = taken {
                return (Err(error), ahead);
            }
            let sought = match ahead.discard() {
                0 => Ok(0),
                ahead => (&*std).seek(backwards(ahead)),
            };
            (sought.and_then(|_| std.set_len(size)), ahead)
        });
        match call {
            Ok(call) => call.await?.0,
            Err((refused, ahead)) => {
                if let Some(buffer) = self.lane.lock().idle() {
                    if buffer.is_empty() {
                        *buffer = ahead;
                    }
                }
                refused
            }
        }
    }

    /// The metadata of the file.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::metadata`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// assert!(file.metadata().await?.is_file());
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.call(|std| std.metadata()).await
    }

    /// Another handle of the same open file: they share one position, and what
    /// this one has read ahead is missing in the other.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::try_clone`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// // Both share one position.
    /// let second = file.try_clone().await?;
    /// # drop(second);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn try_clone(&self) -> io::Result<Self> {
        let std = self.settled(|std| std.try_clone()).await?;
        let mut file = Self::from_std(std);
        file.max_buf_size = self.max_buf_size;
        Ok(file)
    }

    /// Waits until no call is under way, and returns the file of std.
    ///
    /// The error of a write that has not been reported, and data that was read ahead, are lost.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the file.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file: std::fs::File = File::create(&path).await?.into_std().await;
    /// # drop(file);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn into_std(self) -> fs::File {
        self.lane.settle().await;
        let mut std = self.std;
        loop {
            // A method that was dropped may still have its call under way.
            std = match Arc::try_unwrap(std) {
                Ok(file) => return file,
                Err(shared) => shared,
            };
            let wait = || {
                std::thread::sleep(Duration::from_millis(1));
                Ok(())
            };
            if offload::run(wait).await.is_err() {
                // The runtime has ended, and its threads are about to.
                yield_once().await;
            }
        }
    }

    /// Returns the file of std if no call is under way.
    ///
    /// # Errors
    ///
    /// Returns this file if an operation is under way.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// // Nothing is under way.
    /// assert!(file.try_into_std().is_ok());
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn try_into_std(mut self) -> Result<fs::File, Self> {
        match Arc::try_unwrap(self.std) {
            Ok(file) => Ok(file),
            Err(shared) => {
                self.std = shared;
                Err(self)
            }
        }
    }

    /// Changes the permissions of the file.
    ///
    /// # Errors
    ///
    /// Returns `PermissionDenied` if the process does not own the file.
    ///
    /// Other errors are the same as for [`std::fs::File::set_permissions`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// let mut permissions = file.metadata().await?.permissions();
    /// permissions.set_readonly(true);
    /// file.set_permissions(permissions).await?;
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn set_permissions(&self, perm: Permissions) -> io::Result<()> {
        self.call(move |std| std.set_permissions(perm)).await
    }

    /// Changes the times of the file. Waits first for the write under way,
    /// which would change them again.
    ///
    /// # Errors
    ///
    /// Returns `PermissionDenied` if the process does not own the file.
    ///
    /// Other errors are the same as for [`std::fs::File::set_times`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::{File, FileTimes};
    /// use std::time::SystemTime;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// let times = FileTimes::new().set_modified(SystemTime::UNIX_EPOCH);
    /// file.set_times(times).await?;
    /// assert_eq!(file.metadata().await?.modified()?, SystemTime::UNIX_EPOCH);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn set_times(&self, times: FileTimes) -> io::Result<()> {
        self.settled(move |std| std.set_times(times)).await
    }

    /// Changes the time of the last change: [`set_times`](Self::set_times) with
    /// that one alone.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`set_times`](Self::set_times).
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    /// use std::time::SystemTime;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// file.set_modified(SystemTime::UNIX_EPOCH).await?;
    /// assert_eq!(file.metadata().await?.modified()?, SystemTime::UNIX_EPOCH);
    /// # Ok(())
    /// # }) }
    /// ```
    pub async fn set_modified(&self, time: SystemTime) -> io::Result<()> {
        self.set_times(FileTimes::new().set_modified(time)).await
    }

    /// Sets the maximum number of bytes that one call reads or writes. The default is 2 MiB.
    ///
    /// # Panics
    ///
    /// Panics if it is zero, with which nothing could be written.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let mut file = File::create(&path).await?;
    /// file.set_max_buf_size(64 * 1024);
    /// assert_eq!(file.max_buf_size(), 64 * 1024);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(
            max_buf_size > 0,
            "the maximum buffer size is zero; set it to 1 or more"
        );
        self.max_buf_size = max_buf_size;
    }

    /// Returns the maximum number of bytes that one call reads or writes.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::fs::File;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("greeting");
    /// let file = File::create(&path).await?;
    /// assert_eq!(file.max_buf_size(), 2 * 1024 * 1024);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Makes a call on the pool beside the one that may be under way.
    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let std = Arc::clone(&self.std);
        offload::run(move || call(&std)).await
    }

    /// Makes a call on the pool when none is under way.
    async fn settled<T: Send + 'static>(
        &self,
        call: impl FnOnce(&fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        self.lane.settle().await;
        self.call(call).await
    }
}

/// Lets other tasks of the thread run.
async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|cx| match mem::replace(&mut has_yielded, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}

/// The distance from the end of what was read back to the first byte that no caller has received.
fn backwards(ahead: usize) -> SeekFrom {
    // A buffer is no larger than isize::MAX.
    SeekFrom::Current(-(ahead as i64))
}

impl From<fs::File> for File {
    fn from(std: fs::File) -> Self {
        Self::from_std(std)
    }
}

#[cfg(unix)]
impl From<std::os::fd::OwnedFd> for File {
    fn from(fd: std::os::fd::OwnedFd) -> Self {
        Self::from_std(fd.into())
    }
}

#[cfg(unix)]
impl std::os::fd::AsFd for File {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.std.as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for File {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std.as_raw_fd()
    }
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "a descriptor is taken over by its number")]
impl std::os::fd::FromRawFd for File {
    /// Makes a file of an open descriptor, which it closes when it is dropped.
    ///
    /// ```
    /// # #[cfg(unix)] {
    /// use std::os::fd::{FromRawFd, IntoRawFd};
    ///
    /// # fn main() -> std::io::Result<()> {
    /// let fd = std::fs::File::open("/dev/null")?.into_raw_fd();
    /// // SAFETY: nothing else owns the descriptor.
    /// let file = unsafe { raddle_fs::File::from_raw_fd(fd) };
    /// # drop(file);
    /// # Ok(())
    /// # }
    /// # main().unwrap();
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// As [`FromRawFd::from_raw_fd`](std::os::fd::FromRawFd::from_raw_fd): the
    /// descriptor is open, and nothing else owns it.
    unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> Self {
        // SAFETY: the caller promises that the descriptor is open and not owned.
        Self::from_std(unsafe { fs::File::from_raw_fd(fd) })
    }
}
