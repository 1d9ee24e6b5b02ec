//! The listening socket.

use std::future::Future;
use std::io;
use std::net::SocketAddr;

use raddle_leaf::misuse::io_at_caller;
use raddle_reactor::{Evented, Handle};

use super::TcpStream;
use crate::ToSocketAddrs;
use crate::addr::first_success;
use crate::evented;
use crate::methods::{listener, std_socket, system_handle};

/// A TCP socket that listens for connections.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::TcpListener;
///
/// # fn main() { async fn serve() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:8080").await?;
/// loop {
///     let (stream, peer) = listener.accept().await?;
///     println!("{peer} has connected");
///     drop(stream);
/// }
/// # } }
/// ```
#[derive(Debug)]
pub struct TcpListener {
    io: Evented<mio::net::TcpListener>,
}

impl TcpListener {
    /// Listens on the first of the addresses that can be bound. With port 0 the system chooses a
    /// free port; see [`local_addr`](Self::local_addr). Except on Windows, the listener can bind an
    /// address that old connections still use.
    ///
    /// # Errors
    ///
    /// Returns the error of the last address that was tried:
    ///
    /// - `AddrInUse` if another socket listens there.
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
    /// use raddle::net::TcpListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// println!("listening on {}", listener.local_addr()?);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn bind<A: ToSocketAddrs>(addr: A) -> impl Future<Output = io::Result<TcpListener>> {
        io_at_caller(async move {
            Handle::check_current()?;
            let listener = first_success(addr, mio::net::TcpListener::bind).await?;
            TcpListener::new(listener)
        })
    }

    #[track_caller]
    pub(super) fn new(listener: mio::net::TcpListener) -> io::Result<TcpListener> {
        Ok(TcpListener {
            io: evented::watch(listener, &Handle::current())?,
        })
    }

    /// Returns the address that the listener is bound to, with the port that the system has chosen
    /// for port 0.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// Returns the time to live of the packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets the time to live of the packets, in hops (IP_TTL).
    ///
    /// # Errors
    ///
    /// Returns an error if the system does not support the option for this kind of socket, or
    /// refuses the value.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }
}

listener! {
    TcpListener, mio::net::TcpListener::accept;

    /// Waits for a connection and accepts it. Several tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// - `ConnectionAborted` and some other kinds concern one connection, which failed before it
    ///   was accepted. The next call may succeed.
    /// - An uncategorized error (EMFILE, ENFILE) means that the process or the system has no
    ///   descriptor left. Each call returns it at once until a descriptor is closed; the connection
    ///   stays in the queue.
    /// - An error of any kind if the runtime has shut down.
    ///
    /// [`accept_retrying`](Self::accept_retrying) handles the first two for a server.
    accept -> (TcpStream, SocketAddr) {
        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use raddle::net::{TcpListener, TcpStream};
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        /// let listener = TcpListener::bind("127.0.0.1:0").await?;
        /// let client = TcpStream::connect(listener.local_addr()?).await?;
        /// let (server, peer) = listener.accept().await?;
        /// assert_eq!(peer, client.local_addr()?);
        /// assert_eq!(server.peer_addr()?, peer);
        /// # Ok(()) }) }
        /// ```
    }
}

std_socket! {
    TcpListener, "listener", listener: std::net::TcpListener;

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_nonblocking(true)?;
    /// let listener = TcpListener::from_std(listener)?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # Ok(()) }) }
    /// ```
    from_std,

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let listener = listener.into_std()?;
    /// // To accept in a thread that blocks.
    /// listener.set_nonblocking(false)?;
    /// # Ok(()) }) }
    /// ```
    into_std,
}

system_handle!(TcpListener);
