//! The halves of a Unix stream.

use std::io;
use std::net::Shutdown;

use raddle_reactor::Evented;

use super::{SocketAddr, UnixStream};
use crate::halves::{Stream, stream_halves};

stream_halves! {
    UnixStream;

    ReuniteError,

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
    reunite,
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
