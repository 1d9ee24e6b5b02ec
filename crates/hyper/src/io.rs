//! Raddle's streams for hyper, and hyper's for Raddle.

use std::io::{IoSlice, Result};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::rt::{self, ReadBufCursor};
use pin_project_lite::pin_project;
use raddle::io::{AsyncRead, AsyncWrite, ReadBuf};

pin_project! {
    /// Gives a Raddle stream hyper's [`Read`](rt::Read) and
    /// [`Write`](rt::Write), and a stream with hyper's traits has Raddle's.
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

    /// The stream.
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
        // SAFETY: a `ReadBuf` only ever puts initialised bytes into its space.
        let space = unsafe { cursor.as_mut() };
        let (start, len) = (space.as_ptr().cast::<u8>(), space.len());
        let mut buf = ReadBuf::uninit(space);
        ready!(self.project().inner.poll_read(cx, &mut buf))?;
        let filled = buf.filled().len();
        // `poll_read` is safe code and may put another buffer in its place; in
        // that of an empty one, even one that begins where it does.
        assert!(
            std::ptr::eq(buf.filled().as_ptr(), start) && filled <= len,
            "poll_read must fill the buffer it is given"
        );
        // SAFETY: the buffer is the one over the cursor's space, as was just
        // checked, and what is filled is initialised.
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
        // SAFETY: hyper's buffer only ever puts initialised bytes into its
        // space.
        let mut theirs = rt::ReadBuf::uninit(unsafe { buf.unfilled_mut() });
        ready!(self.project().inner.poll_read(cx, theirs.unfilled()))?;
        let filled = theirs.filled().len();
        // SAFETY: the reader that advanced hyper's cursor promises that so many bytes of this
        // space are initialised, and the cursor borrows the buffer, so it is the same one.
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
