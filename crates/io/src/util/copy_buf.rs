//! Copying from a buffered reader to a writer.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_leaf::misuse::io_at_caller;

use crate::ext::{checked, write_zero};
use crate::{AsyncBufRead, AsyncWrite};

/// Copies all bytes of `reader` to `writer`, directly from the reader's own buffer, flushes it, and
/// returns their number.
///
/// Whenever the reader has no bytes for now, the writer is flushed too. It is not shut down.
/// Nothing is read while a write is pending, since a buffered reader must be emptied first.
/// Interrupted reads and writes are retried. Takes units of the task's budget.
///
/// # Errors
///
/// Returns the errors of the reader and the writer; `WriteZero` if the writer takes no more bytes.
/// Bytes that were copied before stay copied, and a [`Counted`](crate::Counted) writer has their
/// number; the others are still in the reader.
///
/// # Cancel safety
///
/// Cancel safe: if the future is dropped before completion, every byte is either written or still
/// in the reader, and copying again continues from there. The number that the second call returns
/// counts only its own bytes.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{BufReader, copy_buf};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let mut input = BufReader::new(&b"text"[..]);
/// let mut output = Vec::new();
/// assert_eq!(copy_buf(&mut input, &mut output).await?, 4);
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn copy_buf<R, W>(reader: &mut R, writer: &mut W) -> impl Future<Output = io::Result<u64>>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    io_at_caller(copy_buf_all(reader, writer))
}

async fn copy_buf_all<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncBufRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut copying = CopyBuf {
        copied: 0,
        read_done: false,
        need_flush: false,
    };
    poll_fn(|cx| copying.poll(cx, Pin::new(&mut *reader), Pin::new(&mut *writer))).await
}

struct CopyBuf {
    /// The number of bytes that were written so far.
    copied: u64,
    /// Whether the reader has reached its end.
    read_done: bool,
    /// Whether bytes were written since the last flush.
    need_flush: bool,
}

impl CopyBuf {
    fn poll<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<u64>>
    where
        R: AsyncBufRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        loop {
            // Reader and writer may both always be ready without using the budget.
            let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
            let step = ready!(self.poll_step(cx, reader.as_mut(), writer.as_mut()));
            coop.made_progress();
            if let Some(copied) = step? {
                return Poll::Ready(Ok(copied));
            }
        }
    }

    /// Writes the buffered bytes of the reader once; does nothing if the write is interrupted. At
    /// the reader's end, flushes and returns the number of bytes.
    fn poll_step<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: Pin<&mut R>,
        mut writer: Pin<&mut W>,
    ) -> Poll<io::Result<Option<u64>>>
    where
        R: AsyncBufRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        if self.read_done {
            ready!(writer.poll_flush(cx))?;
            return Poll::Ready(Ok(Some(self.copied)));
        }
        let available = match reader.as_mut().poll_fill_buf(cx) {
            Poll::Ready(Ok(available)) => available,
            Poll::Ready(Err(error)) => return Poll::Ready(unless_interrupted(error)),
            Poll::Pending => {
                // The reader may wait for the answer to bytes that are not flushed yet.
                if self.need_flush {
                    ready!(writer.poll_flush(cx))?;
                    self.need_flush = false;
                }
                return Poll::Pending;
            }
        };
        if available.is_empty() {
            self.read_done = true;
            return Poll::Ready(Ok(None));
        }
        let written = match ready!(writer.as_mut().poll_write(cx, available)) {
            Ok(written) => checked::<W>(written, available.len()),
            Err(error) => return Poll::Ready(unless_interrupted(error)),
        };
        if written == 0 {
            return Poll::Ready(Err(write_zero()));
        }
        reader.consume(written);
        self.copied += written as u64;
        self.need_flush = true;
        Poll::Ready(Ok(None))
    }
}

/// Returns the error, unless it is `Interrupted`.
fn unless_interrupted(error: io::Error) -> io::Result<Option<u64>> {
    match error.kind() {
        ErrorKind::Interrupted => Ok(None),
        _ => Err(error),
    }
}
