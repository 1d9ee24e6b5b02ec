//! `AsyncReadExt::read_exact`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::{AsyncRead, ReadBuf};

pin_project! {
    /// The future of [`AsyncReadExt::read_exact`](crate::AsyncReadExt::read_exact), which is not
    /// cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadExact<'a, R: ?Sized> {
        reader: &'a mut R,
        buf: ReadBuf<'a>,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> ReadExact<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, buf: &'a mut [u8]) -> Self {
        let buf = ReadBuf::new(buf);
        Self {
            reader,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadExact<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read_exact", caller, |cx| {
            let this = self.project();
            if this.buf.remaining() == 0 {
                return raddle_leaf::coop::poll_consume_budget(cx)
                    .map(|()| Ok(this.buf.capacity()));
            }
            while this.buf.remaining() > 0 {
                let before = this.buf.remaining();
                match ready!(Pin::new(&mut **this.reader).poll_read(cx, this.buf)) {
                    Ok(()) if this.buf.remaining() == before => {
                        return Poll::Ready(Err(unexpected_eof()));
                    }
                    Ok(()) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(this.buf.capacity()))
        })
    }
}

/// Returns the error of a stream that ends too early.
pub(super) fn unexpected_eof() -> io::Error {
    io::Error::new(
        ErrorKind::UnexpectedEof,
        "the stream ended before all bytes were read",
    )
}
