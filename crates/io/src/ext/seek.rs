//! `AsyncSeekExt::seek`.

use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncSeek;

pin_project! {
    /// The future of [`AsyncSeekExt::seek`](crate::AsyncSeekExt::seek), which is not cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Seek<'a, S: ?Sized> {
        stream: &'a mut S,
        // The target, until the seek is started.
        position: Option<SeekFrom>,
        caller: Caller,
    }
}

impl<'a, S: ?Sized> Seek<'a, S> {
    #[track_caller]
    pub(super) fn new(stream: &'a mut S, position: SeekFrom) -> Self {
        Self {
            stream,
            position: Some(position),
            caller: Caller::here(),
        }
    }
}

impl<S: AsyncSeek + Unpin + ?Sized> Future for Seek<'_, S> {
    type Output = io::Result<u64>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let caller = self.caller;
        poll_io(cx, "AsyncSeekExt::seek", caller, |cx| {
            let this = self.project();
            let mut stream = Pin::new(&mut **this.stream);
            if let Some(position) = *this.position {
                // A stream cannot start one operation while it is busy with another.
                ready!(stream.as_mut().poll_complete(cx))?;
                stream.as_mut().start_seek(position)?;
                *this.position = None;
            }
            stream.poll_complete(cx)
        })
    }
}
