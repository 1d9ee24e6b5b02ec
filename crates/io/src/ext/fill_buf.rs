//! `AsyncBufReadExt::fill_buf`.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncBufRead;

pin_project! {
    /// The future of [`AsyncBufReadExt::fill_buf`](crate::AsyncBufReadExt::fill_buf), which is
    /// cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct FillBuf<'a, R: ?Sized> {
        // Taken when the future completes, because the returned slice borrows the reader.
        reader: Option<&'a mut R>,
        caller: Caller,
    }
}

impl<'a, R: ?Sized> FillBuf<'a, R> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R) -> Self {
        let reader = Some(reader);
        Self {
            reader,
            caller: Caller::here(),
        }
    }
}

impl<'a, R: AsyncBufRead + Unpin + ?Sized> Future for FillBuf<'a, R> {
    type Output = io::Result<&'a [u8]>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&'a [u8]>> {
        assert!(
            self.reader.is_some(),
            "the future of fill_buf was polled after it had completed; call fill_buf again"
        );
        let caller = self.caller;
        poll_io(
            cx,
            "AsyncBufReadExt::fill_buf",
            caller,
            |cx| -> Poll<io::Result<&'a [u8]>> {
                // A buffer that is not empty uses no budget.
                let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
                let this = self.project();
                let reader = this.reader.take().expect("it was there before");
                // A returned slice borrows the reader for all of 'a, and then the reader cannot be
                // put back. The first call therefore only shows whether there will be a slice, and
                // the second call gets it: `poll_fill_buf` stays ready and returns the same bytes
                // until they are consumed.
                let filled = Pin::new(&mut *reader).poll_fill_buf(cx);
                if filled.is_ready() {
                    coop.made_progress();
                }
                match filled {
                    Poll::Pending => {
                        *this.reader = Some(reader);
                        Poll::Pending
                    }
                    Poll::Ready(Ok([])) => Poll::Ready(Ok(&[])),
                    Poll::Ready(Ok(_)) => Pin::new(reader).poll_fill_buf(cx),
                    Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
                }
            },
        )
    }
}
