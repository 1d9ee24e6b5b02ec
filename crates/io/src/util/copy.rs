//! Copying from a reader to a writer.

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_leaf::misuse::io_at_caller;

use crate::ext::{checked, write_zero};
use crate::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of bytes that are moved at once.
pub(super) const CAPACITY: usize = 8 * 1024;

/// Copies all bytes of `reader` to `writer`, flushes it, and returns their number.
///
/// While a write is pending, up to 8 KiB are read ahead, so that a peer which sends a whole request
/// before it reads the answer does not wait forever. Whenever the reader has no bytes for now, the
/// writer is flushed too. It is not shut down. Interrupted reads and writes are retried. Takes
/// units of the task's budget.
///
/// # Errors
///
/// Returns the errors of the reader and the writer; `WriteZero` if the writer takes no more bytes.
/// What was read before an error of the reader is written first. This does not wait for a writer
/// that accepts nothing: the task yields to its peer, and when it has done so 64 times in
/// succession, what is left is lost. Bytes that were copied before an error stay copied; a
/// [`Counted`](crate::Counted) writer has their number.
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
#[track_caller]
pub fn copy<R, W>(reader: &mut R, writer: &mut W) -> impl Future<Output = io::Result<u64>>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    io_at_caller(copy_all(reader, writer))
}

async fn copy_all<R, W>(reader: &mut R, writer: &mut W) -> io::Result<u64>
where
    R: AsyncRead + Unpin + ?Sized,
    W: AsyncWrite + Unpin + ?Sized,
{
    let mut buffer = CopyBuffer::new(CAPACITY);
    let mut yields_left = MAX_YIELDS;
    poll_fn(|cx| {
        let before = buffer.unwritten();
        let copied = buffer.poll_copy(cx, Pin::new(&mut *reader), Pin::new(&mut *writer));
        if copied.is_ready() || !matches!(buffer.source, Source::Failed(_)) {
            return copied;
        }
        if buffer.unwritten() < before {
            yields_left = MAX_YIELDS;
        }
        if yields_left > 0 {
            yields_left -= 1;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        buffer
            .take_read_error()
            .map_or(copied, |error| Poll::Ready(Err(error)))
    })
    .await
}

/// After an error: how often in succession the task yields to the peer of a stream that accepts no
/// bytes.
pub(super) const MAX_YIELDS: u32 = 64;

/// The bytes that were read and not written yet.
#[derive(Debug)]
pub(super) struct CopyBuffer {
    bytes: Box<[u8]>,
    /// The bytes read and not yet written are those from `pos` to `end`.
    pos: usize,
    end: usize,
    /// The number of bytes that were written so far.
    copied: u64,
    source: Source,
    /// Whether bytes were written since the last flush.
    need_flush: bool,
}

/// What the last read found.
#[derive(Debug)]
enum Source {
    HasMore,
    AtEnd,
    /// The error is returned when the bytes before it are written. `io::Error` is not
    /// `RefUnwindSafe`, which the futures of Tokio are; nothing observes it before it is returned.
    Failed(AssertUnwindSafe<io::Error>),
}

impl CopyBuffer {
    /// Makes a buffer of `capacity` bytes, the number that is moved at once.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            bytes: vec![0; capacity].into_boxed_slice(),
            pos: 0,
            end: 0,
            copied: 0,
            source: Source::HasMore,
            need_flush: false,
        }
    }

    /// Moves bytes until the reader's end, and returns the number of bytes.
    fn poll_copy<R, W>(
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
            let step = self.poll_step(cx, reader.as_mut(), writer.as_mut());
            if let Some(copied) = ready!(step)? {
                return Poll::Ready(Ok(copied));
            }
        }
    }

    /// Reads once, writes once, or flushes at the reader's end and returns the number of bytes.
    ///
    /// Takes a unit of the budget. If it is pending, reader or writer wakes the task; while a write
    /// is pending, it reads ahead into the rest of the buffer.
    pub(super) fn poll_step<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<Option<u64>>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        // Reader and writer may both always be ready without using the budget.
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let step = self.poll_step_without_budget(cx, reader, writer);
        if step.is_ready() {
            coop.made_progress();
        }
        step
    }

    fn poll_step_without_budget<R, W>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<Option<u64>>>
    where
        R: AsyncRead + ?Sized,
        W: AsyncWrite + ?Sized,
    {
        if self.pos < self.end {
            let Poll::Ready(result) = self.poll_write(cx, writer) else {
                // The peer of the writer may take bytes only when it has sent all of its own.
                self.read_ahead(cx, reader);
                return Poll::Pending;
            };
            result?;
        } else if let Some(error) = self.take_read_error() {
            return Poll::Ready(Err(error));
        } else if self.is_at_end() {
            ready!(self.poll_flush(cx, writer))?;
            return Poll::Ready(Ok(Some(self.copied)));
        } else {
            (self.pos, self.end) = (0, 0);
            if self.poll_read(cx, reader).is_pending() {
                // The reader may wait for the answer to bytes that are not flushed yet.
                if self.need_flush {
                    ready!(self.poll_flush(cx, writer))?;
                }
                return Poll::Pending;
            }
        }
        Poll::Ready(Ok(None))
    }

    /// Returns the error of the reader at once, although bytes that were read before it may not be
    /// written yet.
    pub(super) fn take_read_error(&mut self) -> Option<io::Error> {
        match std::mem::replace(&mut self.source, Source::AtEnd) {
            Source::Failed(error) => Some(error.0),
            source => {
                self.source = source;
                None
            }
        }
    }

    /// Writes and flushes the bytes that were read, unless the writer fails.
    pub(super) fn poll_drain<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        mut writer: Pin<&mut W>,
    ) -> Poll<()> {
        while self.pos < self.end {
            // After an error nothing is left to be written.
            let _ = ready!(self.poll_write(cx, writer.as_mut()));
        }
        if self.need_flush {
            let _ = ready!(self.poll_flush(cx, writer));
        }
        Poll::Ready(())
    }

    /// The number of bytes that were read and not written yet.
    pub(super) fn unwritten(&self) -> usize {
        self.end - self.pos
    }

    fn is_at_end(&self) -> bool {
        matches!(self.source, Source::AtEnd)
    }

    /// Reads until the buffer is full, the reader is pending or has no more bytes, or the budget is
    /// used up. In the second and the last case the task is woken to continue.
    fn read_ahead<R: AsyncRead + ?Sized>(&mut self, cx: &mut Context<'_>, mut reader: Pin<&mut R>) {
        while self.end < self.bytes.len() && matches!(self.source, Source::HasMore) {
            let Poll::Ready(coop) = raddle_leaf::coop::poll_proceed(cx) else {
                return;
            };
            if self.poll_read(cx, reader.as_mut()).is_pending() {
                return;
            }
            coop.made_progress();
        }
    }

    /// Reads into the rest of the buffer, which is not empty. Does nothing if the read is
    /// interrupted.
    fn poll_read<R: AsyncRead + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        reader: Pin<&mut R>,
    ) -> Poll<()> {
        let mut buf = ReadBuf::new(&mut self.bytes[self.end..]);
        match ready!(reader.poll_read(cx, &mut buf)) {
            Ok(()) if buf.filled().is_empty() => self.source = Source::AtEnd,
            Ok(()) => self.end += buf.filled().len(),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => self.source = Source::Failed(AssertUnwindSafe(error)),
        }
        Poll::Ready(())
    }

    /// Writes once. Does nothing if the write is interrupted. After another error no bytes are left
    /// to be written or flushed.
    fn poll_write<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<()>> {
        let error = match ready!(writer.poll_write(cx, &self.bytes[self.pos..self.end])) {
            Ok(0) => write_zero(),
            Ok(n) => {
                self.pos += checked::<W>(n, self.unwritten());
                self.copied += n as u64;
                self.need_flush = true;
                return Poll::Ready(Ok(()));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => return Poll::Ready(Ok(())),
            Err(error) => error,
        };
        self.pos = self.end;
        self.need_flush = false;
        Poll::Ready(Err(error))
    }

    fn poll_flush<W: AsyncWrite + ?Sized>(
        &mut self,
        cx: &mut Context<'_>,
        writer: Pin<&mut W>,
    ) -> Poll<io::Result<()>> {
        let result = ready!(writer.poll_flush(cx));
        self.need_flush = false;
        Poll::Ready(result)
    }
}
