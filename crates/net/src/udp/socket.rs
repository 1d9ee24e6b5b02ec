//! The socket: constructors and readiness.

use std::future::Future;
use std::io;

use raddle_leaf::misuse::io_at_caller;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle};

use crate::ToSocketAddrs;
use crate::addr::first_success;
use crate::evented;
use crate::methods::{datagram_socket, std_socket, system_handle};

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
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<UdpSocket>> {
        io_at_caller(async move {
            Handle::check_current()?;
            let socket = first_success(addr, mio::net::UdpSocket::bind).await?;
            UdpSocket::new(socket)
        })
    }

    #[track_caller]
    fn new(socket: mio::net::UdpSocket) -> io::Result<UdpSocket> {
        Ok(UdpSocket {
            io: evented::watch_datagrams(socket, &Handle::current())?,
        })
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
            first_success(addr, |addr| self.io.connect(addr)).await
        })
    }
}

std_socket! {
    UdpSocket, "socket", socket: std::net::UdpSocket;

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
    from_std,

    into_std,
}

datagram_socket! {
    UdpSocket;

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
    readable,

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
    async_io,
}

system_handle!(UdpSocket);
