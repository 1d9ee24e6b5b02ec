//! `AsyncWriteExt::write`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::write`](crate::AsyncWriteExt::write), which is cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Write<'a, W: ?Sized> {
        writer: &'a mut W,
        buf: &'a [u8],
        caller: Caller,
    }
}

impl<'a, W: ?Sized> Write<'a, W> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, buf: &'a [u8]) -> Self {
        Self {
            writer,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for Write<'_, W> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write", caller, |cx| {
            let this = self.project();
            Pin::new(&mut **this.writer).poll_write(cx, this.buf)
        })
    }
}
