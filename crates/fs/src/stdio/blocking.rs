//! A reader or writer of std, which is called on the pool.

use std::fmt;
use std::io::{self, IoSlice, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_task::blocking::Submit;

use crate::buffer::{self, DEFAULT_MAX_BUF_SIZE};
use crate::stream::{Pooled, Position, budgeted};

/// Makes one call at a time on the pool, in the order of the requests.
///
/// A write completes when its bytes are copied; it is made in the background, and the next
/// operation returns its error. A dropped read continues, and the next read returns its bytes. A
/// call for which there is no thread fails at once, and the next call tries again.
pub(super) struct Blocking<T: Send + 'static>(Pooled<Source<T>>);

/// A reader or writer without positions.
struct Source<T>(T);

impl<T: Send + 'static> Position for Source<T> {}

impl<T: Send + 'static> Blocking<T> {
    pub(super) fn new(stream: T) -> Self {
        Self(Pooled::new(Source(stream)))
    }

    /// Makes the calls where `submit` submits them.
    pub(super) fn with_submit(stream: T, submit: Submit) -> Self {
        Self(Pooled::with_submit(Source(stream), submit))
    }

    /// Returns another handle of the same stream, which has the same bytes that were read ahead.
    pub(super) fn share(&self) -> Self {
        Self(self.0.share())
    }
}

impl<T: Read + Send + 'static> AsyncRead for Blocking<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        budgeted(cx, |cx| {
            self.0
                .poll_read(cx, buf, DEFAULT_MAX_BUF_SIZE, |source, max| {
                    buffer::read(&mut source.0, max)
                })
        })
    }
}

impl<T: Write + Send + 'static> AsyncWrite for Blocking<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        budgeted(cx, |cx| {
            self.0.poll_flush(cx, Some(|source| source.0.flush()))
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A Windows console accepts only UTF-8, and another writer may write before the rest.
        let cut = buffer::whole_characters;
        budgeted(cx, |cx| {
            self.0
                .poll_write(cx, bufs, DEFAULT_MAX_BUF_SIZE, cut, |source, bytes| {
                    source.0.write_all(bytes)
                })
        })
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl<T: Send + 'static> fmt::Debug for Blocking<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Blocking").field(&self.0).finish()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
