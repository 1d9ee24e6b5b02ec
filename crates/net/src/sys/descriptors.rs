//! Descriptors that are sent along with bytes (`SCM_RIGHTS`).

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

/// The most descriptors that Linux sends with one message.
pub(crate) const MAX_DESCRIPTORS: usize = 253;

/// Lets a send to a closed socket fail with an error only, as std does.
#[cfg(not(target_vendor = "apple"))]
pub(crate) const NO_SIGNAL: libc::c_int = libc::MSG_NOSIGNAL;
/// Sockets of these systems have an option for it, which mio sets when it makes them, except for
/// pairs.
#[cfg(target_vendor = "apple")]
pub(crate) const NO_SIGNAL: libc::c_int = 0;

/// The type of a descriptor of the sending process, which sockets with the option `SO_PASSPIDFD`
/// receive with each message.
const SCM_PIDFD: Option<libc::c_int> = match cfg!(target_os = "linux") {
    true => Some(4),
    false => None,
};

/// Lets the system close received descriptors in programs that a child process executes.
#[cfg(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
))]
const CLOSE_ON_EXEC: Option<libc::c_int> = Some(libc::MSG_CMSG_CLOEXEC);
/// The flag has to be set afterwards.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_os = "freebsd",
    target_os = "dragonfly",
    target_os = "netbsd",
    target_os = "openbsd",
)))]
const CLOSE_ON_EXEC: Option<libc::c_int> = None;

/// Control messages, aligned for their headers. There is room for the most descriptors, and for
/// credentials, labels and time stamps, if the socket has requested these.
#[repr(align(16))]
struct Control([u8; 2048]);

impl Control {
    const EMPTY: Control = Control([0; 2048]);
}

/// Returns the header of a message with these bytes.
fn header(bytes: &mut libc::iovec) -> libc::msghdr {
    // SAFETY: a message header is integers and pointers, for which zero is a value.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = bytes;
    message.msg_iovlen = 1;
    message
}

/// Sends `bytes` with `descriptors`, which go with the first of the bytes, and returns the number
/// of bytes.
///
/// # Errors
///
/// Returns `InvalidInput` for too many descriptors; otherwise the system's error.
pub(crate) fn send_descriptors(
    socket: BorrowedFd<'_>,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<usize> {
    let mut control = Control::EMPTY;
    let mut slice = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let mut message = header(&mut slice);
    if !descriptors.is_empty() {
        write_control(&mut message, &mut control, descriptors)?;
    }
    // SAFETY: the header, the bytes and the control message outlive the call, which reads them.
    let sent = unsafe { libc::sendmsg(socket.as_raw_fd(), &raw const message, NO_SIGNAL) };
    usize::try_from(sent).map_err(|_| io::Error::last_os_error())
}

/// Makes `control` the control message that sends `descriptors`, which are not empty.
fn write_control(
    message: &mut libc::msghdr,
    control: &mut Control,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    if descriptors.len() > MAX_DESCRIPTORS {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "too many descriptors for one message; send at most 253",
        ));
    }
    // A `BorrowedFd` is a descriptor's number.
    let length = size_of_val(descriptors);
    // SAFETY: this only computes.
    let (space, with_header) = unsafe {
        let length = length as libc::c_uint;
        (libc::CMSG_SPACE(length), libc::CMSG_LEN(length))
    };
    assert!(space as usize <= size_of::<Control>());
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = space as _;
    // SAFETY: the control message is aligned for a header, and has room for it and for the numbers
    // of the descriptors, as was checked; `CMSG_DATA` is the place behind the header.
    unsafe {
        let control = libc::CMSG_FIRSTHDR(message);
        (*control).cmsg_level = libc::SOL_SOCKET;
        (*control).cmsg_type = libc::SCM_RIGHTS;
        (*control).cmsg_len = with_header as _;
        let numbers = descriptors.as_ptr().cast::<u8>();
        libc::CMSG_DATA(control).copy_from_nonoverlapping(numbers, length);
    }
    Ok(())
}

/// Receives bytes into `buf`, and appends the descriptors that came with them. Returns the number
/// of bytes.
///
/// # Errors
///
/// Returns the system's error, and one of the kind `Other` if the system has dropped descriptors
/// of the message. Then the others are closed, and the bytes are lost.
pub(crate) fn receive_descriptors(
    socket: BorrowedFd<'_>,
    buf: &mut [u8],
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    let mut control = Control::EMPTY;
    let mut slice = libc::iovec {
        iov_base: buf.as_mut_ptr().cast(),
        iov_len: buf.len(),
    };
    let mut message = header(&mut slice);
    message.msg_control = control.0.as_mut_ptr().cast();
    message.msg_controllen = size_of::<Control>() as _;
    let flags = CLOSE_ON_EXEC.unwrap_or(0);
    // SAFETY: the header, the buffer and the control message outlive the call, which writes to the
    // latter two at most as many bytes as the header says that there are.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut message, flags) };
    let bytes = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    // SAFETY: the system has filled the control message, and has made the descriptors in it for
    // this process. Nothing else knows their numbers.
    let arrived = unsafe { read_control(&message) };
    if message.msg_flags & libc::MSG_CTRUNC != 0 {
        return Err(io::Error::other(
            "descriptors of the message were lost; raise the limit for open files (RLIMIT_NOFILE)",
        ));
    }
    if CLOSE_ON_EXEC.is_none() {
        arrived.iter().try_for_each(close_on_exec)?;
    }
    descriptors.extend(arrived);
    Ok(bytes)
}

/// Returns the descriptors of the control messages of `message`.
///
/// # Safety
///
/// `message` has valid control messages, and the descriptors in them are open and have no owner.
#[allow(
    clippy::unnecessary_cast,
    reason = "the types of lengths differ between systems"
)]
unsafe fn read_control(message: &libc::msghdr) -> Vec<OwnedFd> {
    let mut descriptors = Vec::new();
    // SAFETY: the control messages are valid, as the caller promises; these functions step from
    // one to the next, and end with a null pointer.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let kind = (*control).cmsg_type;
            let is_pidfd = Some(kind) == SCM_PIDFD;
            if (*control).cmsg_level == libc::SOL_SOCKET && (kind == libc::SCM_RIGHTS || is_pidfd) {
                let numbers = libc::CMSG_DATA(control).cast::<RawFd>();
                let length =
                    ((*control).cmsg_len as usize).saturating_sub(libc::CMSG_LEN(0) as usize);
                // Some systems leave the length of a message that did not fit as it was.
                let end = message.msg_control.addr() + message.msg_controllen as usize;
                let length = length.min(end.saturating_sub(numbers.addr()));
                for index in 0..length / size_of::<RawFd>() {
                    // The data need not be aligned for an integer.
                    let number = numbers.add(index).read_unaligned();
                    let descriptor = OwnedFd::from_raw_fd(number);
                    match is_pidfd {
                        // The caller asked for SCM_RIGHTS only.
                        true => drop(descriptor),
                        false => descriptors.push(descriptor),
                    }
                }
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    descriptors
}

/// Closes the descriptor in programs that a child process executes.
fn close_on_exec(descriptor: &OwnedFd) -> io::Result<()> {
    // SAFETY: the call sets a flag of an open descriptor.
    match unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
