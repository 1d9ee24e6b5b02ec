//! The listening socket.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
#[cfg(windows)]
use std::os::windows::io::{AsRawSocket, AsSocket, BorrowedSocket, RawSocket};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest};

use super::TcpStream;
use crate::ToSocketAddrs;
use crate::accepting::{accept_retrying, explained};
use crate::addr::resolve;
use crate::evented::{self, debug_assert_nonblocking};

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
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        raddle_leaf::coop::consume_budget().await;
        let addrs = resolve(addr).await?;
        let mut last = None;
        for addr in addrs {
            match mio::net::TcpListener::bind(addr) {
                Ok(listener) => return TcpListener::new(listener),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(crate::addr::no_address))
    }

    #[track_caller]
    pub(super) fn new(listener: mio::net::TcpListener) -> io::Result<TcpListener> {
        Ok(TcpListener {
            io: evented::watch(listener, &Handle::current())?,
        })
    }

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
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no connection is lost if the future is dropped.
    ///
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
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(TcpStream, SocketAddr)>> {
        located("TcpListener::accept", Resource::Unknown, async move {
            let (stream, addr) = self
                .io
                .async_io(Interest::READABLE, |listener| listener.accept())
                .await
                .map_err(explained)?;
            Ok((TcpStream::accepted(stream, self.io.handle())?, addr))
        })
    }

    /// Like [`accept`](Self::accept), but for a server that keeps running when single connections
    /// fail or when it runs out of descriptors.
    ///
    /// After an error that concerns one connection, it accepts the next at once. While the process
    /// or the system has no descriptor, memory or permission for one more connection, it tries
    /// again after a pause of 5 ms, which doubles up to 1 s; meanwhile the connections wait in the
    /// listener's queue, and other tasks run. `sleep` waits for the pause, since this layer has no
    /// timer. It may also log, or close idle connections.
    ///
    /// ```no_run
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::TcpListener;
    /// use raddle::time::sleep;
    ///
    /// # fn main() { async fn serve(listener: TcpListener) -> std::io::Result<()> {
    /// loop {
    ///     let (stream, _) = listener.accept_retrying(sleep).await?;
    ///     raddle::spawn(async move { drop(stream) });
    /// }
    /// # } }
    /// ```
    ///
    /// # Errors
    ///
    /// Returns the errors that are permanent: the descriptor is not a listener, or the reactor has
    /// shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no connection is lost if the future is dropped, also during a pause. The next
    /// call begins with the shortest pause.
    pub async fn accept_retrying<S>(
        &self,
        sleep: impl FnMut(Duration) -> S,
    ) -> io::Result<(TcpStream, SocketAddr)>
    where
        S: Future<Output = ()>,
    {
        accept_retrying(|| self.accept(), sleep).await
    }

    /// The poll function of [`accept`](Self::accept), for implementing a future. Only the waker of
    /// the last call is kept.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`accept`](Self::accept).
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.io.poll_read_io(cx, |listener| listener.accept());
        let (stream, addr) = ready!(accepted).map_err(explained)?;
        let stream = TcpStream::accepted(stream, self.io.handle())?;
        Poll::Ready(Ok((stream, addr)))
    }

    /// Converts a listener of std's type, which must be in non-blocking mode, and registers it with
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
    /// use raddle::net::TcpListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    /// listener.set_nonblocking(true)?;
    /// let listener = TcpListener::from_std(listener)?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        debug_assert_nonblocking(&listener);
        TcpListener::new(mio::net::TcpListener::from_std(listener))
    }

    /// Deregisters the listener and converts it into std's type. It stays in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    ///
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
    pub fn into_std(self) -> io::Result<std::net::TcpListener> {
        Ok(self.io.into_inner()?.into())
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

impl TryFrom<std::net::TcpListener> for TcpListener {
    type Error = io::Error;

    /// The same as [`TcpListener::from_std`].
    fn try_from(listener: std::net::TcpListener) -> io::Result<TcpListener> {
        TcpListener::from_std(listener)
    }
}

#[cfg(windows)]
impl AsSocket for TcpListener {
    fn as_socket(&self) -> BorrowedSocket<'_> {
        self.io.as_socket()
    }
}

#[cfg(windows)]
impl AsRawSocket for TcpListener {
    fn as_raw_socket(&self) -> RawSocket {
        self.io.as_raw_socket()
    }
}

#[cfg(unix)]
impl AsFd for TcpListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

#[cfg(unix)]
impl AsRawFd for TcpListener {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}
