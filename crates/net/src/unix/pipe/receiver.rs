//! The reading end.

use std::io::{self, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use raddle_io::{AsyncRead, ReadBuf};
use raddle_reactor::{Evented, Interest};

use super::ends::pipe_end;
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

pipe_end! {
    Receiver, "reading", libc::O_RDONLY, Interest::READABLE;

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
    from_owned_fd,

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
    into_blocking_fd,

    /// Waits until there is something to read, or no sender is open any more. Usually followed by
    /// [`try_read`](Self::try_read).
    readable {
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
    }
    poll_read_ready,

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
    try_io,
}

impl Receiver {
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
