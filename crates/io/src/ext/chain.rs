//! `AsyncReadExt::chain`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;

use crate::{AsyncBufRead, AsyncRead, ReadBuf};

pin_project! {
    /// A reader of two readers' bytes, one after the other; see
    /// [`AsyncReadExt::chain`](crate::AsyncReadExt::chain).
    #[derive(Debug)]
    #[must_use = "it reads nothing by itself"]
    pub struct Chain<T, U> {
        #[pin]
        first: T,
        #[pin]
        second: U,
        // Set once the first reader has reached its end.
        done_first: bool,
    }
}

impl<T, U> Chain<T, U> {
    pub(super) fn new(first: T, second: U) -> Self {
        Self {
            first,
            second,
            done_first: false,
        }
    }

    /// Returns both readers.
    pub fn get_ref(&self) -> (&T, &U) {
        (&self.first, &self.second)
    }

    /// Returns both readers. Bytes that are read from them directly are missing here.
    pub fn get_mut(&mut self) -> (&mut T, &mut U) {
        (&mut self.first, &mut self.second)
    }

    /// Returns both readers, pinned like this one.
    pub fn get_pin_mut(self: Pin<&mut Self>) -> (Pin<&mut T>, Pin<&mut U>) {
        let this = self.project();
        (this.first, this.second)
    }

    /// Returns both readers.
    pub fn into_inner(self) -> (T, U) {
        (self.first, self.second)
    }
}

impl<T: AsyncRead, U: AsyncRead> AsyncRead for Chain<T, U> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.project();
        if !*this.done_first {
            let before = buf.remaining();
            ready!(this.first.poll_read(cx, buf))?;
            // A read into an empty buffer does not show the end.
            if buf.remaining() < before || before == 0 {
                return Poll::Ready(Ok(()));
            }
            *this.done_first = true;
        }
        this.second.poll_read(cx, buf)
    }
}

impl<T: AsyncBufRead, U: AsyncBufRead> AsyncBufRead for Chain<T, U> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.project();
        if !*this.done_first {
            let available = ready!(this.first.poll_fill_buf(cx))?;
            if !available.is_empty() {
                return Poll::Ready(Ok(available));
            }
            *this.done_first = true;
        }
        this.second.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        let this = self.project();
        if *this.done_first {
            this.second.consume(amt);
        } else {
            this.first.consume(amt);
        }
    }
}
