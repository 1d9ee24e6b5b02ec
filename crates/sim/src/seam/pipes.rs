//! Pipes. The system's pipe has the bytes and the room; only waiting for them is simulated. When a
//! child process has the other end, the system waits, too.

use libc::{POLLIN, POLLOUT, c_int};

use super::buffers::Buffers;
use super::selectors::system_poll;
use super::{arg, last_error, system4};
use crate::context;
use crate::kernel::files::PipeEnd;
use crate::kernel::{Errno, Kernel, Result};

/// How much a write may add without waiting when the system says that there is room.
const ROOM: usize = libc::PIPE_BUF;

/// What the system says of a descriptor of its own, as bits of `poll` and of `epoll`.
pub(crate) fn system_readiness(fd: c_int) -> c_int {
    let mut polled = libc::pollfd {
        fd,
        events: POLLIN | POLLOUT,
        revents: 0,
    };
    // SAFETY: the struct is an array of one.
    let _count = unsafe { system_poll(&raw mut polled, 1, 0) };
    polled.revents.into()
}

/// Reads from a pipe if something is there, or if only the system knows when it will be.
pub(super) fn read(
    kernel: &mut Kernel,
    fd: c_int,
    end: PipeEnd,
    into: &Buffers<'_>,
) -> Result<usize> {
    if !end.is_writer && into.len() == 0 {
        return Ok(0);
    }
    if !end.is_writer && end.other.is_some() && system_readiness(fd) == 0 {
        return Err(Errno(libc::EAGAIN));
    }
    let pieces = into.pieces();
    // SAFETY: the pieces are writable, as was promised to the buffers.
    let bytes = unsafe {
        system4(
            libc::SYS_readv,
            arg(fd),
            pieces.as_ptr().expose_provenance(),
            pieces.len(),
            0,
        )
    };
    returned(kernel, end, bytes)
}

/// Writes as much as there is room for, and adds it to `sent`.
pub(super) fn write(
    kernel: &mut Kernel,
    fd: c_int,
    end: PipeEnd,
    bufs: &[&[u8]],
    sent: &mut usize,
) -> Result<()> {
    if !end.is_writer {
        return Err(Errno(libc::EBADF));
    }
    for chunk in bufs.iter().flat_map(|buf| buf.chunks(ROOM)) {
        if end.other.is_some() && system_readiness(fd) == 0 {
            return Err(Errno(libc::EAGAIN));
        }
        // SAFETY: the chunk is valid.
        let bytes = unsafe {
            system4(
                libc::SYS_write,
                arg(fd),
                chunk.as_ptr().expose_provenance(),
                chunk.len(),
                0,
            )
        };
        *sent += returned(kernel, end, bytes)?;
    }
    Ok(())
}

/// Wakes the other end after a call of the system.
fn returned(kernel: &mut Kernel, end: PipeEnd, bytes: libc::c_long) -> Result<usize> {
    let bytes = usize::try_from(bytes).map_err(|_| last_error())?;
    if let Some(other) = end.other {
        kernel.notify_waiters(other);
    }
    Ok(bytes)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe2(into: *mut c_int, flags: c_int) -> c_int {
    // SAFETY: the arguments are the caller's.
    let result =
        unsafe { system4(libc::SYS_pipe2, into.expose_provenance(), arg(flags), 0, 0) as c_int };
    if result == 0 {
        // SAFETY: the call has written two numbers.
        let fds = unsafe { [into.read(), into.add(1).read()] };
        context::call(|engine, caller| {
            let is_nonblocking = flags & libc::O_NONBLOCK != 0;
            engine.kernel.lock().open_pipe(fds, caller, is_nonblocking);
        });
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pipe(into: *mut c_int) -> c_int {
    // SAFETY: the argument is the caller's.
    unsafe { pipe2(into, 0) }
}
