//! The connected socket.

use std::io;
use std::os::unix::net;

use raddle_reactor::{Evented, Handle, Ready};

use super::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use super::{SocketAddr, UCred};
use crate::evented::{self, ByteStream};
use crate::methods::{byte_stream, std_socket, system_handle};
use crate::sys::peer_credentials;

/// A connection of Unix sockets.
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

    /// Makes the stream of a connection that a listener of that reactor has accepted.
    pub(super) fn accepted(
        stream: mio::net::UnixStream,
        handle: &Handle,
    ) -> io::Result<UnixStream> {
        Ok(UnixStream {
            io: evented::watch_accepted(stream, handle)?,
        })
    }

    /// Returns the local address. A stream from [`connect`](Self::connect) or [`pair`](Self::pair)
    /// has an unnamed one.
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
}

std_socket! {
    UnixStream, "stream", stream: net::UnixStream;

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
    from_std,

    into_std,
}

byte_stream! {
    UnixStream;

    ready,

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
    readable,

    writable,

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::AsyncWriteExt;
    /// use raddle::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (mut client, mut server) = UnixStream::pair()?;
    /// // The client sends no more, and still reads.
    /// client.shutdown().await?;
    /// server.read_closed().await?;
    /// server.write_all(b"answer").await?;
    /// // Nothing can be sent any more.
    /// drop(client);
    /// server.both_closed().await?;
    /// # Ok(()) }) }
    /// ```
    read_closed,

    try_read_buf,
    try_read_vectored,
    async_io,

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
    split -> (ReadHalf, WriteHalf),

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
    into_split -> (OwnedReadHalf, OwnedWriteHalf),
}

system_handle!(UnixStream);
