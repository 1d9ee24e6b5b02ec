//! Counting the bytes of a stream.

use std::io::{self, IoSlice, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};

pin_project! {
    /// A stream that counts the bytes that were read from it and written to it.
    ///
    /// Operations that move many bytes, such as [`copy`](crate::copy), `write_all` and
    /// `read_to_end`, return no number if they fail, and none if their future is dropped. The
    /// counts are there in both cases. Wrap a stream by value or by `&mut`; an operation on it does
    /// and returns the same as without the wrapper.
    ///
    /// # Examples
    ///
    /// The number of bytes that were copied before an error:
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{Counted, copy};
    ///
    /// # fn main() { raddle::run(async {
    /// // The writer has room for four bytes.
    /// let mut room = [0; 4];
    /// let mut writer = Counted::new(std::io::Cursor::new(&mut room[..]));
    /// let error = copy(&mut &b"too long"[..], &mut writer).await.unwrap_err();
    /// assert_eq!(error.kind(), std::io::ErrorKind::WriteZero);
    /// assert_eq!(writer.bytes_written(), 4);
    /// # }) }
    /// ```
    ///
    /// A proxy that accounts for both directions, whatever the end of the connection:
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncWriteExt, Counted, copy_bidirectional, duplex};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (mut client, mut a) = duplex(64);
    /// let (mut b, mut server) = duplex(64);
    /// let proxy = raddle::spawn(async move {
    ///     let (mut a, mut b) = (Counted::new(&mut a), Counted::new(&mut b));
    ///     let result = copy_bidirectional(&mut a, &mut b).await;
    ///     (result.is_ok(), b.bytes_written(), a.bytes_written())
    /// });
    /// client.write_all(b"request").await?;
    /// server.read_exact(&mut [0; 7]).await?;
    /// // The server breaks the connection.
    /// drop(server);
    /// client.write_all(b"more").await?;
    /// let (is_ok, to_server, to_client) = proxy.await?;
    /// assert_eq!((is_ok, to_server, to_client), (false, 7, 0));
    /// # Ok(())
    /// # }) }
    /// ```
    #[derive(Clone, Debug, Default)]
    pub struct Counted<S> {
        #[pin]
        inner: S,
        read: u64,
        written: u64,
    }
}

impl<S> Counted<S> {
    /// Counts the bytes of `stream` from now on.
    pub fn new(stream: S) -> Self {
        Self {
            inner: stream,
            read: 0,
            written: 0,
        }
    }

    /// Returns the number of bytes that were read. Bytes that [`AsyncBufRead`] has buffered count
    /// when they are consumed.
    pub fn bytes_read(&self) -> u64 {
        self.read
    }

    /// Returns the number of bytes that the stream has accepted. A buffering stream may not have
    /// passed them on yet.
    pub fn bytes_written(&self) -> u64 {
        self.written
    }

    /// Returns the stream.
    pub fn get_ref(&self) -> &S {
        &self.inner
    }

    /// Returns the stream. Bytes that are moved through it directly are not counted.
    pub fn get_mut(&mut self) -> &mut S {
        &mut self.inner
    }

    /// Returns the stream, pinned like this one.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut S> {
        self.project().inner
    }

    /// Returns the stream.
    pub fn into_inner(self) -> S {
        self.inner
    }
}

impl<S: AsyncRead> AsyncRead for Counted<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        let before = buf.filled().len();
        let result = this.inner.poll_read(cx, buf);
        *this.read += buf.filled().len().saturating_sub(before) as u64;
        result
    }
}

impl<S: AsyncBufRead> AsyncBufRead for Counted<S> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().inner.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        let this = self.project();
        this.inner.consume(amt);
        *this.read += amt as u64;
    }
}

impl<S: AsyncWrite> AsyncWrite for Counted<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = ready!(this.inner.poll_write(cx, buf))?;
        *this.written += written as u64;
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.project();
        let written = ready!(this.inner.poll_write_vectored(cx, bufs))?;
        *this.written += written as u64;
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }
}

impl<S: AsyncSeek> AsyncSeek for Counted<S> {
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.project().inner.start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.project().inner.poll_complete(cx)
    }
}
