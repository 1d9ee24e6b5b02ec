//! Raw descriptors.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use crate::async_fd::AsyncFd;
use crate::tcp::TcpSocket;
use crate::unix::UnixSocket;

impl FromRawFd for TcpSocket {
    /// Takes over a socket, which must be in non-blocking mode.
    ///
    /// # Safety
    ///
    /// As for [`OwnedFd`]: the descriptor is open and has no other owner.
    unsafe fn from_raw_fd(fd: RawFd) -> TcpSocket {
        // SAFETY: as the caller promises.
        TcpSocket::from(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl FromRawFd for UnixSocket {
    /// Takes over a socket, which must be in non-blocking mode.
    ///
    /// # Safety
    ///
    /// As for [`OwnedFd`]: the descriptor is open and has no other owner.
    unsafe fn from_raw_fd(fd: RawFd) -> UnixSocket {
        // SAFETY: as the caller promises.
        UnixSocket::from(unsafe { OwnedFd::from_raw_fd(fd) })
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    /// As in Tokio, `T` may be any type. Nothing makes it keep its descriptor open: a system call
    /// on a descriptor that `T` has closed returns the system's error, `EBADF`, or reaches the file
    /// that has got its number since.
    fn as_fd(&self) -> BorrowedFd<'_> {
        let fd = match self.get_ref().as_raw_fd() {
            // No `BorrowedFd` may have this number. One that is never open gives the same error.
            -1 => RawFd::MAX,
            fd => fd,
        };
        // SAFETY: the number is not -1, which is all that the compiler relies on. That it belongs
        // to an open file cannot be proved, as `T` may be any type; but only the system looks the
        // file up, and it returns an error if there is none.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

/// Returns the access mode with which a descriptor was opened: one of `O_RDONLY`, `O_WRONLY` and
/// `O_RDWR`.
pub(crate) fn access_mode(fd: &impl AsFd) -> io::Result<libc::c_int> {
    // SAFETY: the call reads the flags of an open descriptor.
    let flags = unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), libc::F_GETFL) };
    if flags < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(flags & libc::O_ACCMODE)
}
