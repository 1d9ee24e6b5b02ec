//! One stream as a reader and a writer.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_primitives::sync::{Arc, Mutex};

use crate::{AsyncRead, AsyncWrite, ReadBuf};

/// A stream that two halves share.
///
/// Its lock is held only while the stream is polled. The stream is the user's, so this is the only
/// place where user code runs under a lock: a stream that polls one of its own halves inside its
/// poll deadlocks.
type Shared<T> = Arc<Mutex<Pin<Box<T>>>>;

/// The reading half of a stream; comes from [`split`].
pub struct ReadHalf<T> {
    stream: Shared<T>,
}

/// The writing half of a stream; comes from [`split`].
///
/// Dropping it does not shut the stream down; the reading half keeps the stream.
pub struct WriteHalf<T> {
    stream: Shared<T>,
    is_write_vectored: bool,
}

/// Splits a stream into a reader and a writer, which two tasks can use.
///
/// The halves share a lock, which each holds during a poll. If the stream has its own method to
/// split it, as sockets have, that is cheaper.
///
/// # Cancel safety
///
/// The halves have no state of their own: their operations are as cancel safe as those of the
/// stream.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt, duplex, split};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (near, mut far) = duplex(64);
/// let (mut reader, mut writer) = split(near);
/// // The halves can go to different tasks.
/// let task = raddle::spawn(async move { reader.read_u8().await });
/// far.write_u8(7).await?;
/// assert_eq!(task.await??, 7);
/// writer.write_u8(8).await?;
/// assert_eq!(far.read_u8().await?, 8);
/// # Ok(())
/// # }) }
/// ```
pub fn split<T: AsyncRead + AsyncWrite>(stream: T) -> (ReadHalf<T>, WriteHalf<T>) {
    let is_write_vectored = stream.is_write_vectored();
    // UNRANKED: the stream, which may be of any type, is polled under it.
    let stream = Arc::new(Mutex::new(Box::pin(stream)));
    let reader = ReadHalf {
        stream: stream.clone(),
    };
    let writer = WriteHalf {
        stream,
        is_write_vectored,
    };
    (reader, writer)
}

#[allow(
    unsafe_code,
    reason = "the stream need be neither sent nor shared for it"
)]
// SAFETY: a shared reference to a half gives no access to the stream: the methods that take one
// compare pointers, or read a field that does not change.
unsafe impl<T> Sync for ReadHalf<T> {}

#[allow(
    unsafe_code,
    reason = "the stream need be neither sent nor shared for it"
)]
// SAFETY: as for the reading half.
unsafe impl<T> Sync for WriteHalf<T> {}

impl<T> ReadHalf<T> {
    /// Returns whether `other` is the writing half of the same stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        other.is_pair_of(self)
    }

    /// Joins both halves to the original stream.
    ///
    /// # Panics
    ///
    /// Panics if the halves belong to different streams, see [`is_pair_of`](Self::is_pair_of).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncWriteExt, duplex, split};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (near, _far) = duplex(64);
    /// let (reader, writer) = split(near);
    /// let mut near = reader.unsplit(writer);
    /// near.write_all(b"text").await?;
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn unsplit(self, writer: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(
            self.is_pair_of(&writer),
            "the halves belong to different streams; check is_pair_of first"
        );
        drop(writer);
        let stream = Arc::try_unwrap(self.stream)
            .ok()
            .expect("a stream has two halves only");
        *Pin::into_inner(stream.into_inner())
    }
}

impl<T> WriteHalf<T> {
    /// Returns whether `other` is the reading half of the same stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        Arc::ptr_eq(&self.stream, &other.stream)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.stream.lock().as_mut().poll_read(cx, buf)
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream.lock().as_mut().poll_write(cx, buf)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.lock().as_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream.lock().as_mut().poll_shutdown(cx)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream.lock().as_mut().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.is_write_vectored
    }
}

impl<T> fmt::Debug for ReadHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadHalf").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for WriteHalf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteHalf").finish_non_exhaustive()
    }
}
