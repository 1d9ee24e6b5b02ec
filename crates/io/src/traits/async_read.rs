//! Reading bytes.

use std::io::{self, Cursor};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::ReadBuf;

/// A source of bytes that are read without blocking.
///
/// Call the methods of [`AsyncReadExt`](crate::AsyncReadExt).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncRead, AsyncReadExt, ReadBuf};
/// use std::io;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// A reader that is always ready, with one byte.
/// struct Ticker(u8);
///
/// impl AsyncRead for Ticker {
///     fn poll_read(
///         mut self: Pin<&mut Self>,
///         _: &mut Context<'_>,
///         buf: &mut ReadBuf<'_>,
///     ) -> Poll<io::Result<()>> {
///         if buf.remaining() > 0 {
///             buf.put_slice(&[self.0]);
///             self.0 += 1;
///         }
///         Poll::Ready(Ok(()))
///     }
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// let mut bytes = [0; 3];
/// Ticker(1).read_exact(&mut bytes).await.unwrap();
/// assert_eq!(bytes, [1, 2, 3]);
/// # });
/// # }
/// ```
#[diagnostic::on_unimplemented(
    note = "a socket or file of std becomes an async one by `from_std`, such as \
            `raddle::net::TcpStream::from_std`",
    note = "a type with `futures_io::AsyncRead` gets this trait from `raddle::io::compat`, of the \
            feature `futures-io`"
)]
pub trait AsyncRead {
    /// Tries to read bytes into the unfilled part of `buf`.
    ///
    /// - `Ready(Ok(()))`: the bytes that were read are in `buf`. If there are none although there
    ///   was room, the source has reached its end.
    /// - `Ready(Err(_))`: nothing was read.
    /// - `Pending`: nothing was read, and the waker of `cx` is woken when the caller should try
    ///   again. Only the waker of the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns the errors of the source; `WouldBlock` is never among them: in that case the result
    /// is `Pending`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncRead, ReadBuf};
    /// use std::future::poll_fn;
    /// use std::pin::Pin;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut input = &b"text"[..];
    /// let mut bytes = [0; 8];
    /// let mut buffer = ReadBuf::new(&mut bytes);
    /// poll_fn(|cx| Pin::new(&mut input).poll_read(cx, &mut buffer)).await?;
    /// assert_eq!(buffer.filled(), b"text");
    /// # Ok(())
    /// # }) }
    /// ```
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>;
}

impl<T: ?Sized + AsyncRead + Unpin> AsyncRead for &mut T {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_read(cx, buf)
    }
}

impl<T: ?Sized + AsyncRead + Unpin> AsyncRead for Box<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut **self).poll_read(cx, buf)
    }
}

impl<P> AsyncRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncRead,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_read(cx, buf)
    }
}

/// Reads from the front of the slice, which becomes shorter.
impl AsyncRead for &[u8] {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let n = self.len().min(buf.remaining());
        let (read, rest) = self.split_at(n);
        buf.put_slice(read);
        *self = rest;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncRead for Cursor<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = io::BufRead::fill_buf(&mut *self)?;
        let n = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..n]);
        io::BufRead::consume(&mut *self, n);
        Poll::Ready(Ok(()))
    }
}
