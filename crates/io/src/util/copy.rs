//! Copying from a reader to a writer.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use crate::ext::write_zero;
use crate::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of bytes that are moved at once.
pub(super) const CAPACITY: usize = 8 * 1024;

/// Copies all bytes of `reader` to `writer`, flushes it, and returns their number.
///
/// Whenever the reader has no bytes for now, the writer is flushed too. It is not shut down.
/// Interrupted reads and writes are retried. Takes units of the task's budget.
///
/// # Errors
///
/// Returns the errors of the reader and the writer; `WriteZero` if the writer takes no more bytes.
/// Bytes that were copied before stay copied.
///
/// # Cancel safety
///
/// Not cancel safe: if the future is dropped before completion, up to 8 KiB that were read and not
/// yet written are lost.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::copy;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut output = Vec::new();
/// assert_eq!(copy(&mut &b"text"[..], &mut output).await?, 4);
/// assert_eq!(output, b"text");
/// # Ok(())
/// # }) }
/// ```
pub async fn copy<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut buffer = CopyBuffer::new(CAPACITY);
    poll_fn(|cx| buffer.poll_copy(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

/// The bytes that were read and not written yet.
#[derive(Debug)]
pub(super) struct CopyBuffer {
    bytes: Box<[u8]>,
    /// The bytes read and not yet written are those from `pos` to `end`.
    pos: usize,
    end: usize,
    /// The number of bytes that were written so far.
    copied: u64,
    /// Whether the reader has reached its end.
    read_done: bool,
    /// Whether bytes were written since the last flush.
    need_flush: bool,
}

impl CopyBuffer {
    /// Makes a buffer of `capacity` bytes, the number that is moved at once.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            bytes: vec![0; capacity].into_boxed_slice(),
            pos: 0,
            end: 0,
            copied: 0,
            read_done: false,
            need_flush: false,
        }
    }

    /// Moves bytes until the reader's end, and returns the number of bytes.
    pub(super) fn poll_copy<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        loop {
            // Reader and writer may both always be ready without using the budget.
            let coop = ready!(raddle_coop::poll_proceed(cx));
            if self.pos < self.end {
                ready!(self.poll_write(cx, writer.as_mut()))?;
            } else if self.read_done {
                ready!(writer.poll_flush(cx))?;
                return Poll::Ready(Ok(self.copied));
            } else if let Poll::Ready(result) = self.poll_read(cx, reader.as_mut()) {
                result?;
            } else {
                // The reader may wait for the answer to bytes that are not flushed yet.
                if self.need_flush {
                    ready!(writer.as_mut().poll_flush(cx))?;
                    self.need_flush = false;
                }
                return Poll::Pending;
            }
            coop.made_progress();
        }
    }

    fn poll_read<R: AsyncRead + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
    ) -> Poll<io::Result<()>> {
        let mut buf = ReadBuf::new(&mut self.bytes);
        match ready!(reader.poll_read(cx, &mut buf)) {
            Ok(()) => {
                self.pos = 0;
                self.end = buf.filled().len();
                self.read_done = self.end == 0;
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }

    fn poll_write<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<()>> {
        match ready!(writer.poll_write(cx, &self.bytes[self.pos..self.end])) {
            Ok(0) => Poll::Ready(Err(write_zero())),
            Ok(n) => {
                self.pos += n;
                self.copied += n as u64;
                self.need_flush = true;
                Poll::Ready(Ok(()))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error)),
        }
    }
}
