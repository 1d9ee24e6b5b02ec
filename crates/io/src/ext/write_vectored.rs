//! `AsyncWriteExt::write_vectored`.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::write_vectored`](crate::AsyncWriteExt::write_vectored), which
    /// is cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WriteVectored<'a, 'b, W: ?Sized> {
        writer: &'a mut W,
        bufs: &'a [IoSlice<'b>],
        caller: Caller,
    }
}

impl<'a, 'b, W: ?Sized> WriteVectored<'a, 'b, W> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, bufs: &'a [IoSlice<'b>]) -> Self {
        Self {
            writer,
            bufs,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for WriteVectored<'_, '_, W> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write_vectored", caller, |cx| {
            let this = self.project();
            Pin::new(&mut **this.writer).poll_write_vectored(cx, this.bufs)
        })
    }
}
