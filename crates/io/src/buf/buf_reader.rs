//! A buffer in front of a reader.

use std::fmt;
use std::io::{self, SeekFrom};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::DEFAULT_CAPACITY;
use super::seek::SeekState;
use crate::traits::forward_async_write;
use crate::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

pin_project! {
    /// Reads from a reader in large pieces, and returns the bytes in small ones.
    ///
    /// It makes many small reads cheap, and turns any reader into an [`AsyncBufRead`]. When it is
    /// dropped, the bytes that it has read ahead are lost. Writes go directly to the inner stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncBufReadExt, BufReader};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut reader = BufReader::new(&b"one\ntwo\n"[..]);
    /// let mut line = String::new();
    /// reader.read_line(&mut line).await?;
    /// assert_eq!(line, "one\n");
    /// # Ok(())
    /// # }) }
    /// ```
    pub struct BufReader<R> {
        #[pin]
        inner: R,
        buf: Box<[u8]>,
        // The bytes read ahead are those from `pos` to `end`.
        pos: usize,
        end: usize,
        seek: SeekState,
    }
}

impl<R: AsyncRead> BufReader<R> {
    /// Puts a buffer of 8 KiB in front of `inner`.
    pub fn new(inner: R) -> Self {
        Self::with_capacity(DEFAULT_CAPACITY, inner)
    }

    /// Puts a buffer of `capacity` bytes in front of `inner`.
    ///
    /// # Panics
    ///
    /// Panics if the capacity is zero.
    #[track_caller]
    pub fn with_capacity(capacity: usize, inner: R) -> Self {
        // A read into an empty buffer would look like the end.
        assert!(
            capacity > 0,
            "a reader's buffer capacity must be greater than zero"
        );
        Self {
            inner,
            buf: vec![0; capacity].into_boxed_slice(),
            pos: 0,
            end: 0,
            seek: SeekState::Idle,
        }
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the reader. Bytes that are read from it directly are missing in this buffer.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the reader, pinned like this buffer.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().inner
    }

    /// Returns the reader. The bytes that were read ahead are lost.
    pub fn into_inner(self) -> R {
        self.inner
    }

    /// Returns the bytes that were read ahead.
    pub fn buffer(&self) -> &[u8] {
        &self.buf[self.pos..self.end]
    }
}

impl<R> BufReader<R> {
    /// Returns the reader, and the same buffer with another reader.
    pub(super) fn replace_inner<S>(self, inner: S) -> (R, BufReader<S>) {
        let buffer = BufReader {
            inner,
            buf: self.buf,
            pos: self.pos,
            end: self.end,
            seek: self.seek,
        };
        (self.inner, buffer)
    }
}

impl<R: AsyncRead> AsyncRead for BufReader<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // A read at least as large as the buffer does not need it.
        if self.pos == self.end && buf.remaining() >= self.buf.len() {
            return self.project().inner.poll_read(cx, buf);
        }
        let available = ready!(self.as_mut().poll_fill_buf(cx))?;
        let n = available.len().min(buf.remaining());
        buf.put_slice(&available[..n]);
        self.consume(n);
        Poll::Ready(Ok(()))
    }
}

impl<R: AsyncRead> AsyncBufRead for BufReader<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if *this.pos == *this.end {
            let mut buf = ReadBuf::new(this.buf);
            ready!(this.inner.poll_read(cx, &mut buf))?;
            *this.end = buf.filled().len();
            *this.pos = 0;
        }
        Poll::Ready(Ok(&this.buf[*this.pos..*this.end]))
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        let this = self.project();
        *this.pos = this.pos.saturating_add(amt).min(*this.end);
    }
}

impl<R: AsyncWrite> AsyncWrite for BufReader<R> {
    forward_async_write!(self => self.project().inner, self.inner);
}

/// Seeking discards the bytes that were read ahead, even if the target is among them.
///
/// [`SeekFrom::Current`] is relative to the byte that is read next from this buffer.
impl<R: AsyncRead + AsyncSeek> AsyncSeek for BufReader<R> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seek = SeekState::Start(position);
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let mut this = self.project();
        loop {
            // Waits for a seek that has started, or for another operation of the reader.
            let position = ready!(this.inner.as_mut().poll_complete(cx));
            let state = mem::take(this.seek);
            let position = position?;
            let (target, then) = match state {
                SeekState::Idle => return Poll::Ready(Ok(position)),
                SeekState::Start(SeekFrom::Current(offset)) => {
                    // A buffer is at most isize::MAX bytes long.
                    let ahead = (*this.end - *this.pos) as i64;
                    match offset.checked_sub(ahead) {
                        Some(offset) => (SeekFrom::Current(offset), None),
                        None => (SeekFrom::Current(-ahead), Some(offset)),
                    }
                }
                SeekState::Start(target) => (target, None),
                SeekState::Underway(then) => {
                    (*this.pos, *this.end) = (0, 0);
                    match then {
                        Some(offset) => (SeekFrom::Current(offset), None),
                        None => return Poll::Ready(Ok(position)),
                    }
                }
            };
            this.inner.as_mut().start_seek(target)?;
            *this.seek = SeekState::Underway(then);
        }
    }
}

impl<R: fmt::Debug> fmt::Debug for BufReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufReader")
            .field("inner", &self.inner)
            .field("buffered", &(self.end - self.pos))
            .field("capacity", &self.buf.len())
            .finish()
    }
}
