//! The writing end.

use std::io::{self, IoSlice};

use raddle_reactor::{Evented, Interest};

use super::ends::pipe_end;
use crate::evented::ByteStream;
use crate::methods::async_write;

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

pipe_end! {
    Sender, "writing", libc::O_WRONLY, Interest::WRITABLE;
    from_owned_fd,
    into_blocking_fd,

    /// Waits until there is room to write, or no receiver is open any more. Usually followed by
    /// [`try_write`](Self::try_write).
    writable {}
    poll_write_ready,
    try_io,
}

impl Sender {
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
}

async_write! {
    Sender,
    /// Does nothing: a pipe ends when its last sender is dropped.
    poll_shutdown: |_: &Sender| Ok(())
}
