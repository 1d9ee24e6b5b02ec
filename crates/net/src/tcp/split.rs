//! The halves of a TCP stream.

use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::task::{Context, Poll};

use raddle_io::ReadBuf;
use raddle_primitives::sync::Arc;

use super::TcpStream;
use raddle_reactor::Evented;

use crate::halves::{self, NOT_OF_ONE, ReadHalfOf, ShutdownOnDrop, Stream, WriteHalfOf};

/// The reading half of a borrowed stream; see [`TcpStream::split`].
pub type ReadHalf<'a> = ReadHalfOf<&'a TcpStream>;

/// The writing half of a borrowed stream; see [`TcpStream::split`].
///
/// Dropping it does not end the writing direction.
pub type WriteHalf<'a> = WriteHalfOf<&'a TcpStream>;

/// The reading half of a stream; see [`TcpStream::into_split`].
pub type OwnedReadHalf = ReadHalfOf<Arc<TcpStream>>;

/// The writing half of a stream; see [`TcpStream::into_split`].
///
/// Dropping it ends the writing direction, unless it is [forgotten](OwnedWriteHalf::forget) or
/// [reunited](OwnedWriteHalf::reunite).
pub type OwnedWriteHalf = WriteHalfOf<ShutdownOnDrop<TcpStream>>;

/// The error of `reunite`: the halves are not of the same stream. Contains both halves.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::{TcpListener, TcpStream};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// let (reader, _) = TcpStream::connect(address).await?.into_split();
/// let (_, writer) = TcpStream::connect(address).await?.into_split();
/// let error = reader.reunite(writer).unwrap_err();
/// // The halves are in the error.
/// assert_ne!(error.0.local_addr()?, error.1.local_addr()?);
/// # Ok(()) }) }
/// ```
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NOT_OF_ONE)
    }
}

impl std::error::Error for ReuniteError {}

impl ReadHalf<'_> {
    /// The same as [`TcpStream::peek`].
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a peek removes nothing.
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buf).await
    }

    /// The same as [`TcpStream::poll_peek`].
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    pub fn poll_peek(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }
}

impl OwnedReadHalf {
    /// Joins the halves of one stream.
    ///
    /// # Errors
    ///
    /// Returns both halves if they are of different streams.
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
    /// let peer = stream.peer_addr()?;
    /// let (reader, writer) = stream.into_split();
    /// let stream = reader.reunite(writer)?;
    /// assert_eq!(stream.peer_addr()?, peer);
    /// # Ok(()) }) }
    /// ```
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<TcpStream, ReuniteError> {
        halves::reunite(self, other).map_err(|(read, write)| ReuniteError(read, write))
    }

    /// The same as [`TcpStream::peek`].
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a peek removes nothing.
    pub async fn peek(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        self.0.peek(buf).await
    }

    /// The same as [`TcpStream::poll_peek`].
    ///
    /// # Errors
    ///
    /// Returns an error of the connection, such as `ConnectionReset`.
    pub fn poll_peek(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        self.0.poll_peek(cx, buf)
    }
}

impl OwnedWriteHalf {
    /// Joins the halves of one stream.
    ///
    /// # Errors
    ///
    /// Returns both halves if they are of different streams.
    pub fn reunite(self, other: OwnedReadHalf) -> Result<TcpStream, ReuniteError> {
        other.reunite(self)
    }
}

impl Stream for TcpStream {
    type Source = mio::net::TcpStream;
    type Addr = SocketAddr;

    fn io(&self) -> &Evented<mio::net::TcpStream> {
        &self.io
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        TcpStream::local_addr(self)
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        TcpStream::peer_addr(self)
    }

    /// A connection that the other side has reset is not an error, because the writing direction
    /// has ended anyway.
    fn shutdown_write(&self) -> io::Result<()> {
        match self.io.shutdown(Shutdown::Write) {
            Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
            result => result,
        }
    }
}
