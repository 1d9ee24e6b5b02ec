//! `AsyncWriteExt::write_buf`.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Buf;
use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::write_all::checked;
use crate::AsyncWrite;

/// Chunks of a buffer written at once.
const MAX_CHUNKS: usize = 64;

pin_project! {
    /// The future of [`AsyncWriteExt::write_buf`](crate::AsyncWriteExt::write_buf), which is cancel
    /// safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WriteBuf<'a, W: ?Sized, B> {
        writer: &'a mut W,
        buf: &'a mut B,
        caller: Caller,
    }
}

impl<'a, W: ?Sized, B> WriteBuf<'a, W, B> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, buf: &'a mut B) -> Self {
        Self {
            writer,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, B: Buf> Future for WriteBuf<'_, W, B> {
    type Output = io::Result<usize>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write_buf", caller, |cx| {
            let this = self.project();
            if !this.buf.has_remaining() {
                return raddle_leaf::coop::poll_consume_budget(cx).map(|()| Ok(0));
            }
            poll_write_from(Pin::new(&mut **this.writer), cx, this.buf)
        })
    }
}

/// Writes once from the start of `buf`, and advances `buf` by the bytes that were written.
pub(super) fn poll_write_from<W: AsyncWrite + ?Sized>(
    writer: Pin<&mut W>,
    cx: &mut Context<'_>,
    buf: &mut impl Buf,
) -> Poll<io::Result<usize>> {
    let (n, given) = if writer.is_write_vectored() {
        let mut chunks = [IoSlice::new(&[]); MAX_CHUNKS];
        let used = buf.chunks_vectored(&mut chunks);
        let chunks = &chunks[..used];
        let n = ready!(writer.poll_write_vectored(cx, chunks))?;
        // `saturating_add`: the lengths of many slices may overflow.
        let add = |total: usize, chunk: &IoSlice<'_>| total.saturating_add(chunk.len());
        (n, chunks.iter().fold(0, add))
    } else {
        let chunk = buf.chunk();
        (ready!(writer.poll_write(cx, chunk))?, chunk.len())
    };
    buf.advance(checked::<W>(n, given));
    Poll::Ready(Ok(n))
}
