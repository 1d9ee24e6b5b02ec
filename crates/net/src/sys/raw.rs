//! Raw descriptors.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};

use crate::tcp::TcpSocket;
use crate::unix::UnixSocket;

impl FromRawFd for TcpSocket {
    /// Takes over a socket, which must be in non-blocking mode.
    ///
    /// # Safety
    ///
    /// As [`OwnedFd`]'s: the descriptor is open and nobody else's.
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: by the contract.
        TcpSocket::from(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl FromRawFd for UnixSocket {
    /// Takes over a socket, which must be in non-blocking mode.
    ///
    /// # Safety
    ///
    /// As [`OwnedFd`]'s: the descriptor is open and nobody else's.
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: by the contract.
        UnixSocket::from(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

/// What a descriptor was opened for: one of `O_RDONLY`, `O_WRONLY` and
/// `O_RDWR`.
pub(crate) fn access_mode(fd: &impl AsFd) -> io::Result<libc::c_int> {
    // SAFETY: reads the flags of a descriptor that is open.
    let flags = unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(flags & libc::O_ACCMODE)
}
