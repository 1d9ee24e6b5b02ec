//! A stream in memory in one direction.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::pipe::{Pipe, write_to_pipe};
use super::split::{ReadHalf, WriteHalf, split};
use crate::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream in memory that reads what was written to it.
///
/// Comes from [`simplex`] in halves, and from [`new_unsplit`](Self::new_unsplit) whole. Takes units
/// of the task's budget.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, SimplexStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut stream = SimplexStream::new_unsplit(64);
/// stream.write_all(b"text").await?;
/// let mut bytes = [0; 4];
/// stream.read_exact(&mut bytes).await?;
/// assert_eq!(&bytes, b"text");
/// # Ok(())
/// # }) }
/// ```
#[derive(Debug)]
pub struct SimplexStream {
    pipe: Pipe,
}

/// Makes the two ends of a stream in memory in one direction.
///
/// It holds `max_buf_size` bytes at most; a write waits while there is no room. [Shutting the
/// writer down](crate::AsyncWriteExt::shutdown) ends the stream for the reader; a write after it
/// fails with `BrokenPipe`. Dropping a half has no effect on the other one: a reader waits forever
/// if the writer was dropped without a shutdown, and so does a writer without room if the reader
/// was dropped.
///
/// # Panics
///
/// Panics if the size is zero.
///
/// # Cancel safety
///
/// Cancel safe: reads and writes have no state of their own. Dropped while they wait, they have
/// transferred no bytes.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, simplex};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut reader, mut writer) = simplex(64);
/// writer.write_all(b"one way").await?;
/// writer.shutdown().await?;
///
/// let mut text = String::new();
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "one way");
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn simplex(max_buf_size: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    split(SimplexStream::new_unsplit(max_buf_size))
}

impl SimplexStream {
    /// Makes a stream that is not split into its two ends; otherwise like [`simplex`].
    ///
    /// # Panics
    ///
    /// Panics if the size is zero.
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> Self {
        Self {
            pipe: Pipe::new(max_buf_size),
        }
    }
}

impl AsyncRead for SimplexStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.pipe.poll_read(cx, buf)
    }
}

impl AsyncWrite for SimplexStream {
    write_to_pipe!(pipe);
}
