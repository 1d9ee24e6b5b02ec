//! `AsyncBufReadExt::read_until`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncBufRead;
use raddle_leaf::coop::poll_proceed;

pin_project! {
    /// The future of [`AsyncBufReadExt::read_until`](crate::AsyncBufReadExt::read_until), which is
    /// cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadUntil<'a, R: ?Sized> {
        reader: &'a mut R,
        delimiter: u8,
        buf: &'a mut Vec<u8>,
        // Bytes appended to `buf` by now.
        read: usize,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> ReadUntil<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, delimiter: u8, buf: &'a mut Vec<u8>) -> Self {
        Self {
            reader,
            delimiter,
            buf,
            read: 0,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncBufRead + Unpin + ?Sized> Future for ReadUntil<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncBufReadExt::read_until", caller, |cx| {
            let this = self.project();
            let reader = Pin::new(&mut **this.reader);
            poll_read_until(reader, cx, *this.delimiter, this.buf, this.read)
        })
    }
}

/// Reads up to and including `delimiter`, or to the end, appending to `buf` and counting in `read`.
pub(super) fn poll_read_until<R: AsyncBufRead + ?Sized>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    delimiter: u8,
    buf: &mut Vec<u8>,
    read: &mut usize,
) -> Poll<io::Result<usize>> {
    loop {
        // The reader may always be ready without using the budget.
        let coop = ready!(poll_proceed(cx));
        match ready!(reader.as_mut().poll_fill_buf(cx)) {
            Ok(mut available) => {
                // std's search in a slice is fast, and reading from a slice cannot fail.
                let used = io::BufRead::read_until(&mut available, delimiter, buf)?;
                reader.as_mut().consume(used);
                *read += used;
                coop.made_progress();
                if used == 0 || buf.last() == Some(&delimiter) {
                    return Poll::Ready(Ok(*read));
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => coop.made_progress(),
            Err(error) => {
                coop.made_progress();
                return Poll::Ready(Err(error));
            }
        }
    }
}
