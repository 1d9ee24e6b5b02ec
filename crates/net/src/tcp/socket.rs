//! A socket that is neither connected nor listening yet.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use raddle_leaf::misuse::io_at_caller;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Handle;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::{TcpListener, TcpStream};

/// A TCP socket that is neither connected nor listening yet, so that its options can be set first.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::{TcpListener, TcpSocket};
///
/// # fn main() { async fn listen() -> std::io::Result<TcpListener> {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:8080".parse().unwrap())?;
/// socket.listen(1024)
/// # } }
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    pub(crate) socket: Socket,
}

impl TcpSocket {
    /// Makes a socket for IPv4. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// Makes a socket for IPv6. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left, or if the system has
    /// no IPv6.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(TcpSocket { socket })
    }

    /// Converts a socket of std's type, connected or not, to set its options. It must be in
    /// non-blocking mode.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// let stream = std::net::TcpStream::connect(listener.local_addr()?)?;
    /// stream.set_nonblocking(true)?;
    /// let socket = TcpSocket::from_std_stream(stream);
    /// assert!(!socket.keepalive()?);
    /// # Ok(()) }
    /// ```
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        TcpSocket {
            socket: std_stream.into(),
        }
    }

    /// Binds the socket to a local address. With port 0 the system chooses a free port.
    ///
    /// # Errors
    ///
    /// - `AddrInUse` if another socket has the address; see [`set_reuseaddr`](Self::set_reuseaddr).
    /// - `AddrNotAvailable` if no interface of this host has the IP address.
    /// - `PermissionDenied` if the process may not use the port; on Unix those below 1024 are
    ///   reserved.
    /// - `InvalidInput` if the socket is bound already, or is of the other IP version.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.socket.bind(&addr.into())
    }

    /// Connects, and waits for the peer's answer.
    ///
    /// # Errors
    ///
    /// - `ConnectionRefused` if nothing listens at the address.
    /// - `TimedOut`, `HostUnreachable` or `NetworkUnreachable` if there is no answer.
    /// - `AddrNotAvailable` if the system has no free port for this side.
    /// - Any kind if the reactor has shut down or the system has no memory for the registration.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{TcpListener, TcpSocket};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let socket = TcpSocket::new_v4()?;
    /// socket.set_nodelay(true)?;
    /// let stream = socket.connect(listener.local_addr()?).await?;
    /// assert_eq!(stream.peer_addr()?, listener.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn connect(self, addr: SocketAddr) -> impl Future<Output = io::Result<TcpStream>> {
        let connected = located("TcpSocket::connect", Resource::Unknown, async move {
            Handle::check_current()?;
            raddle_leaf::coop::consume_budget().await;
            match self.socket.connect(&addr.into()) {
                Err(error) if !is_under_way(&error) => return Err(error),
                _ => {}
            }
            TcpStream::connecting(mio::net::TcpStream::from_std(self.socket.into())).await
        });
        io_at_caller(connected)
    }

    /// Listens, with a queue of at most `backlog` connections that have not been accepted. The
    /// system may limit the queue further.
    ///
    /// # Errors
    ///
    /// - `AddrInUse` if another socket listens at the address.
    /// - Any kind if the reactor has shut down or the system has no memory for the registration.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let socket = TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse()?)?;
    /// let listener = socket.listen(1024)?;
    /// assert_ne!(listener.local_addr()?.port(), 0);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::new(mio::net::TcpListener::from_std(self.socket.into()))
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        to_inet(self.socket.local_addr()?)
    }

    /// Takes the pending error of the socket (SO_ERROR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the pending error. The pending error itself is
    /// in the `Ok`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }
}

/// Returns whether an attempt to connect continues in the background.
fn is_under_way(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(libc::EINPROGRESS);
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::WouldBlock;
}

/// Converts the address of a socket that is known to be an Internet socket.
pub(crate) fn to_inet(addr: SockAddr) -> io::Result<SocketAddr> {
    addr.as_socket().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an IP address; use a socket type for this kind of address",
        )
    })
}
