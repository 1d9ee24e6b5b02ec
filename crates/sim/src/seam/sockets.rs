//! Sockets.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use libc::{c_int, c_void, sockaddr, socklen_t};

use super::{
    Waits, address, arg, groups, last_error, operate, returned, socket_option, status, system,
    system4,
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

pub(super) fn domain(fd: c_int) -> c_int {
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
pub(super) fn check_broadcast(fd: c_int, to: SocketAddr) -> Result<()> {
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
