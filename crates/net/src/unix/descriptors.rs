//! Sending and receiving descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::{UnixDatagram, UnixStream};
use crate::methods::pass_descriptors;
use crate::sys::{receive_descriptors, send_descriptors};

/// A Unix socket of mio.
trait Socket: AsFd {
    fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R>;
}

impl Socket for mio::net::UnixStream {
    fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.try_io(f)
    }
}

impl Socket for mio::net::UnixDatagram {
    fn try_io<R>(&self, f: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        self.try_io(f)
    }
}

fn send_with_fds(socket: &impl Socket, buf: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<usize> {
    socket.try_io(|| send_descriptors(socket.as_fd(), buf, fds))
}

fn recv_with_fds(
    socket: &impl Socket,
    buf: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    socket.try_io(|| receive_descriptors(socket.as_fd(), buf, fds))
}

/// Refuses an empty buffer: descriptors travel with a byte of the stream, and are lost without one.
fn stream_needs_a_byte(length: usize) -> io::Result<()> {
    if length > 0 {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        "descriptors travel with the bytes of a stream; pass a buffer of at least one byte",
    ))
}

/// A datagram may be empty.
fn datagram_needs_no_byte(_length: usize) -> io::Result<()> {
    Ok(())
}

pass_descriptors! {
    UnixStream, check: stream_needs_a_byte;

    /// Sends bytes together with open descriptors, and returns the number of bytes. The
    /// descriptors go with the first of them, all at once: if fewer than `buf.len()` bytes were
    /// sent, send the others without descriptors. `buf` must not be empty.
    ///
    /// A plain read of the peer, which does not ask for descriptors, gets the bytes and drops the
    /// descriptors.
    send_with_fds {
        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use std::io::Read;
        /// use std::os::fd::AsFd;
        ///
        /// use raddle::net::UnixStream;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        /// // Usually the other end is in another process.
        /// let (client, server) = UnixStream::pair()?;
        /// let file = std::fs::File::open("/proc/self/cmdline")?;
        /// client.send_with_fds(b"read this", &[file.as_fd()]).await?;
        /// drop(file);
        ///
        /// let mut fds = Vec::new();
        /// let mut buffer = [0; 64];
        /// let length = server.recv_with_fds(&mut buffer, &mut fds).await?;
        /// assert_eq!(&buffer[..length], b"read this");
        /// let mut file = std::fs::File::from(fds.pop().ok_or("no descriptor came")?);
        /// let mut command = Vec::new();
        /// file.read_to_end(&mut command)?;
        /// assert!(!command.is_empty());
        /// # Ok(()) }) }
        /// ```
    }

    /// Waits for bytes, and returns the number of bytes in `buf`; zero means the end of the stream.
    /// Descriptors that came with them are appended to `fds`. One call returns the descriptors of
    /// one send at most, on Linux: it stops before bytes that came with others. `buf` must not be
    /// empty.
    recv_with_fds {}
}

pass_descriptors! {
    UnixDatagram, check: datagram_needs_no_byte;

    /// Sends a datagram together with open descriptors to the address the socket is
    /// [connected](Self::connect) to, and returns the number of bytes. The datagram may be empty.
    send_with_fds {
        /// # Examples
        ///
        /// ```
        /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
        /// use std::os::fd::AsFd;
        ///
        /// use raddle::net::UnixDatagram;
        ///
        /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
        /// let (client, server) = UnixDatagram::pair()?;
        /// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
        /// client.send_with_fds(b"", &[listener.as_fd()]).await?;
        ///
        /// let mut fds = Vec::new();
        /// assert_eq!(server.recv_with_fds(&mut [0; 64], &mut fds).await?, 0);
        /// let received = std::net::TcpListener::from(fds.pop().ok_or("no descriptor came")?);
        /// assert_eq!(received.local_addr()?, listener.local_addr()?);
        /// # Ok(()) }) }
        /// ```
    }

    /// Waits for a datagram, and returns the number of its bytes in `buf`; further bytes are lost.
    /// Descriptors that came with it are appended to `fds`.
    recv_with_fds {}
}
