//! `AsyncReadExt::read_buf`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::BufMut;
use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncRead;
use crate::read_buf::poll_read_into;

pin_project! {
    /// The future of [`AsyncReadExt::read_buf`](crate::AsyncReadExt::read_buf), which is cancel
    /// safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadInto<'a, R: ?Sized, B: ?Sized> {
        reader: &'a mut R,
        buf: &'a mut B,
        caller: Caller,
    }
}

impl<'a, R: ?Sized, B: ?Sized> ReadInto<'a, R, B> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, buf: &'a mut B) -> Self {
        Self {
            reader,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<R, B> Future for ReadInto<'_, R, B>
where
    R: AsyncRead + Unpin + ?Sized,
    B: BufMut + ?Sized,
{
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read_buf", caller, |cx| {
            let this = self.project();
            if !this.buf.has_remaining_mut() {
                return raddle_leaf::coop::poll_consume_budget(cx).map(|()| Ok(0));
            }
            poll_read_into(Pin::new(&mut **this.reader), cx, this.buf)
        })
    }
}
