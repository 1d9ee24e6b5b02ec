//! A socket that is neither connected nor listening yet.

use std::future::Future;
use std::io;
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Handle;
use socket2::{Domain, SockAddr, Socket, Type};

use super::addr::system_addr;
use super::{UnixDatagram, UnixListener, UnixStream};

/// A Unix socket that is neither connected nor listening yet: to bind a stream before it is
/// connected, or to choose the length of a listener's queue.
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::net::{UnixListener, UnixSocket};
///
/// # fn main() { async fn listen() -> std::io::Result<UnixListener> {
/// let socket = UnixSocket::new_stream()?;
/// socket.bind("/tmp/greeter")?;
/// socket.listen(1024)
/// # } }
/// ```
#[derive(Debug)]
pub struct UnixSocket {
    pub(crate) socket: Socket,
}

impl UnixSocket {
    /// Makes a socket for datagrams. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left.
    pub fn new_datagram() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::DGRAM)
    }

    /// Makes a socket for streams. No reactor needs to be current yet.
    ///
    /// # Errors
    ///
    /// Returns an error if the process or the system has no descriptor left.
    pub fn new_stream() -> io::Result<UnixSocket> {
        UnixSocket::new(Type::STREAM)
    }

    fn new(kind: Type) -> io::Result<UnixSocket> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let socket = Socket::new(Domain::UNIX, kind.nonblocking(), None)?;
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let socket = {
            let socket = Socket::new(Domain::UNIX, kind, None)?;
            socket.set_nonblocking(true)?;
            socket
        };
        Ok(UnixSocket { socket })
    }

    /// Binds the socket to a path, where no file may exist yet. On Linux a path that begins with a
    /// zero byte is a name in the abstract namespace.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`UnixListener::bind`]; `InvalidInput` also if the socket is
    /// bound already.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.socket.bind(&system_addr(path.as_ref())?)
    }

    /// Listens, with a queue of at most `backlog` connections that have not been accepted. The
    /// system may limit the queue further.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the socket is for datagrams; otherwise an error of the operating
    /// system.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.check(Type::STREAM, NO_STREAM)?;
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        UnixListener::new(mio::net::UnixListener::from_std(self.socket.into()))
    }

    /// Connects to the listener at a path.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the socket is for datagrams; otherwise as [`UnixStream::connect`].
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
    /// use raddle::net::{UnixListener, UnixSocket};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let listener = UnixListener::bind(&path)?;
    /// let socket = UnixSocket::new_stream()?;
    /// // The listener sees this address.
    /// socket.bind(directory.path().join("client"))?;
    /// let client = socket.connect(&path).await?;
    /// let (_, peer) = listener.accept().await?;
    /// assert_eq!(peer.as_pathname(), Some(directory.path().join("client").as_path()));
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn connect(self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<UnixStream>> {
        let connected = located("UnixSocket::connect", Resource::Unknown, async move {
            Handle::check_current()?;
            raddle_leaf::coop::consume_budget().await;
            self.check(Type::STREAM, NO_STREAM)?;
            let addr = system_addr(path.as_ref())?;
            self.connect_to(&addr).await
        });
        io_at_caller(connected)
    }

    /// Connects a socket for streams.
    pub(super) async fn connect_to(self, addr: &SockAddr) -> io::Result<UnixStream> {
        match self.socket.connect(addr) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        UnixStream::connecting(mio::net::UnixStream::from_std(self.socket.into())).await
    }

    /// Converts it into a socket for datagrams.
    ///
    /// # Errors
    ///
    /// Returns `InvalidInput` if the socket is for streams, and if the reactor refuses it.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::net::UnixSocket;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind(&path)?;
    /// let socket = socket.datagram()?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.check(Type::DGRAM, NO_DATAGRAMS)?;
        UnixDatagram::from_std(self.socket.into())
    }

    fn check(&self, kind: Type, otherwise: &'static str) -> io::Result<()> {
        if self.socket.r#type()? == kind {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, otherwise))
        }
    }
}

const NO_STREAM: &str = "a socket for datagrams cannot do this; use UnixSocket::new_stream";
const NO_DATAGRAMS: &str = "a socket for streams cannot do this; use UnixSocket::new_datagram";
