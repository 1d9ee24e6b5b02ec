//! A buffer for each direction of a stream.

use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::{BufReader, BufWriter, DEFAULT_CAPACITY};
use crate::traits::forward_async_write;
use crate::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

pin_project! {
    /// Buffers both directions of a stream: a [`BufReader`] and a [`BufWriter`] in one.
    ///
    /// When it is dropped, the bytes that it has read ahead are lost, and so are written bytes that
    /// are still buffered: call [`flush`](crate::AsyncWriteExt::flush) or
    /// [`shutdown`](crate::AsyncWriteExt::shutdown) first.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncBufReadExt, AsyncWriteExt, BufStream, duplex};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, far) = duplex(64);
    /// let (mut near, mut far) = (BufStream::new(near), BufStream::new(far));
    /// near.write_all(b"hello\n").await?;
    /// near.flush().await?;
    /// let mut line = String::new();
    /// far.read_line(&mut line).await?;
    /// assert_eq!(line, "hello\n");
    /// # Ok(())
    /// # }) }
    /// ```
    #[derive(Debug)]
    pub struct BufStream<RW> {
        #[pin]
        inner: BufReader<BufWriter<RW>>,
    }
}

impl<RW: AsyncRead + AsyncWrite> BufStream<RW> {
    /// Wraps `stream` with a buffer of 8 KiB for each direction.
    pub fn new(stream: RW) -> Self {
        Self::with_capacity(DEFAULT_CAPACITY, DEFAULT_CAPACITY, stream)
    }

    /// Wraps `stream` with a buffer of `reader_capacity` bytes for reading and one of
    /// `writer_capacity` bytes for writing.
    ///
    /// # Panics
    ///
    /// Panics if the reader's capacity is zero.
    #[track_caller]
    pub fn with_capacity(reader_capacity: usize, writer_capacity: usize, stream: RW) -> Self {
        let writer = BufWriter::with_capacity(writer_capacity, stream);
        Self {
            inner: BufReader::with_capacity(reader_capacity, writer),
        }
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &RW {
        self.inner.get_ref().get_ref()
    }

    /// Returns the stream. Bytes that are read from it directly are missing in this buffer, and
    /// bytes that are written to it directly overtake the buffered ones.
    pub fn get_mut(&mut self) -> &mut RW {
        self.inner.get_mut().get_mut()
    }

    /// Returns the stream, pinned like this buffer.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut RW> {
        self.project().inner.get_pin_mut().get_pin_mut()
    }

    /// Returns the stream. The buffered bytes of both directions are lost.
    pub fn into_inner(self) -> RW {
        self.inner.into_inner().into_inner()
    }
}

/// Keeps the buffered bytes.
impl<RW> From<BufReader<BufWriter<RW>>> for BufStream<RW> {
    fn from(inner: BufReader<BufWriter<RW>>) -> Self {
        Self { inner }
    }
}

/// Keeps the buffered bytes.
impl<RW> From<BufWriter<BufReader<RW>>> for BufStream<RW> {
    fn from(writer: BufWriter<BufReader<RW>>) -> Self {
        let (reader, writer) = writer.replace_inner(());
        let (stream, reader) = reader.replace_inner(());
        let ((), writer) = writer.replace_inner(stream);
        let ((), inner) = reader.replace_inner(writer);
        Self { inner }
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncRead for BufStream<RW> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().inner.poll_read(cx, buf)
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncBufRead for BufStream<RW> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.project().inner.consume(amt);
    }
}

impl<RW: AsyncRead + AsyncWrite> AsyncWrite for BufStream<RW> {
    forward_async_write!(self => self.project().inner, self.inner);
}

/// Seeking writes the buffered bytes, and discards the bytes that were read ahead.
impl<RW: AsyncRead + AsyncWrite + AsyncSeek> AsyncSeek for BufStream<RW> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.project().inner.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.project().inner.poll_complete(cx)
    }
}
