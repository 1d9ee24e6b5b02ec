//! Sending and receiving on sockets.

use libc::{c_int, c_uint, c_void, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use super::buffers::Buffers;
use super::sockets::{check_broadcast, domain};
use super::{Waits, address, arg, count, descriptors, operate, status, system, system4};
use crate::kernel::files::Kind;
use crate::kernel::net::Addr;
use crate::kernel::{Errno, Result};

/// How an operation with these flags waits.
fn waits(flags: c_int, otherwise: Waits) -> Waits {
    match flags & libc::MSG_DONTWAIT {
        0 => otherwise,
        _ => Waits::Never,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn send(fd: c_int, buf: *const c_void, length: size_t, flags: c_int) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    unsafe { sendto(fd, buf, length, flags, std::ptr::null(), 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recv(fd: c_int, buf: *mut c_void, length: size_t, flags: c_int) -> ssize_t {
    let (addr, addr_length) = (std::ptr::null_mut(), std::ptr::null_mut());
    // SAFETY: the arguments are the caller's.
    unsafe { recvfrom(fd, buf, length, flags, addr, addr_length) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendto(
    fd: c_int,
    buf: *const c_void,
    length: size_t,
    flags: c_int,
    addr: *const sockaddr,
    addr_length: socklen_t,
) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let result = unsafe {
        let from = Buffers::one(buf, length);
        send_message(fd, &from, flags, (addr, addr_length), None)
    };
    match result {
        Some(result) => count(result),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let (flags, addr_length) = (arg(flags), addr_length as usize);
            let arguments = [
                arg(fd),
                buf.expose_provenance(),
                length,
                flags,
                addr.expose_provenance(),
                addr_length,
            ];
            system(libc::SYS_sendto, arguments) as ssize_t
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    buf: *mut c_void,
    length: size_t,
    flags: c_int,
    addr: *mut sockaddr,
    addr_length: *mut socklen_t,
) -> ssize_t {
    // SAFETY: as the caller of the C function promises.
    let result = unsafe {
        let mut into = Buffers::one(buf, length);
        if addr.is_null() && flags & libc::MSG_TRUNC == 0 {
            descriptors::receive(fd, &mut into, waits(flags, Waits::ToReceive), flags)
        } else {
            let received = receive_message(fd, &mut into, flags, (addr, addr_length));
            received.map(|received| received.map(|received| received.bytes))
        }
    };
    match result {
        Some(result) => count(result),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let (flags, addr_length) = (arg(flags), addr_length.expose_provenance());
            let arguments = [
                arg(fd),
                buf.expose_provenance(),
                length,
                flags,
                addr.expose_provenance(),
                addr_length,
            ];
            system(libc::SYS_recvfrom, arguments) as ssize_t
        },
    }
}

/// Sends to an address, or to the peer of the socket if it is null. Datagrams of the length
/// `segment` each, if there is one.
///
/// # Safety
///
/// The address is null, or so many bytes of it are valid.
unsafe fn send_message(
    fd: c_int,
    from: &Buffers<'_>,
    flags: c_int,
    (addr, length): (*const sockaddr, socklen_t),
    segment: Option<u16>,
) -> Option<Result<usize>> {
    let waits = waits(flags, Waits::ToSend);
    let mut is_stream = false;
    let result = operate(fd, waits, |kernel, file, owner| {
        match kernel.files.get(file).kind {
            Kind::Udp(_) => {}
            Kind::Tcp(_) => {
                is_stream = true;
                return Ok(0);
            }
            _ => return Err(Errno(libc::ENOTSOCK)),
        }
        let to = match addr.is_null() {
            true => None,
            // SAFETY: promised by the caller.
            false => match unsafe { address::read(addr, length) }? {
                Some(Addr::Inet(to)) => {
                    let is_v4 = kernel.files.get(file).domain == libc::AF_INET;
                    if is_v4 && to.is_ipv6() {
                        return Err(Errno(libc::EAFNOSUPPORT));
                    }
                    check_broadcast(fd, to)?;
                    Some(to)
                }
                _ => return Err(Errno(libc::EAFNOSUPPORT)),
            },
        };
        descriptors::send_datagrams(kernel, owner, file, from, (to, segment))
    });
    // A stream does not need the address.
    if is_stream {
        return descriptors::send(fd, from, waits);
    }
    result
}

/// What was received.
struct Received {
    bytes: usize,
    is_cut_off: bool,
}

/// # Safety
///
/// As for [`address::write`].
unsafe fn receive_message(
    fd: c_int,
    into: &mut Buffers<'_>,
    flags: c_int,
    (addr, length): (*mut sockaddr, *mut socklen_t),
) -> Option<Result<Received>> {
    let is_peek = flags & libc::MSG_PEEK != 0;
    let waits = waits(flags, Waits::ToReceive);
    let mut is_stream = false;
    let result = operate(fd, waits, |kernel, file, _| {
        match kernel.files.get(file).kind {
            Kind::Udp(_) => {}
            Kind::Tcp(_) => {
                is_stream = true;
                return Ok(Received {
                    bytes: 0,
                    is_cut_off: false,
                });
            }
            _ => return Err(Errno(libc::ENOTSOCK)),
        }
        let (from, data) = kernel.receive_from(file, is_peek)?;
        // SAFETY: promised by the caller.
        unsafe { address::write(&Addr::Inet(from), domain(fd), addr, length) };
        let filled = into.fill(&data);
        let is_cut_off = filled < data.len();
        let bytes = match flags & libc::MSG_TRUNC {
            0 => filled,
            _ => data.len(),
        };
        Ok(Received { bytes, is_cut_off })
    });
    if !is_stream {
        return result;
    }
    if !length.is_null() {
        // SAFETY: promised by the caller. A stream has no address for each message.
        unsafe { length.write(0) };
    }
    let received = descriptors::receive(fd, into, waits, flags)?;
    Some(received.map(|bytes| Received {
        bytes,
        is_cut_off: false,
    }))
}

/// Whether descriptors are to be sent with a message (`SCM_RIGHTS`).
///
/// # Safety
///
/// The message is valid.
unsafe fn has_descriptors(message: *const msghdr) -> bool {
    // SAFETY: promised by the caller; the macros of the C library walk over the control messages.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let kind = ((*control).cmsg_level, (*control).cmsg_type);
            if kind == (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
                return true;
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    false
}

/// The length of the datagrams that one message is to be cut into (`UDP_SEGMENT`).
///
/// # Safety
///
/// The message is valid.
unsafe fn segment_of(message: *const msghdr) -> Option<u16> {
    // SAFETY: promised by the caller; the macros of the C library walk over the control messages.
    unsafe {
        let mut control = libc::CMSG_FIRSTHDR(message);
        while !control.is_null() {
            let kind = ((*control).cmsg_level, (*control).cmsg_type);
            if kind == (libc::SOL_UDP, libc::UDP_SEGMENT) {
                return Some(libc::CMSG_DATA(control).cast::<u16>().read_unaligned());
            }
            control = libc::CMSG_NXTHDR(message, control);
        }
    }
    None
}

/// # Safety
///
/// As for the C function.
unsafe fn send_one(fd: c_int, message: *const msghdr, flags: c_int) -> Option<Result<usize>> {
    // SAFETY: promised by the caller.
    unsafe {
        if has_descriptors(message) {
            return operate(fd, Waits::Never, |kernel, _, _| {
                kernel.record_unsimulated("descriptors that are sent with bytes".to_owned());
                Err(Errno(libc::EOPNOTSUPP))
            });
        }
        let header = &*message;
        let from = Buffers::several(header.msg_iov, header.msg_iovlen);
        let addr = (
            header.msg_name.cast::<sockaddr>().cast_const(),
            header.msg_namelen,
        );
        send_message(fd, &from, flags, addr, segment_of(message))
    }
}

/// # Safety
///
/// As for the C function.
unsafe fn receive_one(fd: c_int, message: *mut msghdr, flags: c_int) -> Option<Result<usize>> {
    // SAFETY: promised by the caller.
    unsafe {
        let header = &mut *message;
        let mut into = Buffers::several(header.msg_iov, header.msg_iovlen);
        let addr = (
            header.msg_name.cast::<sockaddr>(),
            &raw mut header.msg_namelen,
        );
        let received = receive_message(fd, &mut into, flags, addr)?;
        Some(received.map(|received| {
            header.msg_controllen = 0;
            header.msg_flags = if received.is_cut_off {
                libc::MSG_TRUNC
            } else {
                0
            };
            received.bytes
        }))
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    match unsafe { send_one(fd, message, flags) } {
        Some(result) => count(result),
        // SAFETY: as above.
        None => unsafe {
            system4(
                libc::SYS_sendmsg,
                arg(fd),
                message.expose_provenance(),
                arg(flags),
                0,
            ) as ssize_t
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    // SAFETY: the arguments are the caller's.
    match unsafe { receive_one(fd, message, flags) } {
        Some(result) => count(result),
        // SAFETY: as above.
        None => unsafe {
            system4(
                libc::SYS_recvmsg,
                arg(fd),
                message.expose_provenance(),
                arg(flags),
                0,
            ) as ssize_t
        },
    }
}

/// Passes messages to `f` until one fails. Only the first error is one of the call.
///
/// # Safety
///
/// So many messages are valid.
unsafe fn each(
    messages: *mut mmsghdr,
    number: c_uint,
    mut f: impl FnMut(&mut mmsghdr, bool) -> Option<Result<usize>>,
) -> Option<c_int> {
    for done in 0..number as usize {
        // SAFETY: promised by the caller.
        let message = unsafe { &mut *messages.add(done) };
        match f(message, done == 0)? {
            Ok(bytes) => message.msg_len = bytes as c_uint,
            Err(error) if done == 0 => return Some(status(Err(error))),
            Err(_) => return Some(done as c_int),
        }
    }
    Some(number as c_int)
}

#[unsafe(no_mangle)]
unsafe extern "C" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    number: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    let sent = unsafe {
        each(messages, number, |message, _| {
            send_one(fd, &raw const message.msg_hdr, flags)
        })
    };
    sent.unwrap_or_else(|| {
        let flags = arg(flags);
        // SAFETY: as above.
        unsafe {
            system4(
                libc::SYS_sendmmsg,
                arg(fd),
                messages.expose_provenance(),
                number as usize,
                flags,
            ) as c_int
        }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    number: c_uint,
    flags: c_int,
    timeout: *mut libc::timespec,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    let received = unsafe {
        each(messages, number, |message, is_first| {
            // It waits for the first only.
            let flags = if is_first {
                flags
            } else {
                flags | libc::MSG_DONTWAIT
            };
            receive_one(fd, &raw mut message.msg_hdr, flags)
        })
    };
    received.unwrap_or_else(|| {
        let (number, flags) = (number as usize, arg(flags));
        let arguments = [
            arg(fd),
            messages.expose_provenance(),
            number,
            flags,
            timeout.expose_provenance(),
            0,
        ];
        // SAFETY: as above.
        unsafe { system(libc::SYS_recvmmsg, arguments) as c_int }
    })
}
