//! The halves of a TCP stream.

use std::io;
use std::net::{Shutdown, SocketAddr};
use std::ops::Deref;
use std::task::{Context, Poll};

use raddle_io::ReadBuf;
use raddle_reactor::Evented;

use super::TcpStream;
use crate::halves::{ReadHalfOf, Stream, stream_halves};

stream_halves! {
    TcpStream;

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
    ReuniteError,

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
    reunite,
}

impl<P: Deref<Target = TcpStream>> ReadHalfOf<P> {
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
