//! The writing end.

use std::fs::File;
use std::future::Future;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::AsyncWrite;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest, Ready};

use super::{adopt, set_nonblocking};
use crate::evented::ByteStream;

/// The writing end of a pipe; see [`pipe`](super::pipe) and [`OpenOptions`](super::OpenOptions).
///
/// Writing fails with `BrokenPipe` while no receiver is open. When several senders write to the
/// same pipe, the bytes of one write are not mixed with others if they are at most 4,096 (POSIX
/// guarantees 512).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::AsyncWriteExt;
/// use raddle::net::unix::pipe;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut sender, receiver) = pipe::pipe()?;
/// sender.write_all(b"hello").await?;
/// receiver.readable().await?;
/// assert_eq!(receiver.try_read(&mut [0; 16])?, 5);
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct Sender {
    io: Evented<mio::unix::pipe::Sender>,
}

impl Sender {
    #[track_caller]
    pub(super) fn new(pipe: mio::unix::pipe::Sender) -> io::Result<Sender> {
        Ok(Sender {
            io: Evented::new(pipe, Interest::WRITABLE, &Handle::current())?,
        })
    }

    /// Takes over an open pipe, and puts it in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if it is not a pipe or is not open for writing; otherwise an error of
    /// the operating system.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn from_file(file: File) -> io::Result<Sender> {
        Sender::from_owned_fd(file.into())
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
    #[track_caller]
    pub fn from_owned_fd(owned_fd: OwnedFd) -> io::Result<Sender> {
        Sender::new(adopt(owned_fd, libc::O_WRONLY)?.into())
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
    pub fn from_file_unchecked(file: File) -> io::Result<Sender> {
        Sender::from_owned_fd_unchecked(file.into())
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
    pub fn from_owned_fd_unchecked(owned_fd: OwnedFd) -> io::Result<Sender> {
        Sender::new(owned_fd.into())
    }

    /// Deregisters the pipe and converts it into a descriptor in blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
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

    /// Waits until the pipe is ready for any of `interest`, of which only writing can be ready, and
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
        located("pipe::Sender::ready", Resource::Unknown, async move {
            self.io.ready(interest).await
        })
    }

    /// Waits until there is room to write, or no receiver is open any more. Usually followed by
    /// [`try_write`](Self::try_write).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        located("pipe::Sender::writable", Resource::Unknown, async move {
            self.ready(Interest::WRITABLE).await.map(drop)
        })
    }

    /// The poll function of [`writable`](Self::writable), for implementing a future. Only the waker
    /// of the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_write_ready(cx)
    }

    /// Writes as many bytes as there is room for, without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is none, or if a write that must stay together does not fit;
    /// `BrokenPipe` if no receiver is open.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::unix::pipe;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = pipe::pipe()?;
    /// sender.writable().await?;
    /// assert_eq!(sender.try_write(b"hello")?, 5);
    /// drop(receiver);
    /// assert_eq!(sender.try_write(b"bye").unwrap_err().kind(), ErrorKind::BrokenPipe);
    /// # Ok(()) }) }
    /// ```
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.try_write(buf)
    }

    /// Like [`try_write`](Self::try_write), but writes from several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, buf: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io.try_write_vectored(buf)
    }

    /// Calls `f`, which does I/O on the pipe, if the pipe is known to be writable. If `f` returns
    /// `WouldBlock`, the pipe counts as not ready until the next event: return it only if the pipe
    /// did. A pipe whose other end has gone stays ready.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and `WouldBlock` if the pipe is not ready.
    pub fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.io.try_io(Interest::WRITABLE, |_| f())
    }
}

impl AsyncWrite for Sender {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }

    /// Does nothing: a pipe ends when its last sender is dropped.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }
}

impl AsFd for Sender {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl AsRawFd for Sender {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
