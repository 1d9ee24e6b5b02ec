//! Sending datagrams.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Interest;

use super::UdpSocket;
use crate::ToSocketAddrs;
use crate::addr::{no_address, resolve};
use crate::methods::send_datagrams;

send_datagrams! {
    UdpSocket;

    /// Sends a datagram to the address the socket is [connected](Self::connect) to, and returns the
    /// number of bytes.
    ///
    /// # Errors
    ///
    /// - `NotConnected`, or an uncategorized error (EDESTADDRREQ), if the socket has no peer.
    /// - `ConnectionRefused` if the socket is connected and the peer's host has reported that an
    ///   earlier datagram reached no socket. The next call may succeed.
    /// - An uncategorized error (EMSGSIZE) if the datagram is longer than the system sends.
    /// - `PermissionDenied` for a broadcast without [`set_broadcast`](Self::set_broadcast), and
    ///   `NetworkUnreachable` or `HostUnreachable` without a route.
    /// - An error of any kind if the runtime has shut down.
    send {
        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::net::UdpSocket;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        /// let sender = UdpSocket::bind("127.0.0.1:0").await?;
        /// let receiver = UdpSocket::bind("127.0.0.1:0").await?;
        /// sender.connect(receiver.local_addr()?).await?;
        /// assert_eq!(sender.send(b"hello").await?, 5);
        /// assert_eq!(receiver.recv(&mut [0; 1500]).await?, 5);
        /// # Ok(()) }) }
        /// ```
    }
}

impl UdpSocket {
    /// Sends a datagram to the first of the addresses, and returns the number of bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the name cannot be looked up or has no address; otherwise as
    /// [`send`](Self::send).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the datagram was not sent.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// let address = socket.local_addr()?;
    /// assert_eq!(socket.send_to(b"hello", address).await?, 5);
    /// assert_eq!(socket.recv(&mut [0; 1500]).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn send_to<A: ToSocketAddrs>(
        &self,
        buf: &[u8],
        addr: A,
    ) -> impl Future<Output = io::Result<usize>> {
        located("UdpSocket::send_to", Resource::Unknown, async move {
            let Some(target) = resolve(addr).await?.next() else {
                raddle_leaf::coop::consume_budget().await;
                return Err(no_address());
            };
            self.io
                .async_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
                .await
        })
    }

    /// The poll function of [`send_to`](Self::send_to), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send`](Self::send).
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_write_io(cx, |socket| socket.send_to(buf, target))
    }

    /// Like [`send_to`](Self::send_to), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io
            .try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }
}
