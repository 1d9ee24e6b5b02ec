//! What works on descriptors of all kinds: reading, writing, duplicating and closing.

use std::net::SocketAddr;

use libc::{c_int, c_ulong, c_void, iovec, off64_t, size_t, ssize_t};

use super::buffers::Buffers;
use super::files::{Part, before_change};
use super::{
    Waits, arg, count, operate, pipes, returned, set_errno, socket_option, system, system4,
};
use crate::context;
use crate::kernel::files::{FileId, Kind};
use crate::kernel::{Caller, Errno, Kernel, Result};

/// Reads from a socket or a counter into the buffers.
pub(super) fn receive(
    fd: c_int,
    into: &mut Buffers<'_>,
    waits: Waits,
    flags: c_int,
) -> Option<Result<usize>> {
    let is_peek = flags & libc::MSG_PEEK != 0;
    let needs_all = flags & libc::MSG_WAITALL != 0 && !is_peek;
    let result = operate(fd, waits, |kernel, file, _| {
        match &kernel.files.get(file).kind {
            Kind::Tcp(_) => {
                let bytes = kernel.receive(file, is_peek, |bytes| into.fill(bytes))?;
                let goes_on = needs_all && bytes > 0 && into.filled() < into.len();
                match goes_on {
                    true => Err(Errno(libc::EAGAIN)),
                    false => Ok(bytes.max(into.filled())),
                }
            }
            Kind::Udp(_) => {
                let (_, data) = kernel.receive_from(file, is_peek)?;
                Ok(into.fill(&data))
            }
            Kind::Event(_) if into.len() < 8 => Err(Errno(libc::EINVAL)),
            Kind::Event(_) => {
                let number = kernel.take_event(file)?;
                Ok(into.fill(&number.to_ne_bytes()))
            }
            Kind::Pipe(end) => {
                let end = *end;
                pipes::read(kernel, fd, end, into)
            }
            Kind::Random => Ok(into.fill(&kernel.random_bytes(into.len()))),
            Kind::Epoll(_) => Err(Errno(libc::EINVAL)),
        }
    })?;
    // What was read before an error is not lost.
    Some(if needs_all && into.filled() > 0 {
        Ok(into.filled())
    } else {
        result
    })
}

/// Whether a descriptor is one of a simulated socket, of which a read of no bytes reads nothing.
fn is_socket(fd: c_int) -> bool {
    let found = context::call(|engine, _| {
        let kernel = engine.kernel.lock();
        let file = kernel.files.find(fd);
        file.is_some_and(|file| matches!(kernel.files.get(file).kind, Kind::Tcp(_) | Kind::Udp(_)))
    });
    found == Some(true)
}

/// Writes the buffers to a socket or a counter. A stream that blocks writes all of them.
pub(super) fn send(fd: c_int, from: &Buffers<'_>, waits: Waits) -> Option<Result<usize>> {
    let mut sent = 0;
    let length = from.len();
    let result = operate(fd, waits, |kernel, file, owner| {
        match &kernel.files.get(file).kind {
            Kind::Tcp(_) => {
                // The next call returns it.
                if sent > 0 && kernel.has_error(file) {
                    return Ok(sent);
                }
                let bytes = from.read(|bufs| match sent {
                    0 => kernel.transmit(file, bufs),
                    _ => kernel.transmit(file, &skip(bufs, sent)),
                })?;
                sent += bytes;
                let goes_on = sent < length && waits != Waits::Never;
                match goes_on && !kernel.files.get(file).is_nonblocking {
                    true => Err(Errno(libc::EAGAIN)),
                    false => Ok(sent),
                }
            }
            Kind::Udp(_) => send_datagrams(kernel, owner, file, from, (None, None)),
            Kind::Event(_) => {
                let bytes = from.read(|bufs| bufs.concat());
                let number = bytes.try_into().map_err(|_| Errno(libc::EINVAL))?;
                kernel.add_to_event(file, u64::from_ne_bytes(number))?;
                Ok(8)
            }
            Kind::Pipe(end) => {
                let end = *end;
                let result =
                    from.read(|bufs| pipes::write(kernel, fd, end, &skip(bufs, sent), &mut sent));
                result.map(|()| sent)
            }
            // It would change what comes next, which the seed says.
            Kind::Random => Ok(length),
            Kind::Epoll(_) => Err(Errno(libc::EINVAL)),
        }
    })?;
    // What was written before an error is not lost.
    Some(if sent > 0 { Ok(sent) } else { result })
}

/// Sends datagrams to an address, or to the peer of the socket: one, or several of a length.
pub(super) fn send_datagrams(
    kernel: &mut Kernel,
    owner: Caller,
    file: FileId,
    from: &Buffers<'_>,
    (to, segment): (Option<SocketAddr>, Option<u16>),
) -> Result<usize> {
    let set = match &kernel.files.get(file).kind {
        Kind::Udp(socket) => socket.segment,
        _ => 0,
    };
    let segment = usize::from(segment.unwrap_or(set));
    let length = from.len();
    let count = if segment == 0 {
        1
    } else {
        length.div_ceil(segment)
    };
    kernel.check_send(file, count)?;
    from.read(|bufs| {
        if count <= 1 {
            return kernel.send_to(owner, file, bufs, to);
        }
        for datagram in bufs.concat().chunks(segment) {
            kernel.send_to(owner, file, &[datagram], to)?;
        }
        Ok(length)
    })
}

fn skip<'a>(bufs: &[&'a [u8]], mut bytes: usize) -> Vec<&'a [u8]> {
    let rest = bufs.iter().map(|buf| {
        let skipped = bytes.min(buf.len());
        bytes -= skipped;
        &buf[skipped..]
    });
    rest.collect()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, buf: *mut c_void, length: size_t) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let mut into = unsafe { Buffers::one(buf, length) };
    if into.len() == 0 && is_socket(fd) {
        return 0;
    }
    if let Some(result) = receive(fd, &mut into, Waits::ToReceive, 0) {
        return count(result);
    }
    // SAFETY: the arguments are the caller's.
    unsafe { system4(libc::SYS_read, arg(fd), buf.expose_provenance(), length, 0) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readv(fd: c_int, pieces: *const iovec, number: c_int) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let mut into = unsafe { Buffers::several(pieces, number as usize) };
    if into.len() == 0 && is_socket(fd) {
        return 0;
    }
    if let Some(result) = receive(fd, &mut into, Waits::ToReceive, 0) {
        return count(result);
    }
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_readv,
            arg(fd),
            pieces.expose_provenance(),
            arg(number),
            0,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, buf: *const c_void, length: size_t) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let from = unsafe { Buffers::one(buf, length) };
    if let Some(result) = send(fd, &from, Waits::ToSend) {
        return count(result);
    }
    if let Some(Err(error)) = before_change(fd, Part::Here(length)) {
        return count(Err(error));
    }
    // SAFETY: the arguments are the caller's.
    unsafe { system4(libc::SYS_write, arg(fd), buf.expose_provenance(), length, 0) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(fd: c_int, pieces: *const iovec, number: c_int) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let from = unsafe { Buffers::several(pieces, number as usize) };
    if let Some(result) = send(fd, &from, Waits::ToSend) {
        return count(result);
    }
    if let Some(Err(error)) = before_change(fd, Part::Here(from.len())) {
        return count(Err(error));
    }
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_writev,
            arg(fd),
            pieces.expose_provenance(),
            arg(number),
            0,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
extern "C" fn close(fd: c_int) -> c_int {
    context::call(|engine, _| {
        let is_stream = {
            let kernel = engine.kernel.lock();
            let file = kernel.files.find(fd);
            file.is_some_and(|file| matches!(kernel.files.get(file).kind, Kind::Tcp(_)))
        };
        let resets = is_stream && resets_when_closed(fd);
        engine.kernel.lock().close(fd, resets);
    });
    // SAFETY: the caller owns the descriptor.
    unsafe { system4(libc::SYS_close, arg(fd), 0, 0, 0) as c_int }
}

/// Whether the program has set `SO_LINGER` to no time.
fn resets_when_closed(fd: c_int) -> bool {
    let linger = socket_option::<libc::linger>(fd, libc::SOL_SOCKET, libc::SO_LINGER);
    linger.is_some_and(|linger| linger.l_onoff != 0 && linger.l_linger == 0)
}

/// Gives a descriptor that the system has just duplicated the same simulated file.
fn duplicated(fd: c_int, new: c_int) -> c_int {
    if new >= 0 {
        context::call(|engine, _| {
            let mut kernel = engine.kernel.lock();
            if let Some(file) = kernel.files.find(fd) {
                kernel.duplicate(file, new);
            }
            if let Some(owner) = kernel.on_disk.get(&fd).copied() {
                kernel.on_disk.insert(new, owner);
            }
        });
    }
    new
}

#[unsafe(no_mangle)]
extern "C" fn dup(fd: c_int) -> c_int {
    // SAFETY: the argument is a number.
    duplicated(fd, unsafe {
        system4(libc::SYS_dup, arg(fd), 0, 0, 0) as c_int
    })
}

#[unsafe(no_mangle)]
extern "C" fn dup2(fd: c_int, new: c_int) -> c_int {
    if fd == new {
        return new;
    }
    dup3(fd, new, 0)
}

#[unsafe(no_mangle)]
extern "C" fn dup3(fd: c_int, new: c_int, flags: c_int) -> c_int {
    // SAFETY: the arguments are numbers.
    let new = unsafe { system4(libc::SYS_dup3, arg(fd), arg(new), arg(flags), 0) as c_int };
    if new >= 0 {
        context::call(|engine, _| engine.kernel.lock().close(new, false));
    }
    duplicated(fd, new)
}

fn set_nonblocking(fd: c_int, is_nonblocking: bool) {
    context::call(|engine, _| {
        let mut kernel = engine.kernel.lock();
        if let Some(file) = kernel.files.find(fd) {
            kernel.files.get_mut(file).is_nonblocking = is_nonblocking;
        }
    });
}

fn control(fd: c_int, command: c_int, argument: usize) -> c_int {
    // SAFETY: the arguments are the caller's.
    let result = unsafe { system4(libc::SYS_fcntl, arg(fd), arg(command), argument, 0) as c_int };
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => duplicated(fd, result),
        libc::F_SETFL => {
            set_nonblocking(fd, argument as c_int & libc::O_NONBLOCK != 0);
            result
        }
        _ => result,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int {
    control(fd, command, argument)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int {
    control(fd, command, argument)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: usize) -> c_int {
    let into = argument as *mut c_int;
    if request == libc::FIONREAD {
        let unread = operate(fd, Waits::Never, |kernel, file, _| {
            Ok(match kernel.files.get(file).kind {
                Kind::Pipe(_) => None,
                _ => Some(unread(kernel, file)),
            })
        });
        if let Some(Ok(Some(unread))) = unread {
            return match unread {
                Ok(bytes) => {
                    // SAFETY: as the caller of the C function promises.
                    unsafe { into.write(bytes as c_int) };
                    0
                }
                Err(error) => returned::<i64>(Err(error)) as c_int,
            };
        }
    }
    if request == libc::FIONBIO {
        // SAFETY: as the caller of the C function promises.
        set_nonblocking(fd, unsafe { into.read() } != 0);
    }
    // SAFETY: the arguments are the caller's.
    unsafe { system4(libc::SYS_ioctl, arg(fd), request as usize, argument, 0) as c_int }
}

fn unread(kernel: &mut Kernel, file: usize) -> Result<usize> {
    match kernel.files.get(file).kind {
        Kind::Udp(_) => kernel.unread_datagram(file),
        _ => kernel.unread(file),
    }
}

/// Whether one of two descriptors is simulated: the system must not copy from one to the other. Std
/// then copies itself.
fn are_simulated(one: c_int, two: c_int) -> bool {
    let found = context::call(|engine, _| {
        let kernel = engine.kernel.lock();
        let is_one = |fd| kernel.files.find(fd).is_some() || kernel.on_disk.contains_key(&fd);
        is_one(one) || is_one(two)
    });
    if found == Some(true) {
        set_errno(libc::EINVAL);
    }
    found == Some(true)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendfile64(
    to: c_int,
    from: c_int,
    offset: *mut off64_t,
    length: size_t,
) -> ssize_t {
    if are_simulated(to, from) {
        return -1;
    }
    // SAFETY: the arguments are the caller's.
    unsafe {
        system4(
            libc::SYS_sendfile,
            arg(to),
            arg(from),
            offset.expose_provenance(),
            length,
        ) as ssize_t
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn splice(
    from: c_int,
    from_offset: *mut off64_t,
    to: c_int,
    to_offset: *mut off64_t,
    length: size_t,
    flags: libc::c_uint,
) -> ssize_t {
    if are_simulated(to, from) {
        return -1;
    }
    let (from, to) = (arg(from), arg(to));
    let offsets = (
        from_offset.expose_provenance(),
        to_offset.expose_provenance(),
    );
    let arguments = [from, offsets.0, to, offsets.1, length, flags as usize];
    // SAFETY: the arguments are the caller's.
    unsafe { system(libc::SYS_splice, arguments) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn copy_file_range(
    from: c_int,
    from_offset: *mut off64_t,
    to: c_int,
    to_offset: *mut off64_t,
    length: size_t,
    flags: libc::c_uint,
) -> ssize_t {
    if are_simulated(to, from) {
        return -1;
    }
    let (from, to) = (arg(from), arg(to));
    let offsets = (
        from_offset.expose_provenance(),
        to_offset.expose_provenance(),
    );
    let arguments = [from, offsets.0, to, offsets.1, length, flags as usize];
    // SAFETY: the arguments are the caller's.
    unsafe { system(libc::SYS_copy_file_range, arguments) as ssize_t }
}
