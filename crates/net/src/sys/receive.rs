//! Reading into uninitialised memory.

use std::io;
use std::mem::MaybeUninit;

use bytes::BufMut;
use raddle_io::ReadBuf;
use socket2::{SockAddr, SockRef};

/// A source of a stream of bytes.
pub(crate) trait Receive {
    /// Fills more of `buf` in one system call.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<Received>;
}

/// The outcome of a read of a stream.
pub(crate) struct Received {
    /// The number of bytes; zero is the end of the stream.
    pub(crate) bytes: usize,
    /// Whether a short read has drained the source. If not, the read may have stopped at some other
    /// boundary.
    pub(crate) short_read_drains: bool,
}

impl Receive for mio::net::TcpStream {
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<Received> {
        let receive = |unfilled: &mut _| self.try_io(|| SockRef::from(self).recv(unfilled));
        // SAFETY: socket2 promises that the first bytes of the slice are initialised, as many as it
        // returns as received.
        let (bytes, ()) = unsafe { fill_with(buf, |unfilled| Ok((receive(unfilled)?, ()))) }?;
        Ok(Received {
            bytes,
            short_read_drains: true,
        })
    }
}

#[cfg(unix)]
impl Receive for mio::net::UnixStream {
    /// A read ends after bytes that came with descriptors (or credentials, if the socket has
    /// requested them), although more bytes have arrived. The system reports this with the flag for
    /// discarded data.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<Received> {
        use std::os::fd::AsRawFd;

        let socket = self.as_raw_fd();
        let receive = |unfilled: &mut [MaybeUninit<u8>]| {
            let mut slice = libc::iovec {
                iov_base: unfilled.as_mut_ptr().cast(),
                iov_len: unfilled.len(),
            };
            // SAFETY: a message header is integers and pointers, for which zero is a value.
            let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
            message.msg_iov = &raw mut slice;
            message.msg_iovlen = 1;
            // SAFETY: the header and the one slice that it points to outlive the call, which writes
            // to that slice only. There is no place for a name or ancillary data.
            let received = unsafe { libc::recvmsg(socket, &raw mut message, 0) };
            match usize::try_from(received) {
                Ok(bytes) => Ok((bytes, message.msg_flags & libc::MSG_CTRUNC == 0)),
                Err(_) => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: the system has written as many bytes as it returns.
        let (bytes, short_read_drains) = unsafe { fill_with(buf, receive) }?;
        Ok(Received {
            bytes,
            short_read_drains,
        })
    }
}

#[cfg(unix)]
impl Receive for mio::unix::pipe::Receiver {
    /// A read ends at the end of a packet if the writer has put the pipe in packet mode, which the
    /// reader cannot find out.
    fn receive(&self, buf: &mut ReadBuf<'_>) -> io::Result<Received> {
        use std::os::fd::AsRawFd;

        let pipe = self.as_raw_fd();
        let read = |unfilled: &mut [MaybeUninit<u8>]| {
            // SAFETY: the slice is writable for its length.
            let read = unsafe { libc::read(pipe, unfilled.as_mut_ptr().cast(), unfilled.len()) };
            match usize::try_from(read) {
                Ok(bytes) => Ok((bytes, ())),
                Err(_) => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: the system has written as many bytes as it returns.
        let (bytes, ()) = unsafe { fill_with(buf, read) }?;
        Ok(Received {
            bytes,
            short_read_drains: false,
        })
    }
}

/// Receives one datagram; bytes that do not fit into `buf` are lost.
pub(crate) fn datagram<S>(socket: &S, buf: &mut ReadBuf<'_>) -> io::Result<usize>
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    // SAFETY: as for a TCP stream.
    let (bytes, ()) = unsafe {
        fill_with(buf, |unfilled| {
            Ok((SockRef::from(socket).recv(unfilled)?, ()))
        })
    }?;
    Ok(bytes)
}

/// Like [`datagram`], but also returns the sender.
pub(crate) fn datagram_from<S>(socket: &S, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SockAddr)>
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    // SAFETY: as for a TCP stream.
    unsafe { fill_with(buf, |unfilled| SockRef::from(socket).recv_from(unfilled)) }
}

/// Like [`datagram`], but leaves it in the socket.
pub(crate) fn peek<S>(socket: &S, buf: &mut ReadBuf<'_>) -> io::Result<usize>
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    // SAFETY: as for a TCP stream.
    let (bytes, ()) = unsafe {
        fill_with(buf, |unfilled| {
            Ok((SockRef::from(socket).peek(unfilled)?, ()))
        })
    }?;
    Ok(bytes)
}

/// Like [`datagram_from`], but leaves it in the socket.
pub(crate) fn peek_from<S>(socket: &S, buf: &mut ReadBuf<'_>) -> io::Result<(usize, SockAddr)>
where
    for<'a> SockRef<'a>: From<&'a S>,
{
    // SAFETY: as for a TCP stream.
    unsafe { fill_with(buf, |unfilled| SockRef::from(socket).peek_from(unfilled)) }
}

/// Calls `receive` with the unfilled part of `buf`, and counts what it receives as filled.
///
/// # Safety
///
/// `receive` must have initialised as many bytes at the start of the slice as it returns, and must
/// write no uninitialised bytes into the rest.
unsafe fn fill_with<R>(
    buf: &mut ReadBuf<'_>,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<(usize, R)>,
) -> io::Result<(usize, R)> {
    // SAFETY: `receive` writes no uninitialised bytes, as the caller promises.
    let unfilled = unsafe { buf.unfilled_mut() };
    let (bytes, rest) = receive(unfilled)?;
    // SAFETY: `receive` has initialised these bytes, as the caller promises.
    unsafe { buf.assume_init(bytes) };
    buf.advance(bytes);
    Ok((bytes, rest))
}

/// Calls `receive` with the next free memory of `buf`, and counts what it receives as written.
pub(crate) fn fill<B: BufMut, R>(
    buf: &mut B,
    receive: impl FnOnce(&mut ReadBuf<'_>) -> io::Result<R>,
) -> io::Result<R> {
    // SAFETY: a `ReadBuf` makes no initialised byte uninitialised.
    let chunk = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let start = chunk.as_ptr();
    let mut chunk = ReadBuf::uninit(chunk);
    let result = receive(&mut chunk)?;
    let filled = chunk.filled();
    assert!(
        filled.as_ptr().cast() == start,
        "the buffer was exchanged; fill the one that was given"
    );
    let bytes = filled.len();
    // SAFETY: the first bytes of the chunk were filled, so they are initialised.
    unsafe { buf.advance_mut(bytes) };
    Ok(result)
}
