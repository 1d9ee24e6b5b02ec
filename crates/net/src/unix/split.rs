//! The halves of a Unix stream.

use std::fmt;
use std::io;
use std::net::Shutdown;

use raddle_primitives::sync::Arc;

use super::{SocketAddr, UnixStream};
use raddle_reactor::Evented;

use crate::halves::{self, NOT_OF_ONE, ReadHalfOf, ShutdownOnDrop, Stream, WriteHalfOf};

/// The reading half of a borrowed stream; see [`UnixStream::split`].
pub type ReadHalf<'a> = ReadHalfOf<&'a UnixStream>;

/// The writing half of a borrowed stream; see [`UnixStream::split`].
///
/// Dropping it does not end the writing direction.
pub type WriteHalf<'a> = WriteHalfOf<&'a UnixStream>;

/// The reading half of a stream; see [`UnixStream::into_split`].
pub type OwnedReadHalf = ReadHalfOf<Arc<UnixStream>>;

/// The writing half of a stream; see [`UnixStream::into_split`].
///
/// Dropping it ends the writing direction, unless it is [forgotten](OwnedWriteHalf::forget) or
/// [reunited](OwnedWriteHalf::reunite).
pub type OwnedWriteHalf = WriteHalfOf<ShutdownOnDrop<UnixStream>>;

/// The error of `reunite`: the halves are not of the same stream. Contains both halves.
#[derive(Debug)]
pub struct ReuniteError(pub OwnedReadHalf, pub OwnedWriteHalf);

impl fmt::Display for ReuniteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NOT_OF_ONE)
    }
}

impl std::error::Error for ReuniteError {}

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
    /// use raddle::net::UnixStream;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (client, _server) = UnixStream::pair()?;
    /// let (reader, writer) = client.into_split();
    /// let client = reader.reunite(writer)?;
    /// # Ok(()) }) }
    /// ```
    pub fn reunite(self, other: OwnedWriteHalf) -> Result<UnixStream, ReuniteError> {
        halves::reunite(self, other).map_err(|(read, write)| ReuniteError(read, write))
    }
}

impl OwnedWriteHalf {
    /// Joins the halves of one stream.
    ///
    /// # Errors
    ///
    /// Returns both halves if they are of different streams.
    pub fn reunite(self, other: OwnedReadHalf) -> Result<UnixStream, ReuniteError> {
        other.reunite(self)
    }
}

impl Stream for UnixStream {
    type Source = mio::net::UnixStream;
    type Addr = SocketAddr;

    fn io(&self) -> &Evented<mio::net::UnixStream> {
        &self.io
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        UnixStream::local_addr(self)
    }

    fn peer_addr(&self) -> io::Result<SocketAddr> {
        UnixStream::peer_addr(self)
    }

    fn shutdown_write(&self) -> io::Result<()> {
        self.io.shutdown(Shutdown::Write)
    }
}
