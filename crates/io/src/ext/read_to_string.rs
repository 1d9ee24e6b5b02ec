//! `AsyncReadExt::read_to_string`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::read_to_end::poll_read_to_end;
use super::text::Text;
use crate::AsyncRead;

pin_project! {
    /// The future of [`AsyncReadExt::read_to_string`](crate::AsyncReadExt::read_to_string), which
    /// is not cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadToString<'a, R: ?Sized> {
        reader: &'a mut R,
        text: Text<'a>,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> ReadToString<'a, R> {
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

impl<R: AsyncRead + Unpin + ?Sized> Future for ReadToString<'_, R> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read_to_string", caller, |cx| {
            let this = self.project();
            let (buf, read) = this.text.parts();
            let result = ready!(poll_read_to_end(
                Pin::new(&mut **this.reader),
                cx,
                buf,
                read
            ));
            Poll::Ready(this.text.finish_whole(result))
        })
    }
}
