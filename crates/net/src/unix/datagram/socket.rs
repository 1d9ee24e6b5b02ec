//! The socket: what it is made from, and what it is ready for.

use std::io;
use std::net::Shutdown;
use std::os::unix::net;
use std::path::Path;

use raddle_reactor::{Evented, Handle, Ready};
use socket2::SockRef;

use crate::evented;
use crate::methods::{datagram_socket, std_socket, system_handle};
use crate::unix::SocketAddr;
use crate::unix::addr::system_addr;

/// A Unix socket for datagrams.
///
/// Datagrams arrive whole and in order, and none is lost: a sender waits while the receiver has no
/// room. Bytes that do not fit into the buffer of a receiving call are lost. A datagram may be
/// empty: `Ok(0)` does not mean an end.
///
/// All methods take `&self`: share the socket in an `Arc`, without splitting it. The `poll_*`
/// methods keep one waker for receiving and one for sending, that of the last caller; in the
/// `async` ones any number of tasks may wait.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::UnixDatagram;
///
/// # fn main() { async fn log() -> std::io::Result<()> {
/// let socket = UnixDatagram::bind("/tmp/log")?;
/// let mut line = Vec::with_capacity(8192);
/// loop {
///     line.clear();
///     socket.recv_buf(&mut line).await?;
///     println!("{}", String::from_utf8_lossy(&line));
/// }
/// # } }
/// ```
#[derive(Debug)]
pub struct UnixDatagram {
    pub(in crate::unix) io: Evented<mio::net::UnixDatagram>,
}

impl UnixDatagram {
    /// Makes a socket with a path, where no file may exist yet. On Linux a path that begins with a
    /// zero byte is a name in the abstract namespace. The file stays when the socket is dropped.
    ///
    /// # Errors
    ///
    /// - `AddrInUse` if there is a file at the path.
    /// - `NotFound` or `PermissionDenied` if the file cannot be made.
    /// - `InvalidInput` if the path is longer than the system allows, about 100 bytes.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.send_to(b"hello", &path).await?;
    /// assert_eq!(receiver.recv(&mut [0; 16]).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixDatagram> {
        // Called before the file exists, because a panic would leave the file behind.
        let handle = Handle::current();
        let addr = system_addr(path.as_ref())?;
        let socket = mio::net::UnixDatagram::unbound()?;
        SockRef::from(&socket).bind(&addr)?;
        Ok(UnixDatagram {
            io: evented::watch_datagrams(socket, &handle)?,
        })
    }

    /// Makes a socket without an address. It can send. It can receive only if another socket is
    /// connected to it, as those of [`pair`](Self::pair) are.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left, or if the reactor has
    /// shut down.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn unbound() -> io::Result<UnixDatagram> {
        UnixDatagram::new(mio::net::UnixDatagram::unbound()?)
    }

    /// Makes two sockets that are connected to each other.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left, or if the reactor has
    /// shut down.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
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
    /// assert_eq!(receiver.recv(&mut [0; 16]).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn pair() -> io::Result<(UnixDatagram, UnixDatagram)> {
        let (one, other) = mio::net::UnixDatagram::pair()?;
        let handle = Handle::current();
        let new = |socket: mio::net::UnixDatagram| {
            let io = evented::watch_datagrams(socket, &handle)?.assuming(Ready::WRITABLE);
            io::Result::Ok(UnixDatagram { io })
        };
        Ok((new(one)?, new(other)?))
    }

    #[track_caller]
    fn new(socket: mio::net::UnixDatagram) -> io::Result<UnixDatagram> {
        Ok(UnixDatagram {
            io: evented::watch_datagrams(socket, &Handle::current())?,
        })
    }

    /// Connects to the socket at a path: from now on [`send`](Self::send) sends there, and
    /// datagrams from other sockets are refused.
    /// On Linux a path that begins with a zero byte is a name in the abstract namespace.
    ///
    /// # Errors
    ///
    /// - `NotFound` if there is no file at the path; `ConnectionRefused` if no socket has it open.
    /// - `PermissionDenied` if the process may not write to that socket.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let receiver = UnixDatagram::bind(&path)?;
    /// let sender = UnixDatagram::unbound()?;
    /// sender.connect(&path)?;
    /// sender.send(b"hello").await?;
    /// assert_eq!(receiver.recv(&mut [0; 16]).await?, 5);
    /// # Ok(()) }) }
    /// ```
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        SockRef::from(&*self.io).connect(&system_addr(path.as_ref())?)
    }

    /// Ends the receiving direction, the sending one, or both.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the socket is not connected.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    /// use std::net::Shutdown;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, _receiver) = UnixDatagram::pair()?;
    /// sender.shutdown(Shutdown::Write)?;
    /// assert!(sender.send(b"hello").await.is_err());
    /// # Ok(()) }) }
    /// ```
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }

    /// Returns the address of this socket.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr::from)
    }

    /// Returns the address that the socket is [connected](Self::connect) to.
    ///
    /// # Errors
    ///
    /// Returns `NotConnected` if the socket is not connected.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr::from)
    }

    /// Takes the pending error of the socket (SO_ERROR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the pending error. The pending error itself is
    /// in the `Ok`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }
}

std_socket! {
    UnixDatagram, "socket", datagram: net::UnixDatagram;

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (socket, _peer) = std::os::unix::net::UnixDatagram::pair()?;
    /// socket.set_nonblocking(true)?;
    /// let socket = UnixDatagram::from_std(socket)?;
    /// # Ok(()) }) }
    /// ```
    from_std,

    into_std,
}

datagram_socket! {
    UnixDatagram;

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixDatagram;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = UnixDatagram::pair()?;
    /// sender.send(b"hello").await?;
    /// receiver.readable().await?;
    /// assert_eq!(receiver.try_recv(&mut [0; 16])?, 5);
    /// # Ok(()) }) }
    /// ```
    readable,

    async_io,
}

system_handle!(UnixDatagram);
