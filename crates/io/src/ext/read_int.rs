//! `AsyncReadExt::read_u8` and similar methods.

use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::poll_io;
use super::read_exact::unexpected_eof;
use crate::{AsyncRead, ReadBuf};

pin_project! {
    /// The future of [`AsyncReadExt::read_u32`](crate::AsyncReadExt::read_u32) and similar methods,
    /// which is not cancel safe: the bytes `B` become a `T`.
    #[derive(Debug)]
    #[project(!Unpin)]
    #[must_use = "futures do nothing unless polled"]
    pub struct ReadInt<'a, R: ?Sized, T, B> {
        reader: &'a mut R,
        bytes: B,
        // The number of bytes that were read so far.
        read: usize,
        from_bytes: fn(B) -> T,
        caller: Caller,
    }
}

impl<'a, R: ?Sized, T, const N: usize> ReadInt<'a, R, T, [u8; N]> {
    #[track_caller]
    pub(super) fn new(reader: &'a mut R, from_bytes: fn([u8; N]) -> T) -> Self {
        Self {
            reader,
            bytes: [0; N],
            read: 0,
            from_bytes,
            caller: Caller::here(),
        }
    }
}

impl<R: AsyncRead + Unpin + ?Sized, T, const N: usize> Future for ReadInt<'_, R, T, [u8; N]> {
    type Output = io::Result<T>;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<T>> {
        let caller = self.caller;
        poll_io(cx, "AsyncReadExt::read of a number", caller, |cx| {
            let this = self.project();
            while *this.read < N {
                let mut buf = ReadBuf::new(&mut this.bytes[*this.read..]);
                match ready!(Pin::new(&mut **this.reader).poll_read(cx, &mut buf)) {
                    Ok(()) if buf.filled().is_empty() => return Poll::Ready(Err(unexpected_eof())),
                    Ok(()) => *this.read += buf.filled().len(),
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Poll::Ready(Err(error)),
                }
            }
            Poll::Ready(Ok((this.from_bytes)(*this.bytes)))
        })
    }
}

/// Writes one method of `AsyncReadExt` for each number.
macro_rules! number_readers {
    ($($name:ident: $number:ident, $from_bytes:ident, $order:literal;)+) => {
        $(
            #[doc = concat!("Reads the bytes of one `", stringify!($number), "`, ", $order, ".")]
            ///
            /// Interrupted reads are retried.
            ///
            /// # Errors
            ///
            /// Returns `UnexpectedEof` if the source ends too early; otherwise the reader's error.
            /// Bytes read before are lost.
            ///
            /// # Cancel safety
            ///
            /// Not cancel safe: if the future is dropped before completion, it may have read part
            /// of the bytes, and these are lost.
            #[track_caller]
            fn $name(&mut self) -> ReadInt<'_, Self, $number, [u8; size_of::<$number>()]>
            where
                Self: Unpin,
            {
                ReadInt::new(self, $number::$from_bytes)
            }
        )+
    };
}
pub(super) use number_readers;
