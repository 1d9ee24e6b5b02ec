//! An open file.

mod stream;

use std::fmt;
use std::fs::{self, FileTimes, Metadata, Permissions};
use std::future::Future;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use raddle_leaf::misuse::io_at_caller;
use raddle_task::JoinHandle;

use super::OpenOptions;
use crate::buffer::DEFAULT_MAX_BUF_SIZE;
use crate::serial::Taken;
use crate::stream::{Pooled, Stream};

/// An open file.
///
/// A file makes one call at a time: each operation first waits for the previous one, even if the
/// future of that was dropped. If the system has no thread for a call, or after the runtime's
/// shutdown, an operation returns an error at once; the file stays unchanged, and the call can be
/// repeated.
///
/// Dropping the file closes it, which may block too. Where that matters, convert it with
/// [`into_std`](Self::into_std) and drop it in `spawn_blocking`.
///
/// # Errors of writes
///
/// A write completes when its bytes are copied; they are written in the background. If that fails,
/// the next operation that has a result (a read, write, flush, seek, or a method such as
/// [`metadata`](Self::metadata)) returns the error and does nothing else. To know that everything
/// is written, [flush](raddle_io::AsyncWriteExt::flush) before the file is dropped.
/// [`sync_all`](Self::sync_all) and [`sync_data`](Self::sync_data) sync the file in spite of the
/// error. They fail each time, even after another operation has returned the error: a file that has
/// lost a write stays so.
///
/// An accepted write is made even if the file is dropped or the runtime shuts down, as long as the
/// process lives.
///
/// # Position
///
/// A dropped read continues. The next read returns its bytes; until then the position of the
/// descriptor is after them. A write, a seek, [`set_len`](Self::set_len),
/// [`try_clone`](Self::try_clone), the conversions to std's file, and a request for the descriptor
/// (`as_fd`, `as_raw_fd`) move the position back first, to where the last read ended. A request for
/// the descriptor does not wait for a call that is under way; the position is then moved back when
/// that call ends. The next read still returns the bytes of a read that was dropped or is waited
/// for, if the descriptor is where it was moved back to.
///
/// A pipe, a terminal or a descriptor whose seek has no effect, such as an eventfd, has no
/// position. Bytes that were read ahead stay with this `File`, whatever is written to it.
///
/// # Cancel safety
///
/// As with every stream, `read`, `write` and `flush` are cancel safe, `read_exact` and `write_all`
/// are not. If a read is dropped, the next read returns its bytes. Any other method that is dropped
/// takes effect before the next operation begins, or not at all.
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
/// # Ok(()) }) }
/// ```
pub struct File {
    /// The same file as the stream's, for requests of its descriptor.
    std: Arc<fs::File>,
    stream: Pooled<Arc<fs::File>>,
    /// The maximum number of bytes that one call transfers.
    max_buf_size: usize,
}

impl File {
    /// Opens a file for reading.
    ///
    /// # Errors
    ///
    /// - `NotFound` if no file exists at the path.
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
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Self>> {
        io_at_caller(async move { Self::options().read(true).open_file(path).await })
    }

    /// Opens a file for writing. Creates it if it does not exist, and truncates it if it does.
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
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Self>> {
        io_at_caller(async move {
            let mut options = Self::options();
            options.write(true).create(true).truncate(true);
            options.open_file(path).await
        })
    }

    /// Creates a new file, and opens it for reading and writing.
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
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<Self>> {
        io_at_caller(async move {
            let mut options = Self::options();
            options.read(true).write(true).create_new(true);
            options.open_file(path).await
        })
    }

    /// Returns options for other ways to open a file.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Converts a file of std's type.
    pub fn from_std(std: fs::File) -> Self {
        let std = Arc::new(std);
        Self {
            stream: Pooled::new(Arc::clone(&std)),
            std,
            max_buf_size: DEFAULT_MAX_BUF_SIZE,
        }
    }

    /// Waits until the content and the metadata of the file are on the disk. First waits for a
    /// write that is under way.
    ///
    /// # Errors
    ///
    /// - The error of a write to this `File`, such as `StorageFull`: one that no operation has
    ///   returned, or the first. What could be written is on the disk then.
    /// - The error of an earlier write that the system has delayed.
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
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn sync_all(&self) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move { self.sync(fs::File::sync_all).await })
    }

    /// Waits until the content is on the disk, with the metadata that is needed to read it.
    /// Otherwise like [`sync_all`](Self::sync_all).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`sync_all`](Self::sync_all).
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    #[track_caller]
    pub fn sync_data(&self) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move { self.sync(fs::File::sync_data).await })
    }

    /// Truncates or extends the file to `size` bytes; the extension is zeros. The position of the
    /// next read or write does not change.
    ///
    /// # Errors
    ///
    /// - `InvalidInput` if the file was not opened for writing.
    /// - `StorageFull` or `FileTooLarge` if it cannot be that long.
    ///
    /// Other errors are the same as for [`std::fs::File::set_len`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    #[track_caller]
    pub fn set_len(&self, size: u64) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move {
            self.call(move |stream| {
                // The call may cut off bytes that were read ahead.
                stream.move_back()?;
                stream.discard_results();
                stream.source.set_len(size)
            })
            .await
        })
    }

    /// Returns the metadata of the file.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::metadata`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> {
        io_at_caller(async move { self.call(|stream| stream.source.metadata()).await })
    }

    /// Returns another handle of the same open file. Both share one position, which is that of the
    /// next read of this handle.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`std::fs::File::try_clone`].
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    #[track_caller]
    pub fn try_clone(&self) -> impl Future<Output = io::Result<Self>> {
        io_at_caller(async move {
            let clone = self.call(|stream| {
                stream.move_back()?;
                stream.source.try_clone()
            });
            let std = clone.await?;
            let mut file = Self::from_std(std);
            file.max_buf_size = self.max_buf_size;
            Ok(file)
        })
    }

    /// Waits until no call is under way, and returns the file as std's type, at the position of the
    /// next read.
    ///
    /// The result cannot carry the error of a write: [flush](raddle_io::AsyncWriteExt::flush)
    /// first, which returns it. Bytes that were read ahead from a file without a position, such as
    /// a pipe, are lost, since they cannot be given back; [`try_into_std`](Self::try_into_std)
    /// returns the file in both cases.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the file.
    pub async fn into_std(self) -> fs::File {
        let mut stream = self.stream.take().await;
        // If the system refuses, the position stays where it is.
        let _ = stream.move_back();
        drop(stream.into_inner());
        self.into_unshared()
    }

    /// Returns the file as std's type, at the position of the next read, if no call is under way.
    ///
    /// # Errors
    ///
    /// Returns this file
    ///
    /// - if a call is under way,
    /// - if a write has failed and no operation has returned the error: a flush does,
    /// - if bytes were read ahead from a file without a position, such as a pipe, which cannot be
    ///   given back: a read returns them.
    pub fn try_into_std(self) -> Result<fs::File, Self> {
        let Some(mut stream) = self.stream.try_take() else {
            return Err(self);
        };
        let is_moved = stream.move_back().is_ok() && stream.ahead.is_empty();
        if !is_moved || stream.has_write_error() {
            drop(stream);
            return Err(self);
        }
        drop(stream.into_inner());
        Ok(self.into_unshared())
    }

    /// Returns the file after the stream was taken out permanently.
    fn into_unshared(self) -> fs::File {
        drop(self.stream);
        match Arc::try_unwrap(self.std) {
            Ok(file) => file,
            Err(_) => unreachable!("only the stream shares the file, and it is gone"),
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
    #[track_caller]
    pub fn set_permissions(&self, perm: Permissions) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move {
            self.call(move |stream| stream.source.set_permissions(perm))
                .await
        })
    }

    /// Changes the times of the file. First waits for a write that is under way, which would change
    /// them again.
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
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> impl Future<Output = io::Result<()>> {
        io_at_caller(async move {
            self.call(move |stream| stream.source.set_times(times))
                .await
        })
    }

    /// Changes the modification time: [`set_times`](Self::set_times) with only that time.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`set_times`](Self::set_times).
    ///
    /// # Cancel safety
    ///
    /// See [the type](File#cancel-safety).
    #[track_caller]
    pub fn set_modified(&self, time: SystemTime) -> impl Future<Output = io::Result<()>> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    /// Sets the maximum number of bytes that one call reads or writes. The default is 2 MiB.
    ///
    /// # Panics
    ///
    /// Panics if `max_buf_size` is zero.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(
            max_buf_size > 0,
            "the maximum buffer size is zero; set it to 1 or more"
        );
        self.max_buf_size = max_buf_size;
    }

    /// Returns the maximum number of bytes that one call reads or writes.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Makes a call on the pool when no other is under way and no error of a write is due.
    async fn call<R: Send + 'static>(
        &self,
        call: impl FnOnce(&mut Stream<Arc<fs::File>>) -> io::Result<R> + Send + 'static,
    ) -> io::Result<R> {
        // Only the handle is in the future while it waits, because an error is not `UnwindSafe`.
        let stream = self.stream.take().await;
        let call = self.begin(stream, call)?;
        call.await??
    }

    fn begin<R: Send + 'static>(
        &self,
        mut stream: Taken<Stream<Arc<fs::File>>>,
        call: impl FnOnce(&mut Stream<Arc<fs::File>>) -> io::Result<R> + Send + 'static,
    ) -> io::Result<JoinHandle<io::Result<io::Result<R>>>> {
        stream.take_write_error()?;
        self.stream.begin(stream, call)
    }

    /// Syncs the file, even if a write has failed.
    async fn sync(&self, sync: fn(&fs::File) -> io::Result<()>) -> io::Result<()> {
        // Returns whether no write has failed.
        let call = move |stream: &mut Stream<Arc<fs::File>>| -> io::Result<bool> {
            let synced = sync(&stream.source);
            match stream.all_writes() {
                Ok(()) => synced.map(|()| true),
                Err(_) => Ok(false),
            }
        };
        let stream = self.stream.take().await;
        let call = self.stream.begin(stream, call)?;
        if call.await??? {
            return Ok(());
        }
        // Not taken before: the error of a future that is dropped stays due.
        let mut stream = self.stream.take().await;
        stream.take_write_error()?;
        stream.all_writes()
    }

    /// Returns the file for use of its descriptor, at the position of the next read.
    pub(crate) fn std(&self) -> &fs::File {
        self.stream.give_back();
        &self.std
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File")
            .field("std", &self.std)
            .field("stream", &self.stream)
            .field("max_buf_size", &self.max_buf_size)
            .finish()
    }
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
        self.std().as_fd()
    }
}

#[cfg(unix)]
impl std::os::fd::AsRawFd for File {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std().as_raw_fd()
    }
}

#[cfg(unix)]
#[allow(unsafe_code, reason = "a descriptor is taken over by its number")]
impl std::os::fd::FromRawFd for File {
    /// Makes a file from an open descriptor, which it closes when it is dropped.
    ///
    /// # Safety
    ///
    /// As [`FromRawFd::from_raw_fd`](std::os::fd::FromRawFd::from_raw_fd): the descriptor is open,
    /// and nothing else owns it.
    unsafe fn from_raw_fd(fd: std::os::fd::RawFd) -> Self {
        // SAFETY: the caller promises that the descriptor is open and not owned.
        Self::from_std(unsafe { fs::File::from_raw_fd(fd) })
    }
}
