//! A buffer in front of a writer.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use super::DEFAULT_CAPACITY;
use super::seek::SeekState;
use crate::ext::{checked, write_zero};
use crate::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

pin_project! {
    /// Collects small writes, and writes them to a writer in large pieces.
    ///
    /// When it is dropped, the buffered bytes are lost: call [`flush`](crate::AsyncWriteExt::flush)
    /// or [`shutdown`](crate::AsyncWriteExt::shutdown) first. Reads go directly to the inner
    /// stream.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncWriteExt, BufWriter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut writer = BufWriter::new(Vec::new());
    /// for number in 0..3 {
    ///     writer.write_all(format!("{number}\n").as_bytes()).await?;
    /// }
    /// // Dropping the writer would lose what is in the buffer.
    /// writer.flush().await?;
    /// assert_eq!(writer.into_inner(), b"0\n1\n2\n");
    /// # Ok(())
    /// # }) }
    /// ```
    pub struct BufWriter<W> {
        #[pin]
        inner: W,
        buf: Vec<u8>,
        // The number of bytes at the start of `buf` that `poll_flush_buf` has written so far.
        written: usize,
        seek: SeekState,
    }
}

impl<W: AsyncWrite> BufWriter<W> {
    /// Puts a buffer of 8 KiB in front of `inner`.
    pub fn new(inner: W) -> Self {
        Self::with_capacity(DEFAULT_CAPACITY, inner)
    }

    /// Puts a buffer of `capacity` bytes in front of `inner`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncWriteExt, BufWriter};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut writer = BufWriter::with_capacity(4, Vec::new());
    /// writer.write_all(b"abc").await?;
    /// assert!(writer.get_ref().is_empty());
    /// // Too much for the buffer, which is written first.
    /// writer.write_all(b"def").await?;
    /// assert_eq!(writer.get_ref(), b"abc");
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn with_capacity(capacity: usize, inner: W) -> Self {
        Self {
            inner,
            buf: Vec::with_capacity(capacity),
            written: 0,
            seek: SeekState::Idle,
        }
    }

    /// Returns the writer.
    pub fn get_ref(&self) -> &W {
        &self.inner
    }

    /// Returns the writer. Bytes that are written to it directly overtake the buffered ones.
    pub fn get_mut(&mut self) -> &mut W {
        &mut self.inner
    }

    /// Returns the writer, pinned like this buffer.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut W> {
        self.project().inner
    }

    /// Returns the writer. The buffered bytes are lost.
    pub fn into_inner(self) -> W {
        self.inner
    }

    /// Returns the buffered bytes.
    pub fn buffer(&self) -> &[u8] {
        &self.buf[self.written..]
    }

    /// Writes all buffered bytes to the writer, without flushing it.
    fn poll_flush_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut this = self.project();
        let mut result = Ok(());
        while *this.written < this.buf.len() {
            match ready!(
                this.inner
                    .as_mut()
                    .poll_write(cx, &this.buf[*this.written..])
            ) {
                Ok(0) => {
                    result = Err(write_zero());
                    break;
                }
                Ok(n) => *this.written += checked::<W>(n, this.buf.len() - *this.written),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        this.buf.drain(..*this.written);
        *this.written = 0;
        Poll::Ready(result)
    }

    /// Writes the buffered bytes to the writer if the buffer has no room for `n` more.
    fn poll_make_room(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        n: usize,
    ) -> Poll<io::Result<()>> {
        // `saturating_add`: the lengths of many slices may overflow.
        if self.buf.len().saturating_add(n) > self.buf.capacity() {
            ready!(self.as_mut().poll_flush_buf(cx))?;
        }
        Poll::Ready(Ok(()))
    }

    /// Writes the first slice that is not empty, and buffers the following slices that fit.
    fn poll_buffer_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let mut rest = bufs.iter().skip_while(|buf| buf.is_empty());
        let Some(first) = rest.next() else {
            return Poll::Ready(Ok(0));
        };
        let mut written = ready!(self.as_mut().poll_write(cx, first))?;
        let this = self.project();
        let capacity = this.buf.capacity();
        if first.len() < capacity {
            for buf in rest {
                if buf.len() > capacity - this.buf.len() {
                    break;
                }
                this.buf.extend_from_slice(buf);
                written += buf.len();
            }
        }
        Poll::Ready(Ok(written))
    }
}

impl<W> BufWriter<W> {
    /// Returns the writer, and the same buffer with another writer.
    pub(super) fn replace_inner<V>(self, inner: V) -> (W, BufWriter<V>) {
        let buffer = BufWriter {
            inner,
            buf: self.buf,
            written: self.written,
            seek: self.seek,
        };
        (self.inner, buffer)
    }
}

impl<W: AsyncWrite> AsyncWrite for BufWriter<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.as_mut().poll_make_room(cx, buf.len()))?;
        let this = self.project();
        if buf.len() >= this.buf.capacity() {
            // A write at least as large as the buffer does not need it.
            return this.inner.poll_write(cx, buf);
        }
        this.buf.extend_from_slice(buf);
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buf(cx))?;
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush_buf(cx))?;
        self.project().inner.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if !self.inner.is_write_vectored() {
            return self.poll_buffer_vectored(cx, bufs);
        }
        let total = bufs
            .iter()
            .fold(0_usize, |total, buf| total.saturating_add(buf.len()));
        ready!(self.as_mut().poll_make_room(cx, total))?;
        let this = self.project();
        if total >= this.buf.capacity() {
            return this.inner.poll_write_vectored(cx, bufs);
        }
        for buf in bufs {
            this.buf.extend_from_slice(buf);
        }
        Poll::Ready(Ok(total))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl<W: AsyncRead> AsyncRead for BufWriter<W> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().inner.poll_read(cx, buf)
    }
}

impl<W: AsyncBufRead> AsyncBufRead for BufWriter<W> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.project().inner.consume(amt);
    }
}

/// Seeking first writes the buffered bytes and flushes the writer.
impl<W: AsyncWrite + AsyncSeek> AsyncSeek for BufWriter<W> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        *self.project().seek = SeekState::Start(position);
        Ok(())
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let SeekState::Start(target) = self.seek {
            let settled = ready!(self.as_mut().poll_flush_and_complete(cx));
            let mut this = self.as_mut().project();
            *this.seek = SeekState::Idle;
            settled?;
            this.inner.as_mut().start_seek(target)?;
            *this.seek = SeekState::Underway(None);
        }
        let this = self.project();
        let position = ready!(this.inner.poll_complete(cx));
        *this.seek = SeekState::Idle;
        Poll::Ready(position)
    }
}

impl<W: AsyncWrite + AsyncSeek> BufWriter<W> {
    /// Flushes, and waits for unfinished operations of the inner writer, before a seek starts.
    fn poll_flush_and_complete(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<u64>> {
        ready!(self.as_mut().poll_flush(cx))?;
        self.project().inner.poll_complete(cx)
    }
}

impl<W: fmt::Debug> fmt::Debug for BufWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufWriter")
            .field("inner", &self.inner)
            .field("buffered", &(self.buf.len() - self.written))
            .field("capacity", &self.buf.capacity())
            .finish()
    }
}
