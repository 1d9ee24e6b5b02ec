//! Sending datagrams.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use raddle_reactor::Interest;

use super::UdpSocket;
use crate::ToSocketAddrs;
use crate::addr::{no_address, resolve};

impl UdpSocket {
    /// Sends a datagram to the address the socket is
    /// [connected](Self::connect) to, and says how many bytes it has.
    ///
    /// # Errors
    ///
    /// Those of the operating system: one may be about an earlier datagram,
    /// which nobody received.
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

    /// Sends a datagram to the first of the addresses, and says how many bytes
    /// it has.
    ///
    /// # Errors
    ///
    /// If the name cannot be looked up or has no address; otherwise as
    /// [`send`](Self::send).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the datagram was not sent.
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let target = resolve(addr).await?.next().ok_or_else(no_address)?;
        self.io
            .async_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
            .await
    }

    /// As [`send_to`](Self::send_to), for implementing a future.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_write_io(cx, |socket| socket.send_to(buf, target))
    }

    /// As [`send_to`](Self::send_to), without waiting.
    ///
    /// # Errors
    ///
    /// `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io
            .try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }
}
