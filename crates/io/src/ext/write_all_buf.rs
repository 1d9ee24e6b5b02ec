//! `AsyncWriteExt::write_all_buf`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::write_all::write_zero;
use super::write_buf::poll_write_from;
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::write_all_buf`](crate::AsyncWriteExt::write_all_buf), which
    /// is cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WriteAllBuf<'a, W: ?Sized, B> {
        writer: &'a mut W,
        buf: &'a mut B,
        caller: Caller,
    }
}

impl<'a, W: ?Sized, B> WriteAllBuf<'a, W, B> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, buf: &'a mut B) -> Self {
        Self {
            writer,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, B: Buf> Future for WriteAllBuf<'_, W, B> {
    type Output = io::Result<()>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write_all_buf", caller, |cx| {
            let this = self.project();
            if !this.buf.has_remaining() {
                return raddle_leaf::coop::poll_consume_budget(cx).map(Ok);
            }
            while this.buf.has_remaining() {
                match ready!(poll_write_from(Pin::new(&mut **this.writer), cx, this.buf)) {
                    Ok(0) => return Poll::Ready(Err(write_zero())),
                    Ok(_) => {}
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        })
    }
}
