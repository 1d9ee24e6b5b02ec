//! The writing half.

use std::io::{self, IoSlice, Write};
use std::ops::Deref;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_io::AsyncWrite;
use raddle_reactor::Interest;

use super::{EndWriting, ShutdownOnDrop, Stream, half};
use crate::evented::ByteStream;

/// The writing half of a stream, which `P` refers to. It comes from `split` or `into_split`;
/// modules name it `WriteHalf` and `OwnedWriteHalf`.
///
/// Dropping the half of `into_split` ends the writing direction, unless it is forgotten or reunited
/// with the other one; dropping the half of `split` does not. Its methods are the stream's methods
/// of the same names.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt};
/// use raddle::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let client = TcpStream::connect(listener.local_addr()?).await?;
/// let (mut server, _) = listener.accept().await?;
/// let (_reader, mut writer) = client.into_split();
/// writer.write_all(b"hello").await?;
/// // Ends the writing direction. The reading half stays open.
/// drop(writer);
/// let mut text = String::new();
/// server.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct WriteHalfOf<P>(pub(crate) P);

half!(WriteHalfOf);

#[expect(private_bounds, reason = "only streams of this crate can be split")]
impl<P> WriteHalfOf<P>
where
    P: Deref<Target: Stream>,
{
    /// Waits until there is room to write.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    pub async fn writable(&self) -> io::Result<()> {
        self.ready(Interest::WRITABLE).await.map(drop)
    }
}

#[expect(private_bounds, reason = "only streams of this crate can be split")]
impl<P> WriteHalfOf<P>
where
    P: Deref<Target: Stream>,
    for<'a> &'a <P::Target as Stream>::Source: Write,
{
    /// Writes as many bytes as there is room for, without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is none. Other errors are those of the connection, such as
    /// `ConnectionReset`.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.0.io().try_write(buf)
    }

    /// Like [`try_write`](Self::try_write), but writes from several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.0.io().try_write_vectored(bufs)
    }
}

#[expect(private_bounds, reason = "only streams of this crate can be split")]
impl<S: Stream> WriteHalfOf<ShutdownOnDrop<S>> {
    /// Drops the half without ending the writing direction.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncWriteExt};
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// let (mut reader, writer) = client.into_split();
    /// writer.forget();
    /// // The peer sees no end of the stream, and may answer.
    /// server.write_all(b"hello").await?;
    /// let mut buffer = [0; 5];
    /// reader.read_exact(&mut buffer).await?;
    /// # Ok(()) }) }
    /// ```
    pub fn forget(mut self) {
        self.0.on_drop = false;
    }
}

impl<P> AsyncWrite for WriteHalfOf<P>
where
    P: EndWriting + Unpin,
    for<'a> &'a <P::Target as Stream>::Source: Write,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.io().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.0.io().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(raddle_leaf::coop::poll_consume_budget(cx));
        Poll::Ready(self.0.end_writing())
    }
}
