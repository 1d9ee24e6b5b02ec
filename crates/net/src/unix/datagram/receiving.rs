//! Receiving datagrams.

use std::future::Future;
use std::io;
use std::task::{Context, Poll};

use bytes::BufMut;
use raddle_io::ReadBuf;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Interest;

use super::UnixDatagram;
use crate::evented::RECEIVED;
use crate::sys;
use crate::unix::SocketAddr;

type Source = mio::net::UnixDatagram;

impl UnixDatagram {
    /// Waits for a datagram, and returns the number of its bytes in `buf`.
    ///
    /// # Errors
    ///
    /// Returns `ConnectionReset` if the peer that the socket is connected to has closed its socket
    /// with datagrams unread; an error of any kind if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no datagram is lost if the future is dropped.
    ///
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
    #[track_caller]
    pub fn recv(&self, buf: &mut [u8]) -> impl Future<Output = io::Result<usize>> {
        located("UnixDatagram::recv", Resource::Unknown, async move {
            self.io.async_io(RECEIVED, |socket| socket.recv(buf)).await
        })
    }

    /// The poll function of [`recv`](Self::recv), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
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

    /// Like [`recv`](Self::recv), but appends to `buf`, which may be a `Vec` or a `BytesMut`. There
    /// must be room for the datagram: a `Vec` grows only if it is full.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no datagram is lost if the future is dropped.
    #[track_caller]
    pub fn recv_buf<B: BufMut>(&self, buf: &mut B) -> impl Future<Output = io::Result<usize>> {
        located("UnixDatagram::recv_buf", Resource::Unknown, async move {
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
    #[track_caller]
    pub fn recv_from(
        &self,
        buf: &mut [u8],
    ) -> impl Future<Output = io::Result<(usize, SocketAddr)>> {
        located("UnixDatagram::recv_from", Resource::Unknown, async move {
            self.io
                .async_io(RECEIVED, |socket| received(socket.recv_from(buf)))
                .await
        })
    }

    /// The poll function of [`recv_from`](Self::recv_from), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
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
            .try_io(Interest::READABLE, |socket| received(socket.recv_from(buf)))
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
        located(
            "UnixDatagram::recv_buf_from",
            Resource::Unknown,
            async move {
                self.io
                    .async_io(RECEIVED, |socket| {
                        sys::fill(buf, |buf| recv_from(socket, buf))
                    })
                    .await
            },
        )
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
}

fn recv(socket: &Source, buf: &mut ReadBuf<'_>) -> io::Result<usize> {
    sys::datagram(socket, buf)
}

/// Uses std's function, though that needs initialised memory: only std can make its address type
/// from a path without a zero after it, and the datagram is lost if its address is refused.
fn recv_from(socket: &Source, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SocketAddr)> {
    let (bytes, addr) = received(socket.recv_from(buf.initialize_unfilled()))?;
    buf.advance(bytes);
    Ok((bytes, addr))
}

fn received(
    result: io::Result<(usize, std::os::unix::net::SocketAddr)>,
) -> io::Result<(usize, SocketAddr)> {
    result.map(|(bytes, addr)| (bytes, addr.into()))
}
