//! The socket: constructors and readiness.

use std::future::Future;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, RawSocket};
use std::task::{Context, Poll};

use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest, Ready};

use crate::ToSocketAddrs;
use crate::addr::{no_address, resolve};
use crate::evented::{self, debug_assert_nonblocking};

/// A UDP socket.
///
/// An unconnected socket exchanges datagrams with any address, with [`send_to`](Self::send_to) and
/// [`recv_from`](Self::recv_from). After [`connect`](Self::connect) it can also
/// [`send`](Self::send) and [`recv`](Self::recv), and receives datagrams only from that address.
///
/// A datagram is sent and received as a whole. Bytes that do not fit into the buffer of a receiving
/// call are lost (on Windows the call fails), and a datagram may be empty: `Ok(0)` does not mean an
/// end.
///
/// All methods take `&self`: share the socket in an `Arc`, without splitting it. The `poll_*`
/// methods keep one waker for receiving and one for sending, that of the last caller; any number of
/// tasks may wait in the `async` methods.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::UdpSocket;
///
/// # fn main() { async fn echo() -> std::io::Result<()> {
/// let socket = UdpSocket::bind("127.0.0.1:8080").await?;
/// let mut buffer = [0; 1500];
/// loop {
///     let (length, peer) = socket.recv_from(&mut buffer).await?;
///     socket.send_to(&buffer[..length], peer).await?;
/// }
/// # } }
/// ```
#[derive(Debug)]
pub struct UdpSocket {
    pub(super) io: Evented<mio::net::UdpSocket>,
}

impl UdpSocket {
    /// Binds to the first of the addresses that can be bound. With port 0 the system chooses a free
    /// port; see [`local_addr`](Self::local_addr).
    ///
    /// # Errors
    ///
    /// Returns the error of the last address that was tried:
    ///
    /// - `AddrInUse` if another socket is bound to it.
    /// - `AddrNotAvailable` if no interface of this host has the IP address.
    /// - `PermissionDenied` if the process may not use the port; on Unix those below 1024 are
    ///   reserved.
    ///
    /// If there is no address to try, returns the error of the look-up: see
    /// [`lookup_host`](crate::lookup_host).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves nothing behind; a thread may still be resolving the name.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// println!("bound to {}", socket.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        raddle_leaf::coop::consume_budget().await;
        let addrs = resolve(addr).await?;
        let mut last = None;
        for addr in addrs {
            match mio::net::UdpSocket::bind(addr) {
                Ok(socket) => return UdpSocket::new(socket),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(no_address))
    }

    #[track_caller]
    fn new(socket: mio::net::UdpSocket) -> io::Result<UdpSocket> {
        Ok(UdpSocket {
            io: evented::watch_datagrams(socket, &Handle::current())?,
        })
    }

    /// Converts a socket of std's type, which must be in non-blocking mode, and registers it with
    /// the current reactor.
    ///
    /// # Errors
    ///
    /// Returns an error if the reactor has shut down, or if the system has no memory for the
    /// registration.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`; in debug builds on
    /// Unix also if the socket is in blocking mode.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_nonblocking(true)?;
    /// let socket = UdpSocket::from_std(socket)?;
    /// assert!(socket.local_addr()?.ip().is_loopback());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
        debug_assert_nonblocking(&socket);
        UdpSocket::new(mio::net::UdpSocket::from_std(socket))
    }

    /// Deregisters the socket and converts it into std's type. It stays in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    pub fn into_std(self) -> io::Result<std::net::UdpSocket> {
        Ok(self.io.into_inner()?.into())
    }

    /// Connects to the first of the addresses for which that succeeds. From then on,
    /// [`send`](Self::send) sends to that address, and datagrams from other addresses are ignored.
    /// Connecting sends nothing, so it succeeds even if the peer does not exist.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address that was tried: `NetworkUnreachable` if no interface
    /// leads there, or an uncategorized error if the address is of the other IP version. If there
    /// is no address to try, the error of the look-up: see [`lookup_host`](crate::lookup_host).
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready has not connected the socket.
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
    /// let mut buffer = [0; 16];
    /// assert_eq!(receiver.recv(&mut buffer).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn connect<A: ToSocketAddrs>(&self, addr: A) -> impl Future<Output = io::Result<()>> {
        located("UdpSocket::connect", Resource::Unknown, async move {
            raddle_leaf::coop::consume_budget().await;
            let addrs = resolve(addr).await?;
            let mut last = None;
            for addr in addrs {
                match self.io.connect(addr) {
                    Ok(()) => return Ok(()),
                    Err(error) => last = Some(error),
                }
            }
            Err(last.unwrap_or_else(no_address))
        })
    }

    /// Waits until the socket is ready for any of `interest`, and returns its readiness. A later
    /// operation may still return `WouldBlock`.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn ready(&self, interest: Interest) -> impl Future<Output = io::Result<Ready>> {
        located("UdpSocket::ready", Resource::Unknown, async move {
            self.io.ready(interest).await
        })
    }

    /// Waits until there may be a datagram. Usually followed by [`try_recv`](Self::try_recv) or
    /// [`try_recv_from`](Self::try_recv_from).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UdpSocket;
    /// use std::io::ErrorKind;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let sender = UdpSocket::bind("127.0.0.1:0").await?;
    /// let receiver = UdpSocket::bind("127.0.0.1:0").await?;
    /// sender.connect(receiver.local_addr()?).await?;
    /// sender.send(b"hello").await?;
    /// let mut buffer = [0; 16];
    /// let length = loop {
    ///     receiver.readable().await?;
    ///     match receiver.try_recv(&mut buffer) {
    ///         Ok(length) => break length,
    ///         Err(error) if error.kind() == ErrorKind::WouldBlock => continue,
    ///         Err(error) => return Err(error.into()),
    ///     }
    /// };
    /// assert_eq!(&buffer[..length], b"hello");
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn readable(&self) -> impl Future<Output = io::Result<()>> {
        located("UdpSocket::readable", Resource::Unknown, async move {
            self.ready(Interest::READABLE).await.map(drop)
        })
    }

    /// Waits until there may be room to send. Usually followed by [`try_send`](Self::try_send) or
    /// [`try_send_to`](Self::try_send_to).
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing, and does not clear the readiness.
    #[track_caller]
    pub fn writable(&self) -> impl Future<Output = io::Result<()>> {
        located("UdpSocket::writable", Resource::Unknown, async move {
            self.ready(Interest::WRITABLE).await.map(drop)
        })
    }

    /// The poll function of [`readable`](Self::readable), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_recv_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_read_ready(cx)
    }

    /// The poll function of [`writable`](Self::writable), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns an error of the kind `Other` if the runtime has shut down.
    pub fn poll_send_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.io.poll_write_ready(cx)
    }

    /// Calls `f`, which does I/O on the socket, if the socket is known to be ready for `interest`.
    /// If `f` returns `WouldBlock`, the socket counts as not ready until the next event: return it
    /// only if the socket did. A direction that is closed stays ready.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`, and `WouldBlock` if the socket is not ready.
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        self.io.try_io(interest, |socket| socket.try_io(f))
    }

    /// Calls `f` until it does not return `WouldBlock`, and waits for `interest` in between.
    ///
    /// # Errors
    ///
    /// Returns the errors of `f`.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe if `f` is: when the future is dropped before it is ready, every call of `f` has
    /// returned `WouldBlock`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::io::Interest;
    /// use raddle::net::UdpSocket;
    /// use std::os::fd::AsFd;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let socket = UdpSocket::bind("127.0.0.1:0").await?;
    /// // std's type has the operation; the descriptor stays with `socket`.
    /// let std = std::net::UdpSocket::from(socket.as_fd().try_clone_to_owned()?);
    /// let address = socket.local_addr()?;
    /// let send = || std.send_to(b"hello", address);
    /// assert_eq!(socket.async_io(Interest::WRITABLE, send).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut() -> io::Result<R>,
    ) -> impl Future<Output = io::Result<R>> {
        located("UdpSocket::async_io", Resource::Unknown, async move {
            self.io
                .retry_io(interest, |socket| socket.try_io(&mut f))
                .await
        })
    }
}

impl TryFrom<std::net::UdpSocket> for UdpSocket {
    type Error = io::Error;

    /// The same as [`UdpSocket::from_std`].
    fn try_from(socket: std::net::UdpSocket) -> io::Result<UdpSocket> {
        UdpSocket::from_std(socket)
    }
}

#[cfg(windows)]
impl AsSocket for UdpSocket {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.io.as_socket()
    }
}

#[cfg(windows)]
impl AsRawSocket for UdpSocket {
    fn as_raw_socket(&self) -> RawSocket {
        self.io.as_raw_socket()
    }
}

#[cfg(unix)]
impl AsFd for UdpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for UdpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
