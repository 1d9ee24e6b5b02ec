//! A socket that is neither connected nor listening yet.

use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::{TcpListener, TcpStream};

/// A TCP socket that is neither connected nor listening yet, so that its
/// options can be set before it is.
///
/// ```no_run
/// use raddle_net::{TcpListener, TcpSocket};
///
/// # async fn listen() -> std::io::Result<TcpListener> {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:8080".parse().unwrap())?;
/// socket.listen(1024)
/// # }
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    pub(super) socket: Socket,
}

impl TcpSocket {
    /// Makes a socket for IPv4. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn new_v4() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV4)
    }

    /// Makes a socket for IPv6. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn new_v6() -> io::Result<TcpSocket> {
        TcpSocket::new(Domain::IPV6)
    }

    fn new(domain: Domain) -> io::Result<TcpSocket> {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(TcpSocket { socket })
    }

    /// Takes over a socket of std's, connected or not, to set its options. It
    /// must be in non-blocking mode.
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        TcpSocket {
            socket: std_stream.into(),
        }
    }

    /// Binds it to a local address. Port 0 asks for a free port.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.socket.bind(&addr.into())
    }

    /// Connects, and waits until the other side has answered.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    ///
    /// # Panics
    ///
    /// If no reactor is current.
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        match self.socket.connect(&addr.into()) {
            Err(error) if !is_under_way(&error) => return Err(error),
            _ => {}
        }
        TcpStream::connecting(mio::net::TcpStream::from_std(self.socket.into())).await
    }

    /// Listens, with room for `backlog` connections that nobody has accepted
    /// yet; the system has a limit of its own to that.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    ///
    /// # Panics
    ///
    /// If no reactor is current.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::new(mio::net::TcpListener::from_std(self.socket.into()))
    }

    /// The address it is bound to.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        to_inet(self.socket.local_addr()?)
    }

    /// The error that the socket has not reported yet, which is cleared by
    /// this.
    ///
    /// # Errors
    ///
    /// Those of the operating system.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }
}

/// Whether an attempt to connect goes on in the background.
fn is_under_way(error: &io::Error) -> bool {
    #[cfg(unix)]
    return error.raw_os_error() == Some(libc::EINPROGRESS);
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::WouldBlock;
}

/// The address of a socket that is known to be of the Internet.
pub(crate) fn to_inet(addr: SockAddr) -> io::Result<SocketAddr> {
    addr.as_socket().ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::InvalidInput,
            "not an address of the Internet; use a socket of its own kind",
        )
    })
}

#[cfg(unix)]
impl From<OwnedFd> for TcpSocket {
    /// Takes over a TCP socket, which must be in non-blocking mode.
    fn from(fd: OwnedFd) -> TcpSocket {
        TcpSocket { socket: fd.into() }
    }
}

#[cfg(unix)]
impl AsFd for TcpSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

#[cfg(unix)]
impl IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> RawFd {
        self.socket.into_raw_fd()
    }
}
