//! Sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use libc::{c_int, c_uint, c_void, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t};

use super::buffers::Buffers;
use super::{
    Waits, address, arg, count, descriptors, groups, last_error, operate, returned, socket_option,
    status, system, system4,
};
use crate::context;
use crate::kernel::files::Kind;
use crate::kernel::net::{Addr, Claim};
use crate::kernel::tcp::{TcpSocket, keep_alive::TimeOuts};
use crate::kernel::udp::UdpSocket;
use crate::kernel::{Errno, Result};

const FLAGS: c_int = libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC;

/// Makes a socket of the system.
fn system_socket(domain: c_int, ty: c_int, protocol: c_int) -> c_int {
    // SAFETY: the arguments are numbers.
    unsafe { system4(libc::SYS_socket, arg(domain), arg(ty), arg(protocol), 0) as c_int }
}

fn domain(fd: c_int) -> c_int {
    socket_option(fd, libc::SOL_SOCKET, libc::SO_DOMAIN).unwrap_or(libc::AF_INET)
}

#[unsafe(no_mangle)]
extern "C" fn socket(domain: c_int, ty: c_int, protocol: c_int) -> c_int {
    let fd = system_socket(domain, ty, protocol);
    if fd < 0 {
        return fd;
    }
    context::call(|engine, caller| {
        let mut kernel = engine.kernel.lock();
        let kind = match (domain, ty & !FLAGS) {
            (libc::AF_INET | libc::AF_INET6 | libc::AF_UNIX, libc::SOCK_STREAM) => {
                Kind::Tcp(TcpSocket::New { bound: None })
            }
            (libc::AF_INET | libc::AF_INET6, libc::SOCK_DGRAM) => Kind::Udp(UdpSocket::default()),
            (libc::AF_UNIX, _) => {
                return kernel.record_unsimulated("Unix sockets for datagrams".to_owned());
            }
            (libc::AF_NETLINK, _) => {
                return kernel.record_unsimulated("the network's interfaces".to_owned());
            }
            _ => {
                return kernel
                    .record_unsimulated(format!("sockets of the family {domain}, type {ty}"));
            }
        };
        let is_nonblocking = ty & libc::SOCK_NONBLOCK != 0;
        let file = kernel.files.open(fd, caller, kind, is_nonblocking);
        kernel.files.get_mut(file).domain = domain;
    });
    fd
}

/// How a socket that is bound to an address uses its port.
fn claim(fd: c_int, ip: IpAddr) -> Claim {
    let is_set =
        |level, option| socket_option::<c_int>(fd, level, option).is_some_and(|it| it != 0);
    Claim {
        ip,
        is_only_v6: ip.is_ipv6() && is_set(libc::IPPROTO_IPV6, libc::IPV6_V6ONLY),
        reuses_addr: is_set(libc::SOL_SOCKET, libc::SO_REUSEADDR),
        reuses_port: is_set(libc::SOL_SOCKET, libc::SO_REUSEPORT),
    }
}

/// As Linux, datagrams to all hosts need the permission of `SO_BROADCAST`.
fn check_broadcast(fd: c_int, to: SocketAddr) -> Result<()> {
    let is_broadcast = to.ip() == IpAddr::V4(Ipv4Addr::BROADCAST);
    let is_allowed = || socket_option::<c_int>(fd, libc::SOL_SOCKET, libc::SO_BROADCAST);
    match is_broadcast && is_allowed().is_none_or(|it| it == 0) {
        true => Err(Errno(libc::EACCES)),
        false => Ok(()),
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn socketpair(
    domain: c_int,
    ty: c_int,
    protocol: c_int,
    into: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    let result = unsafe {
        system4(
            libc::SYS_socketpair,
            arg(domain),
            arg(ty),
            arg(protocol),
            into.expose_provenance(),
        ) as c_int
    };
    if result == 0 && ty & !FLAGS == libc::SOCK_STREAM {
        // SAFETY: the call has written two numbers.
        let fds = unsafe { [into.read(), into.add(1).read()] };
        context::call(|engine, caller| {
            let mut kernel = engine.kernel.lock();
            let ends = kernel.pair(caller);
            let is_nonblocking = ty & libc::SOCK_NONBLOCK != 0;
            for (fd, end) in fds.into_iter().zip([ends.0, ends.1]) {
                let kind = Kind::Tcp(TcpSocket::Connection(end));
                let file = kernel.files.open(fd, caller, kind, is_nonblocking);
                kernel.files.get_mut(file).domain = domain;
                kernel.set_file(end, file);
            }
        });
    }
    result
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bind(fd: c_int, addr: *const sockaddr, length: socklen_t) -> c_int {
    let result = operate(fd, Waits::Never, |kernel, file, owner| {
        // SAFETY: as the caller of the C function promises.
        let to = unsafe { address::read_for(kernel.files.get(file).domain, addr, length) }?;
        let to = to.ok_or(Errno(libc::EINVAL))?;
        match (&kernel.files.get(file).kind, to) {
            (Kind::Tcp(_), Addr::Unix(path, _)) if path.first().is_some_and(|it| *it != 0) => {
                kernel.check_unbound(file)?;
                let host = &mut kernel.hosts[owner.host];
                let own = Addr::Unix(path, None);
                let own = address::make_file(fd, &host.name, &mut host.disk, own)?;
                kernel.bind_stream(owner, file, own, |ip| claim(fd, ip))
            }
            (Kind::Tcp(_), to) => kernel.bind_stream(owner, file, to, |ip| claim(fd, ip)),
            (Kind::Udp(_), Addr::Inet(to)) => kernel.bind_udp(owner, file, to, claim(fd, to.ip())),
            _ => Err(Errno(libc::EINVAL)),
        }
    });
    match result {
        Some(result) => status(result),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            system4(
                libc::SYS_bind,
                arg(fd),
                addr.expose_provenance(),
                length as usize,
                0,
            ) as c_int
        },
    }
}

#[unsafe(no_mangle)]
extern "C" fn listen(fd: c_int, backlog: c_int) -> c_int {
    let result = operate(fd, Waits::Never, |kernel, file, owner| {
        kernel.listen(owner, file, backlog)
    });
    match result {
        Some(result) => status(result),
        // SAFETY: the arguments are numbers.
        None => unsafe { system4(libc::SYS_listen, arg(fd), arg(backlog), 0, 0) as c_int },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn connect(fd: c_int, addr: *const sockaddr, length: socklen_t) -> c_int {
    let mut is_begun = false;
    let result = operate(fd, Waits::ToSend, |kernel, file, owner| {
        // SAFETY: as the caller of the C function promises.
        let addr = unsafe { address::read_for(kernel.files.get(file).domain, addr, length) }?;
        let is_nonblocking = kernel.files.get(file).is_nonblocking;
        let (is_stream, addr) = match (&kernel.files.get(file).kind, addr) {
            (Kind::Udp(_), None) => (false, None),
            (Kind::Udp(_), Some(Addr::Inet(addr))) => {
                check_broadcast(fd, addr)?;
                (false, Some(addr))
            }
            (Kind::Tcp(_), Some(addr)) => {
                let result = {
                    let addr = address::find_file(&kernel.hosts[owner.host].disk, addr)?;
                    kernel.connect(owner, file, addr)
                };
                is_begun = true;
                return match result {
                    // The thread waits for the answer.
                    Err(Errno(libc::EINPROGRESS | libc::EALREADY)) if !is_nonblocking => {
                        Err(Errno(libc::EAGAIN))
                    }
                    result => result,
                };
            }
            (Kind::Tcp(_), None) => (true, None),
            _ => return Err(Errno(libc::EINVAL)),
        };
        match is_stream {
            true => Err(Errno(libc::EINVAL)),
            false => kernel.connect_udp(owner, file, addr),
        }
    });
    match result {
        // Only the time-out of a blocking attempt ends so.
        Some(Err(Errno(libc::EAGAIN))) if is_begun => status(Err(Errno(libc::EINPROGRESS))),
        Some(result) => status(result),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            system4(
                libc::SYS_connect,
                arg(fd),
                addr.expose_provenance(),
                length as usize,
                0,
            ) as c_int
        },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept(fd: c_int, addr: *mut sockaddr, length: *mut socklen_t) -> c_int {
    // SAFETY: the arguments are the caller's.
    unsafe { accept4(fd, addr, length, 0) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn accept4(
    fd: c_int,
    addr: *mut sockaddr,
    length: *mut socklen_t,
    flags: c_int,
) -> c_int {
    let result = operate(fd, Waits::ToReceive, |kernel, file, owner| {
        if !matches!(kernel.files.get(file).kind, Kind::Tcp(_)) {
            return Err(Errno(libc::EOPNOTSUPP));
        }
        let (end, peer) = kernel.accept(owner, file)?;
        let domain = domain(fd);
        let new = system_socket(domain, libc::SOCK_STREAM | flags, 0);
        if new < 0 {
            kernel.put_back(owner, file, end);
            return Err(last_error());
        }
        let kind = Kind::Tcp(TcpSocket::Connection(end));
        let is_nonblocking = flags & libc::SOCK_NONBLOCK != 0;
        let accepted = kernel.files.open(new, owner, kind, is_nonblocking);
        kernel.files.get_mut(accepted).domain = domain;
        kernel.set_accepted(owner, file, end, accepted);
        inherit(fd, new);
        // SAFETY: as the caller of the C function promises.
        unsafe { address::write(&peer, domain, addr, length) };
        Ok(new)
    });
    match result {
        Some(result) => returned(result) as c_int,
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            let flags = arg(flags);
            system4(
                libc::SYS_accept4,
                arg(fd),
                addr.expose_provenance(),
                length.expose_provenance(),
                flags,
            ) as c_int
        },
    }
}

/// Gives an accepted socket the options that Linux takes over from the one that listens, if they
/// differ.
fn inherit(listener: c_int, accepted: c_int) {
    const OPTIONS: [(c_int, c_int); 14] = [
        (libc::SOL_SOCKET, libc::SO_REUSEADDR),
        (libc::SOL_SOCKET, libc::SO_REUSEPORT),
        (libc::SOL_SOCKET, libc::SO_KEEPALIVE),
        (libc::SOL_SOCKET, libc::SO_LINGER),
        (libc::SOL_SOCKET, libc::SO_RCVTIMEO),
        (libc::SOL_SOCKET, libc::SO_SNDTIMEO),
        (libc::SOL_SOCKET, libc::SO_RCVBUF),
        (libc::SOL_SOCKET, libc::SO_SNDBUF),
        (libc::IPPROTO_TCP, libc::TCP_NODELAY),
        (libc::IPPROTO_TCP, libc::TCP_KEEPIDLE),
        (libc::IPPROTO_TCP, libc::TCP_KEEPINTVL),
        (libc::IPPROTO_TCP, libc::TCP_KEEPCNT),
        (libc::IPPROTO_TCP, libc::TCP_USER_TIMEOUT),
        (libc::IPPROTO_IP, libc::IP_TTL),
    ];
    for (level, option) in OPTIONS {
        // A time-out has 16 bytes, the others have fewer.
        let read = |fd| socket_option::<[c_int; 4]>(fd, level, option);
        let (Some(mut value), other) = (read(listener), read(accepted)) else {
            continue;
        };
        if Some(value) == other {
            continue;
        }
        let bytes = match option {
            libc::SO_RCVTIMEO | libc::SO_SNDTIMEO if level == libc::SOL_SOCKET => 16,
            libc::SO_LINGER if level == libc::SOL_SOCKET => 8,
            _ => 4,
        };
        if level == libc::SOL_SOCKET && matches!(option, libc::SO_RCVBUF | libc::SO_SNDBUF) {
            // The system doubles what it is given.
            value[0] /= 2;
        }
        let value = value.as_ptr().expose_provenance();
        let arguments = [arg(accepted), arg(level), arg(option), value, bytes, 0];
        // SAFETY: the value has so many bytes.
        let _refused = unsafe { system(libc::SYS_setsockopt, arguments) };
    }
}

#[unsafe(no_mangle)]
extern "C" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let result = operate(fd, Waits::Never, |kernel, file, _| {
        match kernel.files.get(file).kind {
            Kind::Tcp(_) => kernel.shut_down(file, how),
            Kind::Udp(_) => kernel.shut_down_udp(file, how),
            _ => Err(Errno(libc::ENOTSOCK)),
        }
    });
    match result {
        Some(result) => status(result),
        // SAFETY: the arguments are numbers.
        None => unsafe { system4(libc::SYS_shutdown, arg(fd), arg(how), 0, 0) as c_int },
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getsockname(fd: c_int, addr: *mut sockaddr, length: *mut socklen_t) -> c_int {
    let result = operate(fd, Waits::Never, |kernel, file, _| {
        match kernel.files.get(file).kind {
            Kind::Tcp(_) => kernel.stream_addr(file),
            Kind::Udp(_) => Ok(kernel.udp_addr(file)?.map(Addr::Inet)),
            _ => Err(Errno(libc::ENOTSOCK)),
        }
    });
    // The system's socket is not bound, and has the address of one that is not.
    let own = match result {
        Some(Ok(Some(own))) => own,
        Some(Err(error)) => return status(Err(error)),
        // SAFETY: the arguments are the caller's.
        Some(Ok(None)) | None => unsafe {
            let result = system4(
                libc::SYS_getsockname,
                arg(fd),
                addr.expose_provenance(),
                length.expose_provenance(),
                0,
            );
            return result as c_int;
        },
    };
    // SAFETY: as the caller of the C function promises.
    unsafe { address::write(&own, domain(fd), addr, length) };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getpeername(fd: c_int, addr: *mut sockaddr, length: *mut socklen_t) -> c_int {
    let result = operate(fd, Waits::Never, |kernel, file, _| {
        match kernel.files.get(file).kind {
            Kind::Tcp(_) => kernel.stream_peer(file),
            Kind::Udp(_) => kernel.udp_peer(file).map(Addr::Inet),
            _ => Err(Errno(libc::ENOTSOCK)),
        }
    });
    match result {
        Some(Ok(peer)) => {
            // SAFETY: as the caller of the C function promises.
            unsafe { address::write(&peer, domain(fd), addr, length) };
            0
        }
        Some(Err(error)) => status(Err(error)),
        // SAFETY: the arguments are the caller's.
        None => unsafe {
            system4(
                libc::SYS_getpeername,
                arg(fd),
                addr.expose_provenance(),
                length.expose_provenance(),
                0,
            ) as c_int
        },
    }
}

/// Only the error of a socket is simulated. The system's socket keeps all other options.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *mut c_void,
    length: *mut socklen_t,
) -> c_int {
    if (level, option) == (libc::SOL_SOCKET, libc::SO_ERROR) {
        let error = operate(fd, Waits::Never, |kernel, file, _| {
            match kernel.files.get(file).kind {
                Kind::Tcp(_) => Ok(kernel.stream_error(file)),
                Kind::Udp(_) => Ok(kernel.udp_error(file)),
                _ => Err(Errno(libc::ENOTSOCK)),
            }
        });
        match error {
            None => {}
            Some(Err(error)) => return status(Err(error)),
            // SAFETY: as the caller of the C function promises.
            Some(Ok(error)) => unsafe {
                let bytes = (length.read() as usize).min(size_of::<c_int>());
                value
                    .cast::<u8>()
                    .copy_from_nonoverlapping(error.to_ne_bytes().as_ptr(), bytes);
                length.write(bytes as socklen_t);
                return 0;
            },
        }
    }
    let arguments = [
        arg(fd),
        arg(level),
        arg(option),
        value.expose_provenance(),
        length.expose_provenance(),
        0,
    ];
    // SAFETY: the arguments are the caller's.
    let result = unsafe { system(libc::SYS_getsockopt, arguments) as c_int };
    let is_state =
        level == libc::SOL_SOCKET && matches!(option, libc::SO_ACCEPTCONN | libc::SO_PEERCRED);
    if result == 0 && is_state {
        // SAFETY: the system has found the value to be as long as it says.
        unsafe { set_state(fd, option, value, length.read() as usize) };
    }
    result
}

/// Writes what depends on the state of a simulated socket, for which the system's has the value of
/// a new one.
///
/// # Safety
///
/// So many bytes are writable.
unsafe fn set_state(fd: c_int, option: c_int, value: *mut c_void, length: usize) {
    let state = operate(fd, Waits::Never, |kernel, file, _| {
        let file = kernel.files.get(file);
        let is_unix = file.domain == libc::AF_UNIX;
        Ok(match &file.kind {
            Kind::Tcp(TcpSocket::Listener(_)) => (true, false),
            Kind::Tcp(TcpSocket::Connection(_)) => (false, is_unix),
            _ => (false, false),
        })
    });
    let Some(Ok((is_listening, has_peer))) = state else {
        return;
    };
    // SAFETY: promised by the caller; the lengths are checked, and the calls have no arguments. The
    // peer of a Unix stream is a thread of this process.
    unsafe {
        if option == libc::SO_ACCEPTCONN && length == size_of::<c_int>() {
            value.cast::<c_int>().write_unaligned(is_listening.into());
        } else if option == libc::SO_PEERCRED && has_peer && length == size_of::<libc::ucred>() {
            let own = libc::ucred {
                pid: libc::getpid(),
                uid: libc::geteuid(),
                gid: libc::getegid(),
            };
            value.cast::<libc::ucred>().write_unaligned(own);
        }
    }
}

/// The system's socket keeps the options. The kernel of the simulation needs to know of some.
#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(
    fd: c_int,
    level: c_int,
    option: c_int,
    value: *const c_void,
    length: socklen_t,
) -> c_int {
    // SAFETY: the arguments are the caller's.
    if let Some(result) = unsafe { groups::set_option(fd, (level, option), value, length) } {
        return status(result);
    }
    let (level_arg, value_arg) = (arg(level), value.expose_provenance());
    let arguments = [
        arg(fd),
        level_arg,
        arg(option),
        value_arg,
        length as usize,
        0,
    ];
    // SAFETY: the arguments are the caller's.
    let result = unsafe { system(libc::SYS_setsockopt, arguments) as c_int };
    let is_segment = (level, option) == (libc::SOL_UDP, libc::UDP_SEGMENT);
    if result == 0 && (is_segment || TimeOuts::has(level, option)) {
        // SAFETY: the system has read a number there.
        let value = unsafe { value.cast::<c_int>().read_unaligned() };
        let _other = operate(fd, Waits::Never, |kernel, file, _| {
            match &mut kernel.files.get_mut(file).kind {
                Kind::Udp(socket) if is_segment => socket.segment = value as u16,
                Kind::Tcp(_) => kernel.set_time_out(file, (level, option), value),
                _ => {}
            }
            Ok(())
        });
    }
    result
}

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

/// Whether the interfaces of the system could be listed: a host has none.
#[unsafe(no_mangle)]
unsafe extern "C" fn getifaddrs(into: *mut *mut libc::ifaddrs) -> c_int {
    let is_host = context::call(|engine, _| {
        engine
            .kernel
            .lock()
            .record_unsimulated("the network's interfaces".to_owned());
    });
    if is_host.is_some() {
        return status(Err(Errno(libc::ENOSYS)));
    }
    type GetIfAddrs = unsafe extern "C" fn(*mut *mut libc::ifaddrs) -> c_int;
    // SAFETY: the C library's function has this type, and the argument is the caller's.
    unsafe {
        let call = super::next(c"getifaddrs");
        std::mem::transmute::<*mut c_void, GetIfAddrs>(call)(into)
    }
}
