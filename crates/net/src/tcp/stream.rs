//! The connected socket.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use raddle_io::ReadBuf;
use raddle_leaf::misuse::io_at_caller;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest};

use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::ToSocketAddrs;
use crate::addr::{no_address, resolve};
use crate::evented::{self, ByteStream};
use crate::methods::{byte_stream, std_socket, system_handle};
use crate::sys;

/// A TCP connection.
///
/// Read and write it with [`AsyncRead`](raddle_io::AsyncRead) and
/// [`AsyncWrite`](raddle_io::AsyncWrite). Writes are not buffered, so flushing
/// does nothing. Dropping the stream closes the connection;
/// [`poll_shutdown`](raddle_io::AsyncWrite::poll_shutdown) ends only the writing direction.
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
        let connected = located("TcpStream::connect", Resource::Unknown, async move {
            Handle::check_current()?;
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
        });
        io_at_caller(connected)
    }

    async fn connect_to(addr: SocketAddr) -> io::Result<TcpStream> {
        TcpStream::connecting(mio::net::TcpStream::connect(addr)?).await
    }

    /// Waits for the end of an attempt to connect.
    pub(super) async fn connecting(stream: mio::net::TcpStream) -> io::Result<TcpStream> {
        Ok(TcpStream {
            io: evented::watch_connecting(stream, &Handle::current()).await?,
        })
    }

    #[track_caller]
    fn new(stream: mio::net::TcpStream) -> io::Result<TcpStream> {
        Ok(TcpStream {
            io: evented::watch(stream, &Handle::current())?,
        })
    }

    /// Makes the stream of a connection that a listener of that reactor has accepted.
    pub(super) fn accepted(stream: mio::net::TcpStream, handle: &Handle) -> io::Result<TcpStream> {
        Ok(TcpStream {
            io: evented::watch_accepted(stream, handle)?,
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
}

std_socket! {
    TcpStream, "stream", stream: std::net::TcpStream;

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
    from_std,

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
    into_std,
}

byte_stream! {
    TcpStream;

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
    ready,

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
    readable,

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
    writable,

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
    /// client.write_all(b"request").await?;
    /// drop(client);
    /// // Ends although the request was not read.
    /// server.read_closed().await?;
    /// let mut text = String::new();
    /// server.read_to_string(&mut text).await?;
    /// assert_eq!(text, "request");
    /// # Ok(()) }) }
    /// ```
    read_closed,

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
    try_read_buf,

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
    try_read_vectored,

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
    async_io,

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
    split -> (ReadHalf, WriteHalf),

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
    into_split -> (OwnedReadHalf, OwnedWriteHalf),
}

system_handle!(TcpStream);
