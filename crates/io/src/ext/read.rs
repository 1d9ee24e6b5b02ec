//! `AsyncReadExt::read`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::{AsyncRead, ReadBuf};

pin_project! {
    /// The future of [`AsyncReadExt::read`](crate::AsyncReadExt::read), which is cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Read<'a, R: ?Sized> {
        reader: &'a mut R,
        buf: &'a mut [u8],
        caller: Caller,
    }
}

impl<'a, R: ?Sized> Read<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, buf: &'a mut [u8]) -> Self {
        Self {
            reader,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncRead + Unpin + ?Sized> Future for Read<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read", caller, |cx| {
            let this = self.project();
            let mut buf = ReadBuf::new(this.buf);
            ready!(Pin::new(&mut **this.reader).poll_read(cx, &mut buf))?;
            Poll::Ready(Ok(buf.filled().len()))
        })
    }
}
