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
    // SAFETY: both pointers are to local variables, and the length is that of the first one.
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

/// illumos and Solaris allocate the credentials.
#[cfg(any(target_os = "illumos", target_os = "solaris"))]
pub(crate) fn peer_credentials(socket: &impl AsFd) -> io::Result<UCred> {
    let mut allocated = std::ptr::null_mut();
    // SAFETY: the pointer is to a local variable; null makes the system allocate.
    let result = unsafe { libc::getpeerucred(socket.as_fd().as_raw_fd(), &raw mut allocated) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just allocated the credentials, which are freed below.
    let credentials = unsafe {
        UCred {
            pid: Some(libc::ucred_getpid(allocated)),
            uid: libc::ucred_geteuid(allocated),
            gid: libc::ucred_getegid(allocated),
        }
    };
    // SAFETY: as above; the credentials are not used afterwards.
    unsafe { libc::ucred_free(allocated) };
    Ok(credentials)
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "illumos",
    target_os = "solaris"
)))]
pub(crate) fn peer_credentials(socket: &impl AsFd) -> io::Result<UCred> {
    let (mut uid, mut gid) = (0, 0);
    // SAFETY: both pointers are to local variables.
    let result =
        unsafe { libc::getpeereid(socket.as_fd().as_raw_fd(), &raw mut uid, &raw mut gid) };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(UCred {
        pid: peer_process(socket)?,
        uid,
        gid,
    })
}

/// Returns the process that made the socket at the other end.
#[cfg(target_vendor = "apple")]
fn peer_process(socket: &impl AsFd) -> io::Result<Option<libc::pid_t>> {
    let mut process: libc::pid_t = 0;
    let mut length = size_of::<libc::pid_t>() as libc::socklen_t;
    // SAFETY: both pointers are to local variables, and the length is that of the first one.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_LOCAL,
            libc::LOCAL_PEEREPID,
            (&raw mut process).cast(),
            &raw mut length,
        )
    };
    match result {
        0 => Ok(Some(process)),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The BSDs do not report the process.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "illumos",
    target_os = "solaris",
    target_vendor = "apple"
)))]
fn peer_process(_socket: &impl AsFd) -> io::Result<Option<libc::pid_t>> {
    Ok(None)
}
