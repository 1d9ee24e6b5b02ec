//! Receiving datagrams, and peeking at them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use raddle_io::ReadBuf;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Interest;
use socket2::SockRef;

use super::UdpSocket;
use crate::evented::RECEIVED;
use crate::methods::receive_datagrams;
use crate::sys;
use crate::tcp::to_inet;

type Source = mio::net::UdpSocket;

receive_datagrams! {
    UdpSocket, SocketAddr;

    /// Waits for a datagram from the address that the socket is [connected](Self::connect) to, and
    /// returns the number of its bytes in `buf`.
    ///
    /// # Errors
    ///
    /// - `ConnectionRefused` if the socket is connected and the peer's host has reported that an
    ///   earlier datagram reached no socket. The next call may succeed.
    /// - On Windows, an uncategorized error if the datagram is longer than `buf`.
    /// - An error of any kind if the runtime has shut down.
    recv {
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
        /// receiver.connect(sender.local_addr()?).await?;
        /// sender.send(b"hello").await?;
        /// let mut buffer = [0; 1500];
        /// let length = receiver.recv(&mut buffer).await?;
        /// assert_eq!(&buffer[..length], b"hello");
        /// # Ok(()) }) }
        /// ```
    },

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::ReadBuf;
    /// use raddle::net::UdpSocket;
    /// use std::future::poll_fn;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let sender = UdpSocket::bind("127.0.0.1:0").await?;
    /// let receiver = UdpSocket::bind("127.0.0.1:0").await?;
    /// sender.connect(receiver.local_addr()?).await?;
    /// receiver.connect(sender.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1500];
    /// let mut buffer = ReadBuf::new(&mut buffer);
    /// poll_fn(|cx| receiver.poll_recv(cx, &mut buffer)).await?;
    /// assert_eq!(buffer.filled(), b"hello");
    /// # Ok(()) }) }
    /// ```
    poll_recv,

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
    /// receiver.connect(sender.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = Vec::with_capacity(1500);
    /// receiver.recv_buf(&mut buffer).await?;
    /// assert_eq!(buffer, b"hello");
    /// # Ok(()) }) }
    /// ```
    recv_buf,

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
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1500];
    /// let (length, peer) = receiver.recv_from(&mut buffer).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// assert_eq!(peer, sender.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    recv_from,

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::ReadBuf;
    /// use raddle::net::UdpSocket;
    /// use std::future::poll_fn;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let sender = UdpSocket::bind("127.0.0.1:0").await?;
    /// let receiver = UdpSocket::bind("127.0.0.1:0").await?;
    /// sender.connect(receiver.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1500];
    /// let mut buffer = ReadBuf::new(&mut buffer);
    /// let peer = poll_fn(|cx| receiver.poll_recv_from(cx, &mut buffer)).await?;
    /// assert_eq!(buffer.filled(), b"hello");
    /// assert_eq!(peer, sender.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    poll_recv_from,
}

impl UdpSocket {
    /// Waits for a datagram from the address that the socket is [connected](Self::connect) to, and
    /// copies it without removing it: the next call returns it again.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a peek removes nothing.
    ///
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
    /// receiver.connect(sender.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1500];
    /// assert_eq!(receiver.peek(&mut buffer).await?, 5);
    /// // The datagram is still there.
    /// assert_eq!(receiver.recv(&mut buffer).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn peek(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        located("UdpSocket::peek", Resource::Unknown, async move {
            self.io.async_io(RECEIVED, |socket| socket.peek(buf)).await
        })
    }

    /// The poll function of [`peek`](Self::peek), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read_io(cx, |socket| {
            socket.try_io(|| sys::peek(socket, buf)).map(drop)
        })
    }

    /// Like [`peek`](Self::peek), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.peek(buf))
    }

    /// Waits for a datagram, copies it without removing it, and returns its size and the sender's
    /// address.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no datagram is lost if the future is dropped.
    #[track_caller]
    pub fn peek_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        located("UdpSocket::peek_from", Resource::Unknown, async move {
            self.io
                .async_io(RECEIVED, |socket| socket.peek_from(buf))
                .await
        })
    }

    /// The poll function of [`peek_from`](Self::peek_from), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_read_io(cx, |socket| {
            let (_, addr) = socket.try_io(|| sys::peek_from(socket, buf))?;
            to_inet(addr)
        })
    }

    /// Like [`peek_from`](Self::peek_from), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.peek_from(buf))
    }

    /// Waits for a datagram and returns its sender's address, without removing the datagram.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no datagram is lost if the future is dropped.
    ///
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
    /// sender.send(b"hello").await?;
    /// let peer = receiver.peek_sender().await?;
    /// assert_eq!(peer, sender.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn peek_sender(&self) -> impl Future<Output = io::Result<SocketAddr>> {
        located("UdpSocket::peek_sender", Resource::Unknown, async move {
            self.io.async_io(RECEIVED, peek_sender).await
        })
    }

    /// The poll function of [`peek_sender`](Self::peek_sender), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_read_io(cx, peek_sender)
    }

    /// Like [`peek_sender`](Self::peek_sender), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.try_io(Interest::READABLE, peek_sender)
    }
}

fn recv_from(socket: &Source, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SocketAddr)> {
    let (bytes, addr) = socket.try_io(|| sys::datagram_from(socket, buf))?;
    Ok((bytes, to_inet(addr)?))
}

fn peek_sender(socket: &Source) -> io::Result<SocketAddr> {
    to_inet(socket.try_io(|| SockRef::from(socket).peek_sender())?)
}
