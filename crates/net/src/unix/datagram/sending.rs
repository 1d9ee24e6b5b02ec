//! Sending datagrams.

use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use raddle_reactor::Interest;

use super::UnixDatagram;

impl UnixDatagram {
    /// Sends a datagram to the address the socket is
    /// [connected](Self::connect) to, and says how many bytes it has.
    ///
    /// # Errors
    ///
    /// - `NotConnected` if the socket has no peer.
    /// - `ConnectionRefused` or `ConnectionReset` if the peer's socket is closed.
    /// - An uncategorized error (EMSGSIZE) if the datagram is longer than the system sends.
    /// - Any kind if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the datagram was not sent.
    pub async fn send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io
            .async_io(Interest::WRITABLE, |socket| socket.send(buf))
            .await
    }

    /// As [`send`](Self::send), for implementing a future.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn poll_send(&self, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.io.poll_write_io(cx, |socket| socket.send(buf))
    }

    /// As [`send`](Self::send), without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
    pub fn try_send(&self, buf: &[u8]) -> io::Result<usize> {
        self.io
            .try_io(Interest::WRITABLE, |socket| socket.send(buf))
    }

    /// Sends a datagram to the socket at a path, and says how many bytes it
    /// has.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the datagram was not sent.
    pub async fn send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let target = target.as_ref();
        self.io
            .async_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
            .await
    }

    /// As [`send_to`](Self::send_to), for implementing a future.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        let target = target.as_ref();
        self.io
            .poll_write_io(cx, |socket| socket.send_to(buf, target))
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        self.io
            .try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }
}
