//! Raw descriptors.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

use crate::async_fd::AsyncFd;
use crate::tcp::TcpSocket;
use crate::unix::UnixSocket;

/// Implements the conversions of a socket that is neither connected nor listening yet. `$kind` is
/// what the documentation calls it.
macro_rules! raw_socket {
    ($name:ident, $kind:literal) => {
        impl From<OwnedFd> for $name {
            #[doc = concat!("Takes over ", $kind, ", which must be in non-blocking mode.")]
            fn from(fd: OwnedFd) -> $name {
                $name { socket: fd.into() }
            }
        }

        impl FromRawFd for $name {
            /// Takes over a socket, which must be in non-blocking mode.
            ///
            /// # Safety
            ///
            /// As for [`OwnedFd`]: the descriptor is open and has no other owner.
            unsafe fn from_raw_fd(fd: RawFd) -> $name {
                // SAFETY: as the caller promises.
                $name::from(unsafe { OwnedFd::from_raw_fd(fd) })
            }
        }

        impl AsFd for $name {
            fn as_fd(&self) -> BorrowedFd<'_> {
                self.socket.as_fd()
            }
        }

        impl AsRawFd for $name {
            fn as_raw_fd(&self) -> RawFd {
                self.socket.as_raw_fd()
            }
        }

        impl IntoRawFd for $name {
            fn into_raw_fd(self) -> RawFd {
                self.socket.into_raw_fd()
            }
        }
    };
}

raw_socket!(TcpSocket, "a TCP socket");
raw_socket!(UnixSocket, "a Unix socket");

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
