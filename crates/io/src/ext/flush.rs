//! `AsyncWriteExt::flush`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::flush`](crate::AsyncWriteExt::flush), which is cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Flush<'a, W: ?Sized> {
        writer: &'a mut W,
        caller: Caller,
    }
}

impl<'a, W: ?Sized> Flush<'a, W> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W) -> Self {
        Self {
            writer,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for Flush<'_, W> {
    type Output = io::Result<()>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::flush", caller, |cx| {
            Pin::new(&mut **self.project().writer).poll_flush(cx)
        })
    }
}
