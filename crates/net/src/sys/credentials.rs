//! The credentials of the process at the other end of a Unix socket.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

use crate::unix::UCred;

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(crate) fn peer_credentials(socket: &impl AsFd) -> io::Result<UCred> {
    let mut credentials = libc::ucred {
        pid: 0,
        uid: 0,
        gid: 0,
    };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: both places are this function's, and the length is that of the
    // first.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(UCred {
        pid: Some(credentials.pid),
        uid: credentials.uid,
        gid: credentials.gid,
    })
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(crate) fn peer_credentials(socket: &impl AsFd) -> io::Result<UCred> {
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both places are this function's.
    let result =
        unsafe { libc::getpeereid(socket.as_fd().as_raw_fd(), &raw mut uid, &raw mut gid) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(UCred {
        pid: None,
        uid,
        gid,
    })
}
