//! The reading end.

use std::fs::File;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use raddle_io::{AsyncRead, ReadBuf};
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest, Ready};

use super::{adopt, set_nonblocking};
use crate::evented::ByteStream;

/// The reading end of a pipe; see [`pipe`](super::pipe) and [`OpenOptions`](super::OpenOptions).
///
/// It reads the end of the stream while no sender is open, also before the first one is opened. A
/// named pipe may get another sender later: tasks that wait for it to be readable are woken then.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncReadExt;
/// use raddle::net::unix::pipe;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, mut receiver) = pipe::pipe()?;
/// sender.writable().await?;
/// sender.try_write(b"hello")?;
/// let mut buffer = [0; 5];
/// receiver.read_exact(&mut buffer).await?;
/// assert_eq!(&buffer, b"hello");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct Receiver {
    io: Evented<mio::unix::pipe::Receiver>,
}

impl Receiver {
    #[track_caller]
    pub(super) fn new(pipe: mio::unix::pipe::Receiver) -> io::Result<Receiver> {
        Ok(Receiver {
            io: Evented::new(pipe, Interest::READABLE, &Handle::current())?,
        })
    }

    /// Takes over an open pipe, and puts it in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if it is not a pipe or is not open for reading; otherwise an error of
    /// the operating system.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn from_file(file: File) -> io::Result<Receiver> {
        Receiver::from_owned_fd(file.into())
    }

    /// Like [`from_file`](Self::from_file), but takes a descriptor.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`from_file`](Self::from_file).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (reader, _writer) = std::io::pipe()?;
    /// let receiver = pipe::Receiver::from_owned_fd(reader.into())?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Receiver> {
        Receiver::new(adopt(owned_fd, libc::O_RDONLY)?.into())
    }

    /// Takes over an open pipe without any check. It must be in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down, or if the system has no memory for the
    /// registration.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn from_file_unchecked(file: File) -> io::Result<Receiver> {
        Receiver::from_owned_fd_unchecked(file.into())
    }

    /// Like [`from_file_unchecked`](Self::from_file_unchecked), but takes a descriptor.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down, or if the system has no memory for the
    /// registration.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Receiver> {
        Receiver::new(owned_fd.into())
    }

    /// Deregisters the pipe and converts it into a descriptor in blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    /// use std::io::PipeReader;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = pipe::pipe()?;
    /// // To use it in a thread that blocks.
    /// let reader = PipeReader::from(receiver.into_blocking_fd()?);
    /// # Ok(()) }) }
    /// ```
    pub fn into_blocking_fd(self) -> io::Result<OwnedFd> {
        let fd = self.into_nonblocking_fd()?;
        set_nonblocking(&fd, false)?;
        Ok(fd)
    }

    /// Deregisters the pipe and converts it into a descriptor in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    pub fn into_nonblocking_fd(self) -> io::Result<OwnedFd> {
        Ok(self.io.into_inner()?.into())
    }

    /// Waits until the pipe is ready for any of `interest`, of which only reading can be ready, and
    /// returns its readiness.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        located("pipe::Receiver::ready", Resource::Unknown, async move {
            self.io.ready(interest).await
        })
    }

    /// Waits until there is something to read, or no sender is open any more. Usually followed by
    /// [`try_read`](Self::try_read).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = pipe::pipe()?;
    /// sender.writable().await?;
    /// sender.try_write(b"hello")?;
    /// receiver.readable().await?;
    /// assert_eq!(receiver.try_read(&mut [0; 16])?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        located("pipe::Receiver::readable", Resource::Unknown, async move {
            self.ready(Interest::READABLE).await.map(drop)
        })
    }

    /// The poll function of [`readable`](Self::readable), for implementing a future. Only the waker
    /// of the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read_ready(cx)
    }

    /// Reads what has arrived, without waiting. `Ok(0)` means that no sender is open, or that the
    /// buffer is empty.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if nothing has arrived; otherwise an error of the operating system.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_read(&mut ReadBuf::new(buf))
    }

    /// Like [`try_read`](Self::try_read), but appends to `buf`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.io.try_read_buf(buf)
    }

    /// Like [`try_read`](Self::try_read), but fills several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.io.try_read_vectored(bufs)
    }

    /// Calls `f`, which does I/O on the pipe, if the pipe is known to be readable. If `f` returns
    /// `WouldBlock`, the pipe counts as not ready until the next event: return it only if the pipe
    /// did. A pipe whose other end has gone stays ready.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and `WouldBlock` if the pipe is not ready.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    /// use std::io::{PipeReader, Read};
    /// use std::os::fd::AsFd;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = pipe::pipe()?;
    /// sender.writable().await?;
    /// sender.try_write(b"hello")?;
    /// // std's type has the operation; the descriptor stays with `receiver`.
    /// let mut std = PipeReader::from(receiver.as_fd().try_clone_to_owned()?);
    /// receiver.readable().await?;
    /// assert_eq!(receiver.try_io(|| std.read(&mut [0; 16]))?, 5);
    /// # Ok(()) }) }
    /// ```
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::READABLE, |_| f())
    }
}

impl AsyncRead for Receiver {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.io.poll_read(cx, buf)
    }
}

impl AsFd for Receiver {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl AsRawFd for Receiver {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
