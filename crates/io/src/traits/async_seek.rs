//! Moving to a position.

use std::io::{self, Cursor, SeekFrom};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A stream of bytes with a position that can be moved without blocking.
///
/// A seek has two steps: it is started, and then polled until it is complete. Call the methods of
/// [`AsyncSeekExt`](crate::AsyncSeekExt).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncSeek, AsyncSeekExt};
/// use std::io::{self, Cursor, SeekFrom};
///
/// /// The size of anything that can be sought in.
/// async fn size<S: AsyncSeek + Unpin>(stream: &mut S) -> io::Result<u64> {
///     let position = stream.stream_position().await?;
///     let size = stream.seek(SeekFrom::End(0)).await?;
///     stream.seek(SeekFrom::Start(position)).await?;
///     Ok(size)
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// assert_eq!(size(&mut Cursor::new(b"text")).await.unwrap(), 4);
/// # });
/// # }
/// ```
pub trait AsyncSeek {
    /// Starts to move to `position`, in bytes.
    ///
    /// Call [`poll_complete`](Self::poll_complete) until it is ready for the result, before any
    /// other operation on the stream. Seeking beyond the end is allowed; its effect depends on the
    /// stream.
    ///
    /// # Errors
    ///
    /// Returns an error if it cannot be started, for instance because another operation is under
    /// way: call [`poll_complete`](Self::poll_complete) first.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncSeek;
    /// use std::future::poll_fn;
    /// use std::io::{Cursor, SeekFrom};
    /// use std::pin::Pin;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let mut stream = Cursor::new(b"text");
    /// Pin::new(&mut stream).start_seek(SeekFrom::Start(2))?;
    /// let position = poll_fn(|cx| Pin::new(&mut stream).poll_complete(cx)).await?;
    /// assert_eq!(position, 2);
    /// # Ok(())
    /// # }) }
    /// ```
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()>;

    /// Completes the seek that was started, and returns the new position, in bytes from the start.
    ///
    /// If no seek was started, it waits for other operations that are under way; the position it
    /// returns is then unspecified.
    ///
    /// When it is `Pending`, the waker of `cx` is woken when the caller should try again. Only the
    /// waker of the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns the errors of the stream, and `InvalidInput` for a position before the start.
    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>>;
}

impl<T: ?Sized + AsyncSeek + Unpin> AsyncSeek for &mut T {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        Pin::new(&mut **self).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut **self).poll_complete(cx)
    }
}

impl<T: ?Sized + AsyncSeek + Unpin> AsyncSeek for Box<T> {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        Pin::new(&mut **self).start_seek(position)
    }

    fn poll_complete(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Pin::new(&mut **self).poll_complete(cx)
    }
}

impl<P> AsyncSeek for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncSeek,
{
    fn start_seek(self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        self.as_deref_mut().start_seek(position)
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        self.as_deref_mut().poll_complete(cx)
    }
}

/// Moves at once; there is nothing to complete.
impl<T: AsRef<[u8]> + Unpin> AsyncSeek for Cursor<T> {
    fn start_seek(mut self: Pin<&mut Self>, position: SeekFrom) -> io::Result<()> {
        io::Seek::seek(&mut *self, position).map(drop)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.position()))
    }
}
