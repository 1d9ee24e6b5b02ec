//! `AsyncBufReadExt::split`.

use std::future::poll_fn;
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::misuse::io_at_caller;

use super::read_until::poll_read_until;
use crate::AsyncBufRead;

pin_project! {
    /// The segments of a reader between delimiters; see
    /// [`AsyncBufReadExt::split`](crate::AsyncBufReadExt::split).
    #[derive(Debug)]
    #[must_use = "segments are read only when asked for"]
    pub struct Split<R> {
        #[pin]
        reader: R,
        delimiter: u8,
        // The segment so far. It is kept here, so that a dropped `next_segment` loses nothing.
        segment: Vec<u8>,
    }
}

impl<R> Split<R> {
    pub(super) fn new(reader: R, delimiter: u8) -> Self {
        Self {
            reader,
            delimiter,
            segment: Vec::new(),
        }
    }
}

impl<R: AsyncBufRead> Split<R> {
    /// Returns the next segment, without its delimiter; `None` at the end.
    ///
    /// The bytes after the last delimiter are a segment too, unless they are empty.
    ///
    /// # Errors
    ///
    /// Returns the errors of the reader; the bytes of the segment that were read are kept.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before completion, the next call continues with the
    /// same segment.
    #[track_caller]
    pub fn next_segment(&mut self) -> impl Future<Output = io::Result<Option<Vec<u8>>>>
    where
        R: Unpin,
    {
        io_at_caller(async move { poll_fn(|cx| Pin::new(&mut *self).poll_next_segment(cx)).await })
    }

    /// The poll function of [`next_segment`](Self::next_segment).
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`next_segment`](Self::next_segment).
    pub fn poll_next_segment(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Option<Vec<u8>>>> {
        let this = self.project();
        let mut read = this.segment.len();
        ready!(poll_read_until(
            this.reader,
            cx,
            *this.delimiter,
            this.segment,
            &mut read
        ))?;
        let mut segment = mem::take(this.segment);
        if segment.is_empty() {
            return Poll::Ready(Ok(None));
        }
        if segment.last() == Some(this.delimiter) {
            segment.pop();
        }
        Poll::Ready(Ok(Some(segment)))
    }
}
