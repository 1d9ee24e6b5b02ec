//! Receiving datagrams.

use std::io;

use raddle_io::ReadBuf;

use super::UnixDatagram;
use crate::methods::receive_datagrams;
use crate::unix::SocketAddr;

receive_datagrams! {
    UnixDatagram, SocketAddr;

    /// Waits for a datagram, and returns the number of its bytes in `buf`.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionReset` if the peer that the socket is connected to has closed its socket
    /// with datagrams unread; an error of any kind if the runtime has shut down.
    recv {
        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::net::UnixDatagram;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        /// let (sender, receiver) = UnixDatagram::pair()?;
        /// sender.send(b"hello").await?;
        /// let mut buffer = [0; 1024];
        /// let length = receiver.recv(&mut buffer).await?;
        /// assert_eq!(&buffer[..length], b"hello");
        /// # Ok(()) }) }
        /// ```
    },

    poll_recv,
    recv_buf,

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = UnixDatagram::pair()?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1024];
    /// let (length, peer) = receiver.recv_from(&mut buffer).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// // The sender is bound to nothing.
    /// assert!(peer.is_unnamed());
    /// # Ok(()) }) }
    /// ```
    recv_from,

    poll_recv_from,
}

/// Uses std's function, though that needs initialised memory: only std can make its address type
/// from a path without a zero after it, and the datagram is lost if its address is refused.
fn recv_from(
    socket: &mio::net::UnixDatagram,
    buf: &mut ReadBuf<'_>,
) -> io::Result<(usize, SocketAddr)> {
    let (bytes, addr) = socket.recv_from(buf.initialize_unfilled())?;
    buf.advance(bytes);
    Ok((bytes, addr.into()))
}
