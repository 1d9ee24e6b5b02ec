//! `AsyncReadExt::read_to_end`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncRead;
use crate::read_buf::{Appender, VecMut};
use crate::util::poll_consume_budget;

pin_project! {
    /// The future of [`AsyncReadExt::read_to_end`](crate::AsyncReadExt::read_to_end), which is
    /// cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadToEnd<'a, R: ?Sized> {
        reader: &'a mut R,
        buf: Appender<&'a mut Vec<u8>>,
        // Bytes appended to `buf` by now.
        read: usize,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> ReadToEnd<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, buf: &'a mut Vec<u8>) -> Self {
        let buf = Appender::new(buf);
        let read = 0;
        Self {
            reader,
            buf,
            read,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadToEnd<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read_to_end", caller, |cx| {
            let this = self.project();
            let reader = Pin::new(&mut **this.reader);
            poll_read_to_end(reader, cx, this.buf, this.read)
        })
    }
}

/// Reads to the end, appending to `buf` and counting in `read`.
pub(super) fn poll_read_to_end<R, V>(
    mut reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    buf: &mut Appender<V>,
    read: &mut usize,
) -> Poll<io::Result<usize>>
where
    R: AsyncRead + ?Sized,
    V: VecMut,
{
    loop {
        match ready!(buf.poll_read(reader.as_mut(), cx)) {
            Ok(0) => return Poll::Ready(Ok(*read)),
            Ok(n) => *read += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Poll::Ready(Err(error)),
        }
        // The reader may always be ready without using the budget.
        ready!(poll_consume_budget(cx));
    }
}
