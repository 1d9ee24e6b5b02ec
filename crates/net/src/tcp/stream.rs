//! The connected socket.

use std::future::{Future, poll_fn};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, RawSocket};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use raddle_io::{AsyncRead, AsyncWrite, ReadBuf};
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest, Ready};

use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::ToSocketAddrs;
use crate::addr::{no_address, resolve};
use crate::evented::{self, ByteStream, debug_assert_nonblocking};
use crate::halves::{self, Stream};
use crate::sys;

/// A TCP connection.
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
/// use raddle::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = TcpStream::connect(listener.local_addr()?).await?;
/// let (mut server, _) = listener.accept().await?;
///
/// client.write_all(b"hello").await?;
/// client.shutdown().await?;
/// let mut text = String::new();
/// server.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct TcpStream {
    pub(super) io: Evented<mio::net::TcpStream>,
}

impl TcpStream {
    /// Tries the addresses in order, and connects to the first one that accepts.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address that was tried:
    ///
    /// - `ConnectionRefused` if nothing listens there.
    /// - `TimedOut`, `HostUnreachable` or `NetworkUnreachable` if there is no answer. The system
    ///   decides how long it waits, often minutes; use a `timeout` to wait less.
    /// - `AddrNotAvailable` if the system has no free port for this side.
    ///
    /// If there is no address to try, returns the error of the look-up: see
    /// [`lookup_host`](crate::lookup_host).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// println!("connected to {}", stream.peer_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpStream>> {
        located("TcpStream::connect", Resource::Unknown, async move {
            raddle_leaf::coop::consume_budget().await;
            let addrs = resolve(addr).await?;
            let mut last = None;
            for addr in addrs {
                match TcpStream::connect_to(addr).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) => last = Some(error),
                }
            }
            Err(last.unwrap_or_else(no_address))
        })
    }

    async fn connect_to(addr: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connecting(mio::net::TcpStream::connect(addr)?).await
    }

    /// Waits for the end of an attempt to connect.
    pub(super) async fn connecting(stream: mio::net::TcpStream) -> io::Result<TcpStream> {
        let stream = TcpStream::new(stream)?;
        // The event "writable" shows that the attempt has ended, and the socket's error shows its
        // result.
        poll_fn(|cx| stream.io.poll_write_ready(cx)).await?;
        match stream.take_error()? {
            Some(error) => Err(error),
            None => Ok(stream),
        }
    }

    #[track_caller]
    fn new(stream: mio::net::TcpStream) -> io::Result<TcpStream> {
        Ok(TcpStream {
            io: evented::watch(stream, &Handle::current())?,
        })
    }

    /// Makes the stream of a connection that a listener of that reactor has accepted. The peer has
    /// probably sent bytes already.
    pub(super) fn accepted(stream: mio::net::TcpStream, handle: &Handle) -> io::Result<TcpStream> {
        Ok(TcpStream {
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
    /// use raddle::net::TcpStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// let stream = std::net::TcpStream::connect(listener.local_addr()?)?;
    /// stream.set_nonblocking(true)?;
    /// let stream = TcpStream::from_std(stream)?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<TcpStream> {
        debug_assert_nonblocking(&stream);
        TcpStream::new(mio::net::TcpStream::from_std(stream))
    }

    /// Deregisters the stream and converts it into std's type. It stays in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let stream = stream.into_std()?;
    /// // To use it in a thread that blocks.
    /// stream.set_nonblocking(false)?;
    /// # Ok(()) }) }
    /// ```
    pub fn into_std(self) -> io::Result<std::net::TcpStream> {
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let stream = TcpStream::connect(listener.local_addr()?).await?;
    /// let ready = stream.ready(Interest::READABLE | Interest::WRITABLE).await?;
    /// assert!(ready.is_writable());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        located("TcpStream::ready", Resource::Unknown, async move {
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
    /// use raddle::io::AsyncWriteExt;
    /// use raddle::net::{TcpListener, TcpStream};
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let mut client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, _) = listener.accept().await?;
    /// client.write_all(b"hello").await?;
    /// let mut buffer = [0; 16];
    /// let length = loop {
    ///     server.readable().await?;
    ///     match server.try_read(&mut buffer) {
    ///         Ok(length) => break length,
    ///         // Another task was faster, or the event was about something else.
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
    ///         Err(error) => return Err(error.into()),
    ///     }
    /// };
    /// assert_eq!(&buffer[..length], b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        located("TcpStream::readable", Resource::Unknown, async move {
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpStream};
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// loop {
    ///     client.writable().await?;
    ///     match client.try_write(b"hello") {
    ///         Ok(length) => break assert_eq!(length, 5),
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
    ///         Err(error) => return Err(error.into()),
    ///     }
    /// }
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        located("TcpStream::writable", Resource::Unknown, async move {
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, _) = listener.accept().await?;
    /// client.try_write(b"hello")?;
    /// let mut buffer = Vec::with_capacity(16);
    /// server.readable().await?;
    /// server.try_read_buf(&mut buffer)?;
    /// assert_eq!(buffer, b"hello");
    /// # Ok(()) }) }
    /// ```
    pub fn try_read_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.io.try_read_buf(buf)
    }

    /// Like [`try_read`](Self::try_read), but fills several buffers in turn.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_read`](Self::try_read).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpStream};
    /// use std::io::IoSliceMut;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, _) = listener.accept().await?;
    /// client.try_write(b"hello")?;
    /// let (mut head, mut tail) = ([0; 2], [0; 14]);
    /// let mut buffers = [IoSliceMut::new(&mut head), IoSliceMut::new(&mut tail)];
    /// server.readable().await?;
    /// assert_eq!(server.try_read_vectored(&mut buffers)?, 5);
    /// assert_eq!((&head, &tail[..3]), (b"he", &b"llo"[..]));
    /// # Ok(()) }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::net::{TcpListener, TcpStream};
    /// use std::io::Read;
    /// use std::os::fd::AsFd;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (server, _) = listener.accept().await?;
    /// client.try_write(b"hello")?;
    /// // std's type has the operation, here a read; the descriptor stays with `server`.
    /// let std = server.as_fd().try_clone_to_owned()?;
    /// let mut std = std::net::TcpStream::from(std);
    /// let mut buffer = [0; 16];
    /// let length = server.async_io(Interest::READABLE, || std.read(&mut buffer)).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        located("TcpStream::async_io", Resource::Unknown, async move {
            self.io
                .retry_io(interest, |stream| stream.try_io(&mut f))
                .await
        })
    }

    /// Waits for data and copies it to `buf` without removing it: the next read returns it again.
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a peek removes nothing.
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
    /// let mut client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// client.write_all(b"hello").await?;
    /// let mut buffer = [0; 5];
    /// assert_eq!(server.peek(&mut buffer).await?, 5);
    /// // The bytes are still there.
    /// server.read_exact(&mut buffer).await?;
    /// assert_eq!(&buffer, b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        located("TcpStream::peek", Resource::Unknown, async move {
            self.io
                .async_io(Interest::READABLE, |stream| stream.peek(buf))
                .await
        })
    }

    /// The poll function of [`peek`](Self::peek), for implementing a future. Copies the data to
    /// `buf`, and returns its length.
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_read_io(cx, |stream| stream.try_io(|| sys::peek(stream, buf)))
    }

    /// Splits the stream into a half for reading and one for writing, which borrow it: nothing is
    /// allocated.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::copy;
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// /// Sends back what it receives.
    /// async fn echo(mut stream: TcpStream) -> std::io::Result<u64> {
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
    /// use raddle::net::{TcpListener, TcpStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (mut server, _) = listener.accept().await?;
    /// let (mut reader, mut writer) = client.into_split();
    /// let task = raddle::spawn(async move {
    ///     let mut text = String::new();
    ///     reader.read_to_string(&mut text).await.map(|_| text)
    /// });
    /// server.write_all(b"hello").await?;
    /// server.shutdown().await?;
    /// assert_eq!(task.await??, "hello");
    /// writer.write_all(b"bye").await?;
    /// # Ok(()) }) }
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        halves::split_owned(self)
    }
}

impl AsyncRead for TcpStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.io.poll_read(cx, buf)
    }
}

impl AsyncWrite for TcpStream {
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

impl AsRef<TcpStream> for TcpStream {
    fn as_ref(&self) -> &TcpStream {
        self
    }
}

impl TryFrom<std::net::TcpStream> for TcpStream {
    type Error = io::Error;

    /// The same as [`TcpStream::from_std`].
    fn try_from(stream: std::net::TcpStream) -> io::Result<TcpStream> {
        TcpStream::from_std(stream)
    }
}

#[cfg(windows)]
impl AsSocket for TcpStream {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.io.as_socket()
    }
}

#[cfg(windows)]
impl AsRawSocket for TcpStream {
    fn as_raw_socket(&self) -> RawSocket {
        self.io.as_raw_socket()
    }
}

#[cfg(unix)]
impl AsFd for TcpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for TcpStream {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
