//! `AsyncWriteExt::write_u8` and similar methods.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::write_all::{checked, write_zero};
use crate::AsyncWrite;

pin_project! {
    /// The future of [`AsyncWriteExt::write_u32`](crate::AsyncWriteExt::write_u32) and similar
    /// methods, which is not cancel safe: `B` are the bytes of a number.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct WriteInt<'a, W: ?Sized, B> {
        writer: &'a mut W,
        bytes: B,
        // The number of bytes that were written so far.
        written: usize,
        caller: Caller,
    }
}

impl<'a, W: ?Sized, const N: usize> WriteInt<'a, W, [u8; N]> {
    #[track_caller]
    pub(super) fn new(writer: &'a mut W, bytes: [u8; N]) -> Self {
        Self {
            writer,
            bytes,
            written: 0,
            caller: Caller::here(),
        }
    }
}

impl<W: AsyncWrite + Unpin + ?Sized, const N: usize> Future for WriteInt<'_, W, [u8; N]> {
    type Output = io::Result<()>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let caller = self.caller;
        poll_io(cx, "AsyncWriteExt::write of a number", caller, |cx| {
            let this = self.project();
            while *this.written < N {
                let rest = &this.bytes[*this.written..];
                match ready!(Pin::new(&mut **this.writer).poll_write(cx, rest)) {
                    Ok(0) => return Poll::Ready(Err(write_zero())),
                    Ok(n) => *this.written += checked::<W>(n, N - *this.written),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok(()))
        })
    }
}

/// Writes one method of `AsyncWriteExt` for each number.
macro_rules! number_writers {
    ($($name:ident: $number:ident, $to_bytes:ident, $order:literal;)+) => {
        $(
            #[doc = concat!("Writes the bytes of one `", stringify!($number), "`, ", $order, ".")]
            ///
            /// Interrupted writes are retried.
            ///
            /// # Errors
            ///
            /// Returns `WriteZero` if the writer takes no more bytes; otherwise the writer's error.
            /// Part of the bytes may have been written.
            ///
            /// # Cancel safety
            ///
            /// Not cancel safe: if the future is dropped before completion, it may have written
            /// part of the bytes.
            #[track_caller]
            fn $name(&mut self, n: $number) -> WriteInt<'_, Self, [u8; size_of::<$number>()]>
            where
                Self: Unpin,
            {
                WriteInt::new(self, n.$to_bytes())
            }
        )+
    };
}
pub(super) use number_writers;
