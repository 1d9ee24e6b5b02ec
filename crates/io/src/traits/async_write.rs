//! Writing bytes.

use std::io::{self, Cursor, IoSlice};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A sink for bytes that are written without blocking.
///
/// Call the methods of [`AsyncWriteExt`](crate::AsyncWriteExt).
///
/// If a method returns `Pending`, the waker of `cx` is woken when the caller should try again. Only
/// the waker of the last call is kept.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncWrite, AsyncWriteExt};
/// use std::io;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// A writer that counts bytes and keeps none.
/// #[derive(Default)]
/// struct Count(usize);
///
/// impl AsyncWrite for Count {
///     fn poll_write(
///         mut self: Pin<&mut Self>,
///         _: &mut Context<'_>,
///         buf: &[u8],
///     ) -> Poll<io::Result<usize>> {
///         self.0 += buf.len();
///         Poll::Ready(Ok(buf.len()))
///     }
///
///     fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
///         Poll::Ready(Ok(()))
///     }
///
///     fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
///         Poll::Ready(Ok(()))
///     }
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// let mut count = Count::default();
/// count.write_all(b"text").await.unwrap();
/// assert_eq!(count.0, 4);
/// # });
/// # }
/// ```
#[diagnostic::on_unimplemented(
    note = "a socket or file of std becomes an async one by `from_std`, such as \
            `raddle::net::TcpStream::from_std`",
    note = "a type with `futures_io::AsyncWrite` gets this trait from `raddle::io::compat`, of the \
            feature `futures-io`"
)]
pub trait AsyncWrite {
    /// Tries to write `buf`, and returns how many bytes from its start were written.
    ///
    /// `Ready(Ok(0))` for a `buf` that is not empty means that the sink takes no more bytes, now or
    /// later. `Pending` means that nothing was written.
    ///
    /// The number is at most the length of `buf`. The functions of this crate that use it, such as
    /// `copy` and `write_all`, panic if it is larger.
    ///
    /// # Errors
    ///
    /// Returns the errors of the sink; nothing was written in that case.
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>>;

    /// Tries to write all buffered bytes to their destination.
    ///
    /// # Errors
    ///
    /// Returns the errors of the sink.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Tries to flush, and to end the writing direction.
    ///
    /// A socket closes its writing side, so that the peer reads the end of the stream. Calling it
    /// again after it was ready is allowed; writes after that are expected to fail.
    ///
    /// # Errors
    ///
    /// Returns the errors of the sink.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Like [`poll_write`](Self::poll_write), but writes from several buffers in turn.
    ///
    /// The default writes from the first buffer that is not empty.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`poll_write`](Self::poll_write).
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|buf| !buf.is_empty());
        self.poll_write(cx, first.map_or(&[], |buf| buf))
    }

    /// Returns whether [`poll_write_vectored`](Self::poll_write_vectored) writes more than the
    /// first buffer at once. If not, a caller should copy small buffers into one.
    fn is_write_vectored(&self) -> bool {
        false
    }
}

/// Writes the methods of `AsyncWrite` for a type that passes each call on: to `$pinned`, a pinned
/// writer that `$self` contains, and to `$writer`, the same without the pin.
macro_rules! forward_async_write {
    ($self:ident => $pinned:expr, $writer:expr) => {
        fn poll_write(
            $self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            buf: &[u8],
        ) -> std::task::Poll<std::io::Result<usize>> {
            $pinned.poll_write(cx, buf)
        }

        fn poll_flush(
            $self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            $pinned.poll_flush(cx)
        }

        fn poll_shutdown(
            $self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            $pinned.poll_shutdown(cx)
        }

        fn poll_write_vectored(
            $self: std::pin::Pin<&mut Self>,
            cx: &mut std::task::Context<'_>,
            bufs: &[std::io::IoSlice<'_>],
        ) -> std::task::Poll<std::io::Result<usize>> {
            $pinned.poll_write_vectored(cx, bufs)
        }

        fn is_write_vectored(&$self) -> bool {
            $writer.is_write_vectored()
        }
    };
}

#[cfg(feature = "util")]
pub(crate) use forward_async_write;

impl<T: ?Sized + AsyncWrite + Unpin> AsyncWrite for &mut T {
    forward_async_write!(self => Pin::new(&mut **self.get_mut()), (**self));
}

impl<T: ?Sized + AsyncWrite + Unpin> AsyncWrite for Box<T> {
    forward_async_write!(self => Pin::new(&mut **self.get_mut()), (**self));
}

impl<P> AsyncWrite for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncWrite,
{
    forward_async_write!(self => self.as_deref_mut(), (**self));
}

/// Writes in memory as `std::io::Write` does; there is nothing to flush.
macro_rules! as_std_writes {
    () => {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(io::Write::write(self.get_mut(), buf))
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(io::Write::write_vectored(self.get_mut(), bufs))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }
    };
}

/// Appends.
impl AsyncWrite for Vec<u8> {
    as_std_writes!();
}

/// Writes at the cursor's position, up to the end of the slice.
impl AsyncWrite for Cursor<&mut [u8]> {
    as_std_writes!();
}

/// Writes at the cursor's position, up to the end of the box.
impl AsyncWrite for Cursor<Box<[u8]>> {
    as_std_writes!();
}

/// Writes at the cursor's position; the vector grows as needed.
impl AsyncWrite for Cursor<Vec<u8>> {
    as_std_writes!();
}

/// Writes at the cursor's position; the vector grows as needed.
impl AsyncWrite for Cursor<&mut Vec<u8>> {
    as_std_writes!();
}
