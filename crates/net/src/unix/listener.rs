//! The listening socket.

use std::io;
use std::os::unix::net;
use std::path::Path;

use raddle_reactor::{Evented, Handle};

use super::addr::of_path;
use super::{SocketAddr, UnixStream};
use crate::evented;
use crate::methods::{listener, std_socket, system_handle};

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

listener! {
    UnixListener, accept;

    /// Waits for a connection and accepts it. Several tasks may wait at the same time.
    ///
    /// # Errors
    ///
    /// - An uncategorized error (EMFILE, ENFILE) means that the process or the system has no
    ///   descriptor left. Each call returns it at once until a descriptor is closed; the connection
    ///   stays in the queue. [`accept_retrying`](Self::accept_retrying) handles it.
    /// - Any kind if the runtime has shut down.
    accept -> (UnixStream, SocketAddr) {
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
    }
}

std_socket! {
    UnixListener, "listener", listener: net::UnixListener;

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
    from_std,

    into_std,
}

system_handle!(UnixListener);

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
