//! The listening socket.

use std::future::Future;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net;
use std::path::Path;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_leaf::wait::{Resource, located};
use raddle_reactor::{Evented, Handle, Interest};

use super::addr::of_path;
use super::{SocketAddr, UnixStream};
use crate::accepting::{accept_retrying, explained};
use crate::evented::{self, debug_assert_nonblocking};

/// A Unix socket that listens for connections.
///
/// Binding creates a file, which stays when the listener is dropped; remove it before binding to
/// the same path again.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::UnixListener;
///
/// # fn main() { async fn serve() -> std::io::Result<()> {
/// let listener = UnixListener::bind("/tmp/greeter")?;
/// loop {
///     let (stream, _) = listener.accept().await?;
///     println!("user {} has connected", stream.peer_cred()?.uid());
/// }
/// # } }
/// ```
#[derive(Debug)]
pub struct UnixListener {
    io: Evented<mio::net::UnixListener>,
}

impl UnixListener {
    /// Listens at a path, where no file may exist yet. On Linux a path that begins with a zero byte
    /// is a name in the abstract namespace.
    ///
    /// # Errors
    ///
    /// - `AddrInUse` if there is a file at the path, even a socket without a listener.
    /// - `NotFound` or `PermissionDenied` if the file cannot be made.
    /// - `InvalidInput` if the path is longer than the system allows, about 100 bytes.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn bind<P: AsRef<Path>>(path: P) -> io::Result<UnixListener> {
        UnixListener::bind_addr(&of_path(path.as_ref())?.into())
    }

    /// Like [`bind`](Self::bind), but takes a [`SocketAddr`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`bind`](Self::bind).
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixListener;
    /// use std::os::unix::net::SocketAddr;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let address = SocketAddr::from_pathname(&path)?;
    /// let listener = UnixListener::bind_addr(&address.into())?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        // Called before the file exists, because a panic would leave the file behind.
        let handle = Handle::current();
        // mio's own function cuts a name that begins with a zero byte.
        let listener = net::UnixListener::bind_addr(&socket_addr.0)?;
        listener.set_nonblocking(true)?;
        let listener = mio::net::UnixListener::from_std(listener);
        Ok(UnixListener {
            io: evented::watch(listener, &handle)?,
        })
    }

    #[track_caller]
    pub(super) fn new(listener: mio::net::UnixListener) -> io::Result<UnixListener> {
        Ok(UnixListener {
            io: evented::watch(listener, &Handle::current())?,
        })
    }

    /// Waits for a connection and accepts it. Several tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// - An uncategorized error (EMFILE, ENFILE) means that the process or the system has no
    ///   descriptor left. Each call returns it at once until a descriptor is closed; the connection
    ///   stays in the queue. [`accept_retrying`](Self::accept_retrying) handles it.
    /// - Any kind if the runtime has shut down.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: no connection is lost if the future is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::{UnixListener, UnixStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let listener = UnixListener::bind(&path)?;
    /// let client = UnixStream::connect(&path).await?;
    /// let (server, _) = listener.accept().await?;
    /// client.try_write(b"hello")?;
    /// server.readable().await?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn accept(&self) -> impl Future<Output = io::Result<(UnixStream, SocketAddr)>> {
        located("UnixListener::accept", Resource::Unknown, async move {
            let accepted = self.io.async_io(Interest::READABLE, accept).await;
            let (stream, addr) = accepted.map_err(explained)?;
            Ok((UnixStream::accepted(stream, self.io.handle())?, addr))
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
    /// use raddle::net::UnixListener;
    /// use raddle::time::sleep;
    ///
    /// # fn main() { async fn serve(listener: UnixListener) -> std::io::Result<()> {
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
    ) -> io::Result<(UnixStream, SocketAddr)>
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
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let (stream, addr) = ready!(self.io.poll_read_io(cx, accept)).map_err(explained)?;
        let stream = UnixStream::accepted(stream, self.io.handle())?;
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
    /// use raddle::net::UnixListener;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let listener = std::os::unix::net::UnixListener::bind(&path)?;
    /// listener.set_nonblocking(true)?;
    /// let listener = UnixListener::from_std(listener)?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn from_std(listener: net::UnixListener) -> io::Result<UnixListener> {
        debug_assert_nonblocking(&listener);
        UnixListener::new(mio::net::UnixListener::from_std(listener))
    }

    /// Deregisters the listener and converts it into std's type. It stays in non-blocking mode.
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot deregister the descriptor.
    pub fn into_std(self) -> io::Result<net::UnixListener> {
        Ok(self.io.into_inner()?.into())
    }

    /// Returns the address that the listener is bound to.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no memory for the result.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// Takes the pending error of the socket (SO_ERROR).
    ///
    /// # Errors
    ///
    /// Returns an error if the system cannot report the pending one. The pending error itself is in
    /// the `Ok`.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.io.take_error()
    }
}

impl TryFrom<net::UnixListener> for UnixListener {
    type Error = io::Error;

    /// The same as [`UnixListener::from_std`].
    fn try_from(listener: net::UnixListener) -> io::Result<UnixListener> {
        UnixListener::from_std(listener)
    }
}

impl AsFd for UnixListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.io.as_fd()
    }
}

impl AsRawFd for UnixListener {
    fn as_raw_fd(&self) -> RawFd {
        self.io.as_raw_fd()
    }
}

#[cfg(target_os = "linux")]
fn accept(listener: &mio::net::UnixListener) -> io::Result<(mio::net::UnixStream, SocketAddr)> {
    let (stream, addr) = crate::sys::accept(listener)?;
    let stream = std::os::unix::net::UnixStream::from(stream);
    // std cannot make an address whose path fills it completely, but its `peer_addr` returns one.
    // If that fails too, the connection is kept, with an empty address.
    let addr = SocketAddr::from_system(&addr)
        .or_else(|_| stream.peer_addr().map(SocketAddr))
        .or_else(|_| SocketAddr::unnamed())?;
    Ok((mio::net::UnixStream::from_std(stream), addr))
}

#[cfg(not(target_os = "linux"))]
fn accept(listener: &mio::net::UnixListener) -> io::Result<(mio::net::UnixStream, SocketAddr)> {
    listener
        .accept()
        .map(|(stream, addr)| (stream, addr.into()))
}
