//! Raddle's streams for hyper, and hyper's for Raddle.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{self, ReadBufCursor};
use pin_project_lite::pin_project;
use raddle::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// Gives a Raddle stream hyper's [`Read`](rt::Read) and [`Write`](rt::Write), and gives a
    /// stream with hyper's traits Raddle's.
    #[derive(Debug)]
    pub struct RaddleIo<T> {
        #[pin]
        inner: T,
    }
}

impl<T> RaddleIo<T> {
    /// Wraps a stream.
    pub fn new(inner: T) -> Self {
        Self { inner }
    }

    /// Returns the stream.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// The stream, to be changed.
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// Returns the stream.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead> rt::Read for RaddleIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        // SAFETY: a `ReadBuf` writes only initialised bytes to its memory.
        let memory = unsafe { cursor.as_mut() };
        let (start, len) = (memory.as_ptr().cast::<u8>(), memory.len());
        let mut buf = ReadBuf::uninit(memory);
        ready!(self.project().inner.poll_read(cx, &mut buf))?;
        let filled = buf.filled().len();
        // `poll_read` is safe code and may replace the buffer; an empty buffer even by one at the
        // same address.
        assert!(
            std::ptr::eq(buf.filled().as_ptr(), start) && filled <= len,
            "poll_read must fill the buffer it is given"
        );
        // SAFETY: the buffer is over the cursor's memory, as was just checked, and its filled part
        // is initialised.
        unsafe { cursor.advance(filled) };
        Poll::Ready(Ok(()))
    }
}

impl<T: AsyncWrite> rt::Write for RaddleIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.project().inner.poll_write_vectored(cx, slices)
    }
}

impl<T: rt::Read> AsyncRead for RaddleIo<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        // SAFETY: hyper's buffer writes only initialised bytes to its memory.
        let mut hyper_buf = rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().inner.poll_read(cx, hyper_buf.unfilled()))?;
        let filled = hyper_buf.filled().len();
        // SAFETY: the reader that advanced hyper's cursor promises that `filled` bytes of this
        // memory are initialised. The cursor borrows the buffer, so the reader cannot have replaced
        // it.
        unsafe { buf.assume_init(filled) };
        buf.advance(filled);
        Poll::Ready(Ok(()))
    }
}

impl<T: rt::Write> AsyncWrite for RaddleIo<T> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        self.project().inner.poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().inner.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        self.project().inner.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        self.project().inner.poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
