//! `AsyncBufReadExt::read_line`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::read_until::poll_read_until;
use super::text::Text;
use crate::AsyncBufRead;

pin_project! {
    /// The future of [`AsyncBufReadExt::read_line`](crate::AsyncBufReadExt::read_line), which is
    /// not cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadLine<'a, R: ?Sized> {
        reader: &'a mut R,
        text: Text<'a>,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> ReadLine<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, buf: &'a mut String) -> Self {
        let text = Text::new(buf);
        Self {
            reader,
            text,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncBufRead + Unpin + ?Sized> Future for ReadLine<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncBufReadExt::read_line", caller, |cx| {
            let this = self.project();
            let (buf, read) = this.text.parts();
            let result = ready!(poll_read_until(
                Pin::new(&mut **this.reader),
                cx,
                b'\n',
                buf.vec_mut(),
                read
            ));
            Poll::Ready(this.text.finish(result))
        })
    }
}
