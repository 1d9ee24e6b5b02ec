//! Sending datagrams.

use std::future::Future;
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

use raddle_leaf::wait::{Resource, located};
use raddle_reactor::Interest;
use socket2::{SockAddr, SockRef};

use super::UnixDatagram;
use crate::methods::send_datagrams;
use crate::sys::NO_SIGNAL;
use crate::unix::addr::system_addr;

type Source = mio::net::UnixDatagram;

send_datagrams! {
    UnixDatagram;

    /// Sends a datagram to the address the socket is [connected](Self::connect) to, and returns the
    /// number of bytes.
    ///
    /// # Errors
    ///
    /// - `NotConnected` if the socket has no peer.
    /// - `ConnectionRefused` or `ConnectionReset` if the peer's socket is closed.
    /// - An uncategorized error (EMSGSIZE) if the datagram is longer than the system sends.
    /// - Any kind if the runtime has shut down.
    send {}
}

impl UnixDatagram {
    /// Sends a datagram to the socket at a path, and returns the number of bytes. On Linux a path
    /// that begins with a zero byte is a name in the abstract namespace.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send`](Self::send).
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped before it is ready, the datagram was not sent.
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
    /// assert_eq!(sender.send_to(b"hello", &path).await?, 5);
    /// # Ok(()) }) }
    /// ```
    #[track_caller]
    pub fn send_to<P: AsRef<Path>>(
        &self,
        buf: &[u8],
        target: P,
    ) -> impl Future<Output = io::Result<usize>> {
        located("UnixDatagram::send_to", Resource::Unknown, async move {
            let target = system_addr(target.as_ref())?;
            self.io
                .async_io(Interest::WRITABLE, |socket| send_to(socket, buf, &target))
                .await
        })
    }

    /// The poll function of [`send_to`](Self::send_to), for implementing a future.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send`](Self::send).
    pub fn poll_send_to<P: AsRef<Path>>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>> {
        let target = system_addr(target.as_ref())?;
        self.io
            .poll_write_io(cx, |socket| send_to(socket, buf, &target))
    }

    /// Like [`send_to`](Self::send_to), but does not wait.
    ///
    /// # Errors
    ///
    /// Returns `WouldBlock` if there is no room; otherwise as [`send`](Self::send).
    pub fn try_send_to<P: AsRef<Path>>(&self, buf: &[u8], target: P) -> io::Result<usize> {
        let target = system_addr(target.as_ref())?;
        self.io
            .try_io(Interest::WRITABLE, |socket| send_to(socket, buf, &target))
    }
}

fn send_to(socket: &Source, buf: &[u8], target: &SockAddr) -> io::Result<usize> {
    socket.try_io(|| SockRef::from(socket).send_to_with_flags(buf, target, NO_SIGNAL))
}
