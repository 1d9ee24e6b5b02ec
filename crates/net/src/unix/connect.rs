//! Connecting to a listener.

use std::future::Future;
use std::io;
use std::path::Path;

use raddle_leaf::misuse::io_at_caller;
use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Handle;

use super::addr::system_addr;
use super::{SocketAddr, UnixSocket, UnixStream};
use crate::evented;

impl UnixStream {
    /// Connects to the listener at a path. On Linux a path that begins with a zero byte is a name
    /// in the abstract namespace.
    ///
    /// # Errors
    ///
    /// - `NotFound` if there is no file at the path; `ConnectionRefused` if no listener has it
    ///   open.
    /// - `PermissionDenied` if the process may not write to that socket.
    /// - `WouldBlock` if the listener's queue is full. No event says when there is room: try again
    ///   later.
    /// - `InvalidInput` if the path is longer than the system allows, about 100 bytes.
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
    /// use raddle::net::{UnixListener, UnixStream};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// # let directory = tempfile::tempdir()?;
    /// let path = directory.path().join("socket");
    /// let listener = UnixListener::bind(&path)?;
    /// let stream = UnixStream::connect(&path).await?;
    /// stream.try_write(b"hello")?;
    /// let (server, _) = listener.accept().await?;
    /// server.readable().await?;
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        let connected = located("UnixStream::connect", Resource::Unknown, async move {
            Handle::check_current()?;
            raddle_leaf::coop::consume_budget().await;
            let addr = system_addr(path.as_ref())?;
            let socket = UnixSocket::new_stream()?;
            socket.connect_to(&addr).await
        });
        io_at_caller(connected)
    }

    /// Like [`connect`](Self::connect), but takes a [`SocketAddr`].
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`connect`](Self::connect).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the socket.
    ///
    /// # Panics
    ///
    /// Panics if no reactor is current, as in a runtime without `enable_io`.
    #[track_caller]
    pub fn connect_addr(socket_addr: &SocketAddr) -> impl Future<Output = io::Result<UnixStream>> {
        let connected = located("UnixStream::connect_addr", Resource::Unknown, async move {
            Handle::check_current()?;
            raddle_leaf::coop::consume_budget().await;
            let addr = socket_addr.to_system()?;
            let socket = UnixSocket::new_stream()?;
            socket.connect_to(&addr).await
        });
        io_at_caller(connected)
    }

    /// Waits for the end of an attempt to connect.
    pub(super) async fn connecting(stream: mio::net::UnixStream) -> io::Result<UnixStream> {
        Ok(UnixStream {
            io: evented::watch_connecting(stream, &Handle::current()).await?,
        })
    }
}
