//! Reading from the source's own buffer.

use std::io::{self, Cursor};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::AsyncRead;

/// A source of bytes with a buffer that can be inspected before it is consumed.
///
/// Call the methods of [`AsyncBufReadExt`](crate::AsyncBufReadExt).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncBufRead, AsyncBufReadExt};
///
/// /// Counts the lines of anything that is buffered.
/// async fn count<R: AsyncBufRead + Unpin>(reader: R) -> std::io::Result<usize> {
///     let mut lines = reader.lines();
///     let mut count = 0;
///     while lines.next_line().await?.is_some() {
///         count += 1;
///     }
///     Ok(count)
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// assert_eq!(count(&b"one\ntwo"[..]).await.unwrap(), 2);
/// # });
/// # }
/// ```
pub trait AsyncBufRead: AsyncRead {
    /// Returns the buffered bytes. If there are none, reads from the source first.
    ///
    /// An empty slice means that the source has reached its end. As long as there are bytes that
    /// have not been [consumed](Self::consume), the method is ready and returns them again.
    ///
    /// When it is `Pending`, the waker of `cx` is woken when the caller should try again. Only the
    /// waker of the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns the errors of the source.
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>>;

    /// Removes the first `amt` bytes from the buffer.
    ///
    /// They must be among the bytes that the last [`poll_fill_buf`](Self::poll_fill_buf) returned;
    /// otherwise this may panic.
    fn consume(self: Pin<&mut Self>, amt: usize);
}

impl<T: ?Sized + AsyncBufRead + Unpin> AsyncBufRead for &mut T {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Pin::new(&mut **self.get_mut()).poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        Pin::new(&mut **self).consume(amt);
    }
}

impl<T: ?Sized + AsyncBufRead + Unpin> AsyncBufRead for Box<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Pin::new(&mut **self.get_mut()).poll_fill_buf(cx)
    }

    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        Pin::new(&mut **self).consume(amt);
    }
}

impl<P> AsyncBufRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncBufRead,
{
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.as_deref_mut().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.as_deref_mut().consume(amt);
    }
}

/// The slice is its own buffer.
impl AsyncBufRead for &[u8] {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(*self))
    }

    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        *self = &self[amt..];
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncBufRead for Cursor<T> {
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(io::BufRead::fill_buf(self.get_mut()))
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        io::BufRead::consume(self.get_mut(), amt);
    }
}
