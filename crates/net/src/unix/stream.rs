//! The connected socket.

use std::future::Future;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest, Ready};

use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::{SocketAddr, UCred};
use crate::evented::{self, ByteStream, debug_assert_nonblocking};
use crate::halves::{self, Stream};
use crate::sys::peer_credentials;

/// A connection of Unix sockets.
///
/// Read and write it with [`AsyncRead`] and [`AsyncWrite`]. Writes are not buffered, so flushing
/// does nothing. Dropping the stream closes the connection;
/// [`poll_shutdown`](AsyncWrite::poll_shutdown) ends only the writing direction.
///
/// The `poll_*` methods keep one waker for reading and one for writing, that of the last caller.
/// Any number of tasks may wait in the `async` methods that take `&self`.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::io::{AsyncReadExt, AsyncWriteExt};
/// use raddle::net::UnixStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (mut client, mut server) = UnixStream::pair()?;
/// client.write_all(b"hello").await?;
/// client.shutdown().await?;
/// let mut text = String::new();
/// server.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct UnixStream {
    pub(super) io: Evented<mio::net::UnixStream>,
}

impl UnixStream {
    /// Makes two streams that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left, or if the reactor has
    /// shut down.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (client, server) = UnixStream::pair()?;
    /// client.try_write(b"hello")?;
    /// server.readable().await?;
    /// assert_eq!(server.try_read(&mut [0; 16])?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let (one, other) = mio::net::UnixStream::pair()?;
        let handle = Handle::current();
        let new = |stream: mio::net::UnixStream| {
            let io = evented::watch(stream, &handle)?.assuming(Ready::WRITABLE);
            io::Result::Ok(UnixStream { io })
        };
        Ok((new(one)?, new(other)?))
    }

    #[track_caller]
    pub(super) fn new(stream: mio::net::UnixStream) -> io::Result<UnixStream> {
        Ok(UnixStream {
            io: evented::watch(stream, &Handle::current())?,
        })
    }

    /// Makes the stream of a connection that a listener of that reactor has accepted. The peer has
    /// probably sent bytes already.
    pub(super) fn accepted(
        stream: mio::net::UnixStream,
        handle: &Handle,
    ) -> io::Result<UnixStream> {
        Ok(UnixStream {
            io: evented::watch(stream, handle)?.assuming(Ready::READABLE | Ready::WRITABLE),
        })
    }

    /// Converts a stream of std's type, which must be in non-blocking mode, and registers it with
    /// the current reactor.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down, or if the system has no memory for the
    /// registration.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`; in debug builds on
    /// Unix also if the socket is in blocking mode.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (stream, _peer) = std::os::unix::net::UnixStream::pair()?;
    /// stream.set_nonblocking(true)?;
    /// let stream = UnixStream::from_std(stream)?;
    /// assert!(stream.local_addr()?.is_unnamed());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(stream: net::UnixStream) -> io::Result<UnixStream> {
        debug_assert_nonblocking(&stream);
        UnixStream::new(mio::net::UnixStream::from_std(stream))
    }

    /// Deregisters the stream and converts it into std's type. It stays in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    pub fn into_std(self) -> io::Result<net::UnixStream> {
        Ok(self.io.into_inner()?.into())
    }

    /// Waits until the stream is ready for any of `interest`, and returns its readiness. A later
    /// operation may still return `WouldBlock`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        located("UnixStream::ready", Resource::Unknown, async move {
            self.io.ready(interest).await
        })
    }

    /// Waits until there is something to read or the stream has ended. Usually followed by
    /// [`try_read`](Self::try_read).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixStream;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (client, server) = UnixStream::pair()?;
    /// client.try_write(b"hello")?;
    /// let mut buffer = [0; 16];
    /// let length = loop {
    ///     server.readable().await?;
    ///     match server.try_read(&mut buffer) {
    ///         Ok(length) => break length,
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
    ///         Err(error) => return Err(error.into()),
    ///     }
    /// };
    /// assert_eq!(&buffer[..length], b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        located("UnixStream::readable", Resource::Unknown, async move {
            self.ready(Interest::READABLE).await.map(drop)
        })
    }

    /// Waits until there is room to write. Usually followed by [`try_write`](Self::try_write).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        located("UnixStream::writable", Resource::Unknown, async move {
            self.ready(Interest::WRITABLE).await.map(drop)
        })
    }

    /// The poll function of [`readable`](Self::readable), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read_ready(cx)
    }

    /// The poll function of [`writable`](Self::writable), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_write_ready(cx)
    }

    /// Reads what has arrived, without waiting. `Ok(0)` means the end of the stream, or an empty
    /// buffer.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if nothing has arrived; wait with [`readable`](Self::readable). Other
    /// errors are those of the connection, such as `ConnectionReset`.
    pub fn try_read(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.try_read(&mut ReadBuf::new(buf))
    }

    /// Like [`try_read`](Self::try_read), but appends to `buf`, which may be a `Vec` or a
    /// `BytesMut`.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.io.try_read_buf(buf)
    }

    /// Like [`try_read`](Self::try_read), but fills several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    pub fn try_read_vectored(&self, bufs: &mut [IoSliceMut<'_>]) -> io::Result<usize> {
        self.io.try_read_vectored(bufs)
    }

    /// Writes as many bytes as there is room for, without waiting.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is none; wait with [`writable`](Self::writable). Other errors
    /// are those of the connection, such as `ConnectionReset`.
    pub fn try_write(&self, buf: &[u8]) -> io::Result<usize> {
        self.io.try_write(buf)
    }

    /// Like [`try_write`](Self::try_write), but writes from several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_write`](Self::try_write).
    pub fn try_write_vectored(&self, bufs: &[IoSlice<'_>]) -> io::Result<usize> {
        self.io.try_write_vectored(bufs)
    }

    /// Calls `f`, which does I/O on the socket, if the socket is known to be ready for `interest`.
    /// If `f` returns `WouldBlock`, the socket counts as not ready until the next event: return it
    /// only if the socket did. A direction that is closed stays ready.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and `WouldBlock` if the stream is not ready.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        self.io.try_io(interest, |stream| stream.try_io(f))
    }

    /// Calls `f` until it does not return `WouldBlock`, and waits for `interest` in between.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe if `f` is: when the future is dropped before it is ready, every call of `f` has
    /// returned `WouldBlock`.
    #[track_caller]
    pub fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        located("UnixStream::async_io", Resource::Unknown, async move {
            self.io
                .retry_io(interest, |stream| stream.try_io(&mut f))
                .await
        })
    }

    /// Returns the local address. A stream from [`connect`](Self::connect) or [`pair`](Self::pair) has
    /// an unnamed one.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// Returns the address of the peer. A listener has its path; a client usually has no address.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the other side has closed the connection, on some systems.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr)
    }

    /// Returns the credentials that the peer had when it connected or began to listen.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no credentials of the peer, for instance after the peer
    /// has closed the connection.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        peer_credentials(&*self.io)
    }

    /// Takes the pending error of the socket (SO_ERROR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the pending one. The pending error itself is in
    /// the `Ok`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }

    /// Splits the stream into a half for reading and one for writing, which borrow it: nothing is
    /// allocated.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::copy;
    /// use raddle::net::UnixStream;
    ///
    /// /// Sends back what it receives.
    /// async fn echo(mut stream: UnixStream) -> std::io::Result<u64> {
    ///     let (mut reader, mut writer) = stream.split();
    ///     copy(&mut reader, &mut writer).await
    /// }
    /// # fn main() {}
    /// ```
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        halves::split(self)
    }

    /// Splits the stream into halves that can go to different tasks. Dropping the writing half ends
    /// the writing direction; dropping both closes the connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::{AsyncReadExt, AsyncWriteExt};
    /// use raddle::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (client, mut server) = UnixStream::pair()?;
    /// let (mut reader, _writer) = client.into_split();
    /// let task = raddle::spawn(async move { reader.read_u8().await });
    /// server.write_u8(7).await?;
    /// assert_eq!(task.await??, 7);
    /// # Ok(()) }) }
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        halves::split_owned(self)
    }
}

impl AsyncRead for UnixStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.io.poll_read(cx, buf)
    }
}

impl AsyncWrite for UnixStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.io.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        raddle_leaf::coop::poll_consume_budget(cx).map(Ok)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(raddle_leaf::coop::poll_consume_budget(cx));
        Poll::Ready(self.shutdown_write())
    }
}

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}

impl TryFrom<net::UnixStream> for UnixStream {
    type Error = io::Error;

    /// The same as [`UnixStream::from_std`].
    fn try_from(stream: net::UnixStream) -> io::Result<UnixStream> {
        UnixStream::from_std(stream)
    }
}

impl AsFd for UnixStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl AsRawFd for UnixStream {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
