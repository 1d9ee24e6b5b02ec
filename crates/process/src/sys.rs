//! System calls.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::process::Child;

/// Opens a descriptor of the process, which is readable once it has ended.
pub(crate) fn pidfd_open(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes two integers: the id and no flags.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has just opened the descriptor, which nothing else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as RawFd) })
}

/// A child to wait for. The wait leaves its exit status to be taken.
pub(crate) struct Waitable(u32);

impl Waitable {
    pub(crate) fn of(child: &Child) -> io::Result<Self> {
        Ok(Self(child.id()))
    }

    /// Blocks until the child has ended, or cannot be waited for.
    pub(crate) fn wait(self) {
        wait_until_ended(self.0);
    }
}

fn wait_until_ended(pid: u32) {
    // SAFETY: the structure has only integers and pointers, for which zero is valid.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    loop {
        let options = libc::WEXITED | libc::WNOWAIT;
        // SAFETY: the system writes to `info`, which is valid during the call.
        let result = unsafe { libc::waitid(libc::P_PID, pid, &mut info, options) };
        if result == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return;
        }
    }
}
