//! `AsyncReadExt::take`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::{AsyncBufRead, AsyncRead, ReadBuf};

pin_project! {
    /// A reader that ends after a number of bytes; see
    /// [`AsyncReadExt::take`](crate::AsyncReadExt::take).
    #[derive(Debug)]
    #[must_use = "it reads nothing by itself"]
    pub struct Take<R> {
        #[pin]
        inner: R,
        // Bytes that may still be read.
        limit: u64,
    }
}

impl<R> Take<R> {
    pub(super) fn new(inner: R, limit: u64) -> Self {
        Self { inner, limit }
    }

    /// Returns the number of bytes that may still be read; the reader may end earlier.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Sets the limit: from now on `limit` more bytes can be read.
    pub fn set_limit(&mut self, limit: u64) {
        self.limit = limit;
    }

    /// Returns the reader.
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Returns the reader. Bytes that are read from it directly do not count towards the limit.
    pub fn get_mut(&mut self) -> &mut R {
        &mut self.inner
    }

    /// Returns the reader, pinned like this one.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().inner
    }

    /// Returns the reader.
    pub fn into_inner(self) -> R {
        self.inner
    }
}

impl<R: AsyncRead> AsyncRead for Take<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        if *this.limit == 0 {
            return raddle_leaf::coop::poll_consume_budget(cx).map(Ok);
        }
        let limit = usize::try_from(*this.limit).unwrap_or(usize::MAX);
        let (result, n) = buf.fill_limited(limit, |buf| this.inner.poll_read(cx, buf));
        *this.limit -= n as u64;
        result
    }
}

impl<R: AsyncBufRead> AsyncBufRead for Take<R> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if *this.limit == 0 {
            return raddle_leaf::coop::poll_consume_budget(cx).map(|()| Ok(&[][..]));
        }
        let available = ready!(this.inner.poll_fill_buf(cx))?;
        let limit = usize::try_from(*this.limit).unwrap_or(usize::MAX);
        Poll::Ready(Ok(&available[..available.len().min(limit)]))
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        let this = self.project();
        // An `amt` above the limit must not make the limit wrap.
        let amt = usize::try_from(*this.limit).map_or(amt, |limit| amt.min(limit));
        *this.limit -= amt as u64;
        this.inner.consume(amt);
    }
}
