//! `AsyncWriteExt::write_all`.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::write_all`](crate::AsyncWriteExt::write_all), which is not
    /// cancel safe.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WriteAll<'a, W: ?Sized> {
        writer: &'a mut W,
        // What is still to be written.
        buf: &'a [u8],
        caller: Caller,
    }
}

impl<'a, W: ?Sized> WriteAll<'a, W> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, buf: &'a [u8]) -> Self {
        Self {
            writer,
            buf,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized> Future for WriteAll<'_, W> {
    type Output = io::Result<()>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write_all", caller, |cx| {
            let this = self.project();
            if this.buf.is_empty() {
                return raddle_leaf::coop::poll_consume_budget(cx).map(Ok);
            }
            while !this.buf.is_empty() {
                match ready!(Pin::new(&mut **this.writer).poll_write(cx, this.buf)) {
                    Ok(0) => return Poll::Ready(Err(write_zero())),
                    Ok(n) => *this.buf = &this.buf[checked::<W>(n, this.buf.len())..],
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        })
    }
}

/// Returns `written`, the number that a writer has returned after it was given `given` bytes.
///
/// # Panics
///
/// Panics if the number is too large.
#[inline]
pub(crate) fn checked<W: ?Sized>(written: usize, given: usize) -> usize {
    match written <= given {
        true => written,
        false => too_many::<W>(written, given),
    }
}

#[cold]
fn too_many<W: ?Sized>(written: usize, given: usize) -> ! {
    panic!(
        "a writer, {}, returned that it wrote {written} of {given} bytes; let its poll_write \
         return at most the length of its buffer",
        std::any::type_name::<W>()
    )
}

/// The error of a writer that accepts no more bytes.
pub(crate) fn write_zero() -> io::Error {
    io::Error::new(ErrorKind::WriteZero, "the writer takes no more bytes")
}
