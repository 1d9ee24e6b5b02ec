//! Receiving datagrams, and peeking at them.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};

use bytes::BufMut;
use raddle_io::ReadBuf;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Interest;
use socket2::SockRef;

use super::UdpSocket;
use crate::evented::RECEIVED;
use crate::sys;
use crate::tcp::to_inet;

type Source = mio::net::UdpSocket;

impl UdpSocket {
    /// Waits for a datagram from the address that the socket is [connected](Self::connect) to, and
    /// returns the number of its bytes in `buf`.
    ///
    /// # Errors
    ///
    /// - `ConnectionRefused` if the socket is connected and the peer's host has reported that an
    ///   earlier datagram reached no socket. The next call may succeed.
    /// - On Windows, an uncategorized error if the datagram is longer than `buf`.
    /// - An error of any kind if the runtime has shut down.
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
    /// receiver.connect(sender.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 1500];
    /// let length = receiver.recv(&mut buffer).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        located("UdpSocket::recv", Resource::Unknown, async move {
            self.io.async_io(RECEIVED, |socket| socket.recv(buf)).await
        })
    }

    /// The poll function of [`recv`](Self::recv), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
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
    pub fn poll_recv(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.io
            .poll_read_io(cx, |socket| recv(socket, buf).map(drop))
    }

    /// Like [`recv`](Self::recv), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is none; otherwise as [`recv`](Self::recv).
    pub fn try_recv(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.recv(buf))
    }

    /// Like [`recv`](Self::recv), but appends to `buf`, which may be a `Vec` or a `BytesMut`.
    /// Reserve enough room for the datagram first: a `Vec` grows only if it is full.
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
    /// receiver.connect(sender.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = Vec::with_capacity(1500);
    /// receiver.recv_buf(&mut buffer).await?;
    /// assert_eq!(buffer, b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn recv_buf<B: BufMut>(&self, buf: &mut B) -> impl Future<Output = io::Result<usize>> {
        located("UdpSocket::recv_buf", Resource::Unknown, async move {
            self.io
                .async_io(RECEIVED, |socket| sys::fill(buf, |buf| recv(socket, buf)))
                .await
        })
    }

    /// Like [`recv_buf`](Self::recv_buf), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_recv_buf<B: BufMut>(&self, buf: &mut B) -> io::Result<usize> {
        self.io.try_io(Interest::READABLE, |socket| {
            sys::fill(buf, |buf| recv(socket, buf))
        })
    }

    /// Waits for a datagram, and returns the number of its bytes in `buf` and the sender's address.
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
    /// let mut buffer = [0; 1500];
    /// let (length, peer) = receiver.recv_from(&mut buffer).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// assert_eq!(peer, sender.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn recv_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        located("UdpSocket::recv_from", Resource::Unknown, async move {
            self.io
                .async_io(RECEIVED, |socket| socket.recv_from(buf))
                .await
        })
    }

    /// The poll function of [`recv_from`](Self::recv_from), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
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
    pub fn poll_recv_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        self.io
            .poll_read_io(cx, |socket| Ok(recv_from(socket, buf)?.1))
    }

    /// Like [`recv_from`](Self::recv_from), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.recv_from(buf))
    }

    /// Like [`recv_from`](Self::recv_from), but appends to `buf` as [`recv_buf`](Self::recv_buf)
    /// does.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no datagram is lost if the future is dropped.
    #[track_caller]
    pub fn recv_buf_from<B: BufMut>(
        &self,
        buf: &mut B,
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        located("UdpSocket::recv_buf_from", Resource::Unknown, async move {
            self.io
                .async_io(RECEIVED, |socket| {
                    sys::fill(buf, |buf| recv_from(socket, buf))
                })
                .await
        })
    }

    /// Like [`recv_buf_from`](Self::recv_buf_from), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_recv`](Self::try_recv).
    pub fn try_recv_buf_from<B: BufMut>(&self, buf: &mut B) -> io::Result<(usize, SocketAddr)> {
        self.io.try_io(Interest::READABLE, |socket| {
            sys::fill(buf, |buf| recv_from(socket, buf))
        })
    }

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

fn recv(socket: &Source, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    socket.try_io(|| sys::datagram(socket, buf))
}

fn recv_from(socket: &Source, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SocketAddr)> {
    let (bytes, addr) = socket.try_io(|| sys::datagram_from(socket, buf))?;
    Ok((bytes, to_inet(addr)?))
}

fn peek_sender(socket: &Source) -> io::Result<SocketAddr> {
    to_inet(socket.try_io(|| SockRef::from(socket).peek_sender())?)
}
