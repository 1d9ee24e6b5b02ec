//! Code shared by standard output and standard error.

use std::io::{self, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::AsyncWrite;

use super::blocking::Blocking;

/// A stream that the process writes to: [`Stdout`](super::Stdout) or
/// [`Stderr`](super::Stderr).
#[derive(Debug)]
pub struct Output<S: Send + 'static> {
    inner: Blocking<S>,
    /// The same stream, for requests of its descriptor or handle.
    #[cfg(any(unix, windows))]
    pub(crate) std: S,
}

impl<S: Send + 'static> Output<S> {
    /// Makes a writer to the stream that `open` returns, which must be the same each time.
    pub(super) fn new(open: fn() -> S) -> Self {
        Self {
            inner: Blocking::new(open()),
            #[cfg(any(unix, windows))]
            std: open(),
        }
    }
}

impl<S: Write + Send + Unpin + 'static> AsyncWrite for Output<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(unix)]
impl<S: std::os::fd::AsRawFd + Send + 'static> std::os::fd::AsRawFd for Output<S> {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        self.std.as_raw_fd()
    }
}

#[cfg(unix)]
impl<S: std::os::fd::AsFd + Send + 'static> std::os::fd::AsFd for Output<S> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.std.as_fd()
    }
}
