//! Accepting connections of Unix sockets.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use socket2::SockAddr;

/// Accepts a connection in non-blocking mode, and returns it with the peer's address.
///
/// mio's function panics if a path fills the whole address, because the system then reports a
/// length beyond the address; and it returns names of the abstract namespace as unnamed.
pub(crate) fn accept(listener: &mio::net::UnixListener) -> io::Result<(OwnedFd, SockAddr)> {
    let accept = |storage: *mut socket2::SockAddrStorage, length: *mut libc::socklen_t| {
        let flags = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;
        // SAFETY: the storage has room for `*length` bytes, and both pointers are writable.
        match unsafe { libc::accept4(listener.as_raw_fd(), storage.cast(), length, flags) } {
            -1 => Err(io::Error::last_os_error()),
            // SAFETY: the descriptor is new, and nothing else owns it.
            stream => Ok(unsafe { OwnedFd::from_raw_fd(stream) }),
        }
    };
    // SAFETY: if the call succeeds, it has written an address and its length.
    unsafe { SockAddr::try_init(accept) }
}
