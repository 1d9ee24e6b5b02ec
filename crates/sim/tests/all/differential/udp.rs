//! UDP by raddle, std, socket2 and the C library.

use std::io;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::AsRawFd;
use std::time::Duration;

use raddle::io::Interest;
use raddle::net::UdpSocket;
use socket2::{Domain, SockRef, Socket, Type};

use super::harness::{Log, check, compared, settle, settle_blocking};

compared! { async
    bind_and_addresses send_before_bind connected connected_filters refused_when_connected
    refused_when_not_connected refusal_by_send truncation zero_length lengths peek try_operations
    local_addr_after_connect reconnect disconnect send_to_by_connected segments broadcast
    v6 dual_stack readiness shutdown full_receiver bind_conflicts errors_of_new connect_to_any
    filter_keeps_what_was_received
}
compared! { blocking timeouts std_sockets clones messages }

async fn bind(log: &Log, name: &'static str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let addr = socket.local_addr();
    log.name(&addr, name);
    (socket, addr.unwrap())
}

/// Receives what has arrived.
fn receive(log: &Log, what: &str, socket: &UdpSocket) {
    let mut buf = [0; 16];
    match socket.try_io(Interest::READABLE, || {
        let socket = SockRef::from(socket);
        let mut raw = [MaybeUninit::uninit(); 16];
        let (bytes, from) = socket.recv_from(&mut raw)?;
        for (to, from) in buf.iter_mut().zip(&raw[..bytes]) {
            // SAFETY: so many bytes were received.
            *to = unsafe { from.assume_init() };
        }
        Ok((bytes, from.as_socket().unwrap()))
    }) {
        Ok((bytes, from)) => {
            log.line(what, &buf[..bytes]);
            log.addr(format!("{what} from"), &Ok(from));
        }
        Err(error) => log.result::<()>(what, &Err(error)),
    }
}

async fn bind_and_addresses(log: Log) {
    let (socket, addr) = bind(&log, "socket").await;
    log.addr("local", &socket.local_addr());
    log.addr("peer", &socket.peer_addr());
    log.result("again", &UdpSocket::bind(addr).await.map(drop));
    log.result("foreign", &UdpSocket::bind("192.0.2.1:0").await.map(drop));
    let any = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    log.name(&any.local_addr(), "any");
    log.addr("any", &any.local_addr());
    log.result("bind twice", &SockRef::from(&any).bind(&addr.into()));
}

async fn send_before_bind(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    log.addr(
        "new",
        &socket.local_addr().map(|addr| addr.as_socket().unwrap()),
    );
    log.poll("new", &socket);
    log.result("recv", &socket.recv(&mut [MaybeUninit::uninit(); 4]));
    log.result("send", &socket.send(b"x"));
    log.addr(
        "after send",
        &socket.local_addr().map(|addr| addr.as_socket().unwrap()),
    );
    log.result("send_to", &socket.send_to(b"abc", &addr.into()));
    let local = socket.local_addr().map(|addr| addr.as_socket().unwrap());
    log.name(&local, "sender");
    log.addr("bound", &local);
    settle().await;
    receive(&log, "receiver", &receiver);
}

async fn connected(log: Log) {
    let (one, one_addr) = bind(&log, "one").await;
    let (two, two_addr) = bind(&log, "two").await;
    one.connect(two_addr).await.unwrap();
    two.connect(one_addr).await.unwrap();
    log.addr("peer", &one.peer_addr());
    log.result("send", &one.send(b"question").await);
    let mut buf = [0; 32];
    log.result("recv", &two.recv(&mut buf).await);
    log.result("answer", &two.send(b"answer").await);
    let received = one.recv_from(&mut buf).await;
    log.result(
        "recv_from",
        &received
            .as_ref()
            .map(|(n, _)| *n)
            .map_err(|e| e.kind().into()),
    );
    log.addr("from", &received.map(|(_, from)| from));
}

async fn connected_filters(log: Log) {
    let (one, one_addr) = bind(&log, "one").await;
    let (two, two_addr) = bind(&log, "two").await;
    let (three, _) = bind(&log, "three").await;
    one.connect(two_addr).await.unwrap();
    three.send_to(b"foreign", one_addr).await.unwrap();
    settle().await;
    receive(&log, "of three", &one);
    two.send_to(b"wanted", one_addr).await.unwrap();
    settle().await;
    receive(&log, "of two", &one);
    three.connect(one_addr).await.unwrap();
    three.send(b"x").await.unwrap();
    settle().await;
    log.result(
        "three is refused",
        &three.take_error().map(|e| e.and_then(|e| e.raw_os_error())),
    );
    receive(&log, "of three", &three);
}

async fn closed_port() -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.local_addr().unwrap()
}

async fn refused_when_connected(log: Log) {
    let addr = closed_port().await;
    let (socket, _) = bind(&log, "socket").await;
    log.result("connect", &socket.connect(addr).await);
    log.result("send", &socket.send(b"x").await);
    settle().await;
    log.poll("refused", &socket);
    log.result("recv", &socket.recv(&mut [0; 4]).await);
    log.poll("after", &socket);
    log.result("try_recv", &socket.try_recv(&mut [0; 4]));
    log.result("send again", &socket.send(b"x").await);
    settle().await;
    let error = socket
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("take_error", &error);
    log.result("try_recv", &socket.try_recv(&mut [0; 4]));
}

async fn refused_when_not_connected(log: Log) {
    let addr = closed_port().await;
    let (socket, _) = bind(&log, "socket").await;
    log.result("send_to", &socket.send_to(b"x", addr).await);
    settle().await;
    log.poll("socket", &socket);
    receive(&log, "nothing", &socket);
    log.result("send_to again", &socket.send_to(b"x", addr).await);
}

async fn refusal_by_send(log: Log) {
    let addr = closed_port().await;
    let (socket, _) = bind(&log, "socket").await;
    socket.connect(addr).await.unwrap();
    log.result("send", &socket.send(b"x").await);
    settle().await;
    log.result("second send", &socket.send(b"x").await);
    settle().await;
    log.result("third send", &socket.send(b"x").await);
}

async fn truncation(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    let mut buf = [0; 4];
    sender.send_to(b"0123456789", addr).await.unwrap();
    log.result("recv", &receiver.recv(&mut buf).await);
    log.line("buf", buf);
    sender.send_to(b"abc", addr).await.unwrap();
    log.result("the next", &receiver.recv(&mut buf).await);
    sender.send_to(b"0123456789", addr).await.unwrap();
    settle().await;
    let recv = |flags| {
        let mut buf = [0; 4];
        // SAFETY: the buffer has so many bytes.
        check(unsafe { libc::recv(receiver.as_raw_fd(), buf.as_mut_ptr().cast(), 4, flags) } as i64)
    };
    log.result(
        "peek with MSG_TRUNC",
        &recv(libc::MSG_PEEK | libc::MSG_TRUNC),
    );
    log.result("peek", &recv(libc::MSG_PEEK));
    log.result("MSG_TRUNC", &recv(libc::MSG_TRUNC));
    log.result("no more", &recv(libc::MSG_DONTWAIT));
    sender.send_to(b"0123456789", addr).await.unwrap();
    settle().await;
    let mut buf = [0_u8; 4];
    let mut piece = libc::iovec {
        iov_base: buf.as_mut_ptr().cast(),
        iov_len: 4,
    };
    // SAFETY: zero is a value of the struct.
    let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    // SAFETY: the message is valid.
    let received = unsafe { libc::recvmsg(receiver.as_raw_fd(), &raw mut message, 0) };
    log.result("recvmsg", &check(received as i64));
    log.line("flags", message.msg_flags);
}

async fn zero_length(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    log.result("send_to", &sender.send_to(b"", addr).await);
    settle().await;
    log.poll("receiver", &receiver);
    receive(&log, "empty", &receiver);
    receive(&log, "no more", &receiver);
    sender.send_to(b"abc", addr).await.unwrap();
    settle().await;
    log.result("into nothing", &receiver.recv(&mut []).await);
    receive(&log, "it is gone", &receiver);
    sender.connect(addr).await.unwrap();
    log.result("send", &sender.send(b"").await);
    settle().await;
    // SAFETY: the buffer has one byte.
    let read = unsafe { libc::read(receiver.as_raw_fd(), [0_u8; 1].as_mut_ptr().cast(), 1) };
    log.result("read", &check(read as i64));
    // SAFETY: no byte is read.
    let written = unsafe { libc::write(sender.as_raw_fd(), [0_u8; 1].as_ptr().cast(), 0) };
    log.result("write of nothing", &check(written as i64));
    settle().await;
    log.poll("receiver", &receiver);
}

async fn lengths(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    let data = vec![7; 70_000];
    for length in [65_506, 65_507, 65_508, 65_535, 65_536, 70_000] {
        log.result(
            format!("{length}"),
            &sender.send_to(&data[..length], addr).await,
        );
    }
    settle().await;
    let mut buf = vec![0; 70_000];
    for _ in 0..3 {
        log.result(
            "received",
            &receiver.try_recv_from(&mut buf).map(|(bytes, _)| bytes),
        );
    }
    let receiver = UdpSocket::bind("[::1]:0").await.unwrap();
    let sender = UdpSocket::bind("[::1]:0").await.unwrap();
    let addr = receiver.local_addr().unwrap();
    for length in [65_507, 65_527, 65_528] {
        log.result(
            format!("v6 {length}"),
            &sender.send_to(&data[..length], addr).await,
        );
    }
}

async fn peek(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    sender.send_to(b"abc", addr).await.unwrap();
    sender.send_to(b"defgh", addr).await.unwrap();
    let mut buf = [0; 8];
    for _ in 0..2 {
        let peeked = receiver.peek_from(&mut buf).await;
        log.result(
            "peek",
            &peeked
                .as_ref()
                .map(|(n, _)| *n)
                .map_err(|e| e.kind().into()),
        );
        log.addr("from", &peeked.map(|(_, from)| from));
    }
    log.result(
        "short peek",
        &receiver.peek_from(&mut buf[..2]).await.map(|(n, _)| n),
    );
    receive(&log, "first", &receiver);
    log.addr("sender of the next", &receiver.peek_sender().await);
    receive(&log, "second", &receiver);
    settle().await;
    log.result("peek nothing", &receiver.try_peek_from(&mut buf).map(drop));
}

async fn try_operations(log: Log) {
    let (one, addr) = bind(&log, "one").await;
    let mut buf = [0; 8];
    log.result("recv", &one.try_recv(&mut buf));
    log.result("recv_from", &one.try_recv_from(&mut buf).map(drop));
    one.writable().await.unwrap();
    log.result("send", &one.try_send(b"x"));
    log.result("send_to", &one.try_send_to(b"abc", addr));
    settle().await;
    one.readable().await.unwrap();
    log.result("recv", &one.try_recv(&mut buf));
    log.result("no more", &one.try_recv(&mut buf));
}

async fn local_addr_after_connect(log: Log) {
    let (_server, addr) = bind(&log, "server").await;
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    log.name(&socket.local_addr(), "socket");
    log.addr("bound", &socket.local_addr());
    socket.connect(addr).await.unwrap();
    log.addr("connected", &socket.local_addr());
    log.addr("peer", &socket.peer_addr());
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.connect(&addr.into()).unwrap();
    let local = socket.local_addr().map(|addr| addr.as_socket().unwrap());
    log.name(&local, "new");
    log.addr("new", &local);
}

async fn reconnect(log: Log) {
    let (one, one_addr) = bind(&log, "one").await;
    let (two, two_addr) = bind(&log, "two").await;
    let (three, three_addr) = bind(&log, "three").await;
    one.connect(two_addr).await.unwrap();
    one.connect(three_addr).await.unwrap();
    log.addr("peer", &one.peer_addr());
    one.send(b"abc").await.unwrap();
    settle().await;
    receive(&log, "two", &two);
    receive(&log, "three", &three);
    two.send_to(b"old", one_addr).await.unwrap();
    three.send_to(b"new", one_addr).await.unwrap();
    settle().await;
    receive(&log, "one", &one);
    receive(&log, "one", &one);
}

fn disconnect_by_unspec(fd: &impl AsRawFd) -> io::Result<i64> {
    // SAFETY: zero is a value of the struct.
    let mut addr: libc::sockaddr = unsafe { std::mem::zeroed() };
    addr.sa_family = libc::AF_UNSPEC as _;
    let length = size_of::<libc::sockaddr>() as _;
    // SAFETY: the address is valid.
    check(unsafe { libc::connect(fd.as_raw_fd(), &raw const addr, length) })
}

async fn disconnect(log: Log) {
    let (two, two_addr) = bind(&log, "two").await;
    let one = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    log.name(&one.local_addr(), "one");
    one.connect(two_addr).await.unwrap();
    log.result("disconnect", &disconnect_by_unspec(&one));
    log.addr("peer", &one.peer_addr());
    log.addr("local", &one.local_addr());
    log.result("send", &one.send(b"x").await);
    let port = one.local_addr().unwrap().port();
    two.send_to(b"to any", (Ipv4Addr::LOCALHOST, port))
        .await
        .unwrap();
    settle().await;
    receive(&log, "one", &one);
    log.result("again", &disconnect_by_unspec(&one));
    // A port that the system has chosen by connect is given back.
    let new = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    new.connect(&two_addr.into()).unwrap();
    log.result("disconnect new", &disconnect_by_unspec(&new));
    log.addr(
        "local of new",
        &new.local_addr().map(|addr| addr.as_socket().unwrap()),
    );
    let bound = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    log.name(&bound.local_addr(), "bound");
    bound.connect(two_addr).await.unwrap();
    log.result("disconnect bound", &disconnect_by_unspec(&bound));
    log.addr("local of bound", &bound.local_addr());
}

async fn send_to_by_connected(log: Log) {
    let (one, _) = bind(&log, "one").await;
    let (two, two_addr) = bind(&log, "two").await;
    let (three, three_addr) = bind(&log, "three").await;
    one.connect(two_addr).await.unwrap();
    log.result("send_to", &one.send_to(b"elsewhere", three_addr).await);
    settle().await;
    receive(&log, "two", &two);
    receive(&log, "three", &three);
}

fn messages(log: Log) {
    let receiver = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let sender = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    receiver.set_nonblocking(true).unwrap();
    log.name(&sender.local_addr(), "sender");
    sender.connect(receiver.local_addr().unwrap()).unwrap();
    let texts: [&[u8]; 3] = [b"a", b"bcd", b""];
    let mut pieces = texts.map(|text| libc::iovec {
        iov_base: text.as_ptr().cast_mut().cast(),
        iov_len: text.len(),
    });
    // SAFETY: zero is a value of the struct.
    let mut messages: [libc::mmsghdr; 3] = unsafe { std::mem::zeroed() };
    for (message, piece) in messages.iter_mut().zip(&mut pieces) {
        message.msg_hdr.msg_iov = piece;
        message.msg_hdr.msg_iovlen = 1;
    }
    // SAFETY: the messages are valid.
    let sent = unsafe { libc::sendmmsg(sender.as_raw_fd(), messages.as_mut_ptr(), 3, 0) };
    log.result("sendmmsg", &check(sent));
    log.line("lengths", messages.map(|message| message.msg_len));
    settle_blocking();
    let mut bufs = [[0_u8; 2]; 4];
    let mut pieces = bufs.each_mut().map(|buf| libc::iovec {
        iov_base: buf.as_mut_ptr().cast(),
        iov_len: 2,
    });
    // SAFETY: as above.
    let mut messages: [libc::mmsghdr; 4] = unsafe { std::mem::zeroed() };
    // SAFETY: as above.
    let mut names: [libc::sockaddr_in; 4] = unsafe { std::mem::zeroed() };
    for ((message, piece), name) in messages.iter_mut().zip(&mut pieces).zip(&mut names) {
        message.msg_hdr.msg_iov = piece;
        message.msg_hdr.msg_iovlen = 1;
        message.msg_hdr.msg_name = (name as *mut libc::sockaddr_in).cast();
        message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in>() as _;
    }
    let no_time = std::ptr::null_mut();
    let fd = receiver.as_raw_fd();
    // SAFETY: the messages are valid.
    let received = unsafe { libc::recvmmsg(fd, messages.as_mut_ptr(), 4, 0, no_time) };
    log.result("recvmmsg", &check(received));
    log.line("lengths", messages.map(|message| message.msg_len));
    log.line("flags", messages.map(|message| message.msg_hdr.msg_flags));
    log.line("bytes", bufs);
    log.line(
        "name length",
        messages.map(|message| message.msg_hdr.msg_namelen),
    );
    let from = SocketAddr::from((Ipv4Addr::LOCALHOST, u16::from_be(names[0].sin_port)));
    log.addr("from", &Ok(from));
    // SAFETY: as above.
    let received = unsafe { libc::recvmmsg(fd, messages.as_mut_ptr(), 4, 0, no_time) };
    log.result("no more", &check(received));
}

async fn segments(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    sender.connect(addr).await.unwrap();
    let send = |bytes: &[u8], segment: u16| {
        let mut piece = libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let mut control = [0_u64; 4];
        // SAFETY: zero is a value of the struct, and the control message has room.
        unsafe {
            let mut message: libc::msghdr = std::mem::zeroed();
            message.msg_iov = &raw mut piece;
            message.msg_iovlen = 1;
            message.msg_control = control.as_mut_ptr().cast();
            message.msg_controllen = libc::CMSG_SPACE(2) as _;
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            (*header).cmsg_level = libc::SOL_UDP;
            (*header).cmsg_type = libc::UDP_SEGMENT;
            (*header).cmsg_len = libc::CMSG_LEN(2) as _;
            libc::CMSG_DATA(header)
                .cast::<u16>()
                .write_unaligned(segment);
            check(libc::sendmsg(sender.as_raw_fd(), &raw const message, 0) as i64)
        }
    };
    log.result("send", &send(b"aabbc", 2));
    settle().await;
    for _ in 0..4 {
        receive(&log, "part", &receiver);
    }
    log.result("one segment", &send(b"abc", 8));
    settle().await;
    receive(&log, "whole", &receiver);
    log.result("segment of 0", &send(b"abc", 0));
    settle().await;
    receive(&log, "whole", &receiver);
    log.result("129 segments", &send(&[7; 129], 1));
    let set = SockRef::from(&sender);
    let option = |value: libc::c_int| {
        let length = size_of::<libc::c_int>() as _;
        let fd = set.as_raw_fd();
        // SAFETY: the value is valid.
        check(unsafe {
            libc::setsockopt(
                fd,
                libc::SOL_UDP,
                libc::UDP_SEGMENT,
                (&raw const value).cast(),
                length,
            )
        })
    };
    log.result("option", &option(3));
    while receiver.try_recv(&mut [0; 8]).is_ok() {}
    log.result("send by option", &sender.send(b"aaabbbc").await);
    settle().await;
    for _ in 0..4 {
        receive(&log, "part", &receiver);
    }
}

async fn broadcast(log: Log) {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let to = SocketAddr::from((Ipv4Addr::BROADCAST, 9));
    log.result("send_to", &socket.send_to(b"x", to).await);
    log.result("connect", &socket.connect(to).await);
}

async fn v6(log: Log) {
    let one = UdpSocket::bind("[::1]:0").await.unwrap();
    let two = UdpSocket::bind("[::1]:0").await.unwrap();
    log.name(&one.local_addr(), "one");
    log.name(&two.local_addr(), "two");
    log.addr("local", &one.local_addr());
    one.send_to(b"abc", two.local_addr().unwrap())
        .await
        .unwrap();
    settle().await;
    receive(&log, "two", &two);
    let v4: SocketAddr = "127.0.0.1:9".parse().unwrap();
    log.result("v4 by v6", &one.send_to(b"x", v4).await);
    log.result("v6 by v4", &{
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        socket.send_to(b"x", one.local_addr().unwrap()).await
    });
}

async fn dual_stack(log: Log) {
    let server = UdpSocket::bind("[::]:0").await.unwrap();
    log.name(&server.local_addr(), "server");
    let port = server.local_addr().unwrap().port();
    let (v4, v4_addr) = bind(&log, "v4").await;
    v4.send_to(b"by v4", ("127.0.0.1", port)).await.unwrap();
    settle().await;
    receive(&log, "server", &server);
    let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), v4_addr.port());
    log.result("answer", &server.send_to(b"to v4", mapped).await);
    settle().await;
    receive(&log, "v4", &v4);
}

async fn readiness(log: Log) {
    let (socket, addr) = bind(&log, "socket").await;
    let both = Interest::READABLE | Interest::WRITABLE;
    log.result("new", &socket.ready(both).await);
    log.poll("new", &socket);
    socket.send_to(b"abc", addr).await.unwrap();
    settle().await;
    log.poll("with a datagram", &socket);
    log.result("with a datagram", &socket.ready(both).await);
    log.result("recv", &socket.try_recv(&mut [0; 8]));
    log.poll("empty", &socket);
}

async fn shutdown(log: Log) {
    let (one, one_addr) = bind(&log, "one").await;
    let (two, two_addr) = bind(&log, "two").await;
    log.result(
        "unconnected",
        &SockRef::from(&one).shutdown(std::net::Shutdown::Both),
    );
    one.connect(two_addr).await.unwrap();
    two.send_to(b"before", one_addr).await.unwrap();
    settle().await;
    log.result(
        "read",
        &SockRef::from(&one).shutdown(std::net::Shutdown::Read),
    );
    log.poll("after read", &one);
    receive(&log, "one", &one);
    log.result(
        "then",
        &SockRef::from(&one).recv(&mut [MaybeUninit::uninit(); 4]),
    );
    two.send_to(b"after", one_addr).await.unwrap();
    settle().await;
    receive(&log, "one", &one);
    log.result("send", &SockRef::from(&one).send(b"x"));
    log.result(
        "write",
        &SockRef::from(&one).shutdown(std::net::Shutdown::Write),
    );
    log.result("send after", &SockRef::from(&one).send(b"x"));
    log.poll("after write", &one);
}

async fn full_receiver(log: Log) {
    let (receiver, addr) = bind(&log, "receiver").await;
    let (sender, _) = bind(&log, "sender").await;
    let data = vec![7; 60_000];
    for _ in 0..20 {
        log.result("send", &sender.send_to(&data, addr).await);
    }
    settle().await;
    let mut buf = vec![0; 70_000];
    let mut received = 0;
    while receiver.try_recv(&mut buf).is_ok() {
        received += 1;
    }
    log.line("some were lost", received < 20);
    log.line("some were received", received > 0);
}

async fn bind_conflicts(log: Log) {
    let (_one, addr) = bind(&log, "one").await;
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port()));
    log.result("any", &UdpSocket::bind(any).await.map(drop));
    let other = UdpSocket::bind(("127.0.0.2", addr.port())).await;
    log.line("another address", other.is_ok());
    if let Ok(other) = other {
        let (sender, _) = bind(&log, "sender").await;
        sender
            .send_to(b"abc", ("127.0.0.2", addr.port()))
            .await
            .unwrap();
        settle().await;
        receive(&log, "other", &other);
    }
    let reusing = || {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None)?;
        socket.set_reuse_address(true)?;
        socket.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into())?;
        io::Result::Ok(socket)
    };
    let first = reusing().unwrap();
    let second = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    log.result("without reuse", &second.bind(&first.local_addr().unwrap()));
    second.set_reuse_address(true).unwrap();
    log.result("with reuse", &second.bind(&first.local_addr().unwrap()));
    let v6 = UdpSocket::bind("[::]:0").await.unwrap();
    let port = v6.local_addr().unwrap().port();
    log.result(
        "v4 of a dual-stack port",
        &UdpSocket::bind(("0.0.0.0", port)).await.map(drop),
    );
}

async fn errors_of_new(log: Log) {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    log.result("peer", &socket.peer_addr().map(drop));
    let zero: SocketAddr = "127.0.0.1:0".parse().unwrap();
    log.result("to port 0", &socket.send_to(b"x", &zero.into()));
    log.result("connect to port 0", &socket.connect(&zero.into()));
    log.result("bind after use", &socket.bind(&zero.into()));
}

async fn connect_to_any(log: Log) {
    let (server, addr) = bind(&log, "server").await;
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    log.name(&socket.local_addr(), "socket");
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port()));
    log.result("connect", &socket.connect(any).await);
    log.addr("peer", &socket.peer_addr());
    log.addr("local", &socket.local_addr());
    log.result("send", &socket.send(b"abc").await);
    settle().await;
    receive(&log, "server", &server);
    server
        .send_to(b"answer", socket.local_addr().unwrap())
        .await
        .unwrap();
    settle().await;
    receive(&log, "socket", &socket);
}

async fn filter_keeps_what_was_received(log: Log) {
    let (one, one_addr) = bind(&log, "one").await;
    let (_two, two_addr) = bind(&log, "two").await;
    let (three, _) = bind(&log, "three").await;
    three.send_to(b"before", one_addr).await.unwrap();
    settle().await;
    one.connect(two_addr).await.unwrap();
    receive(&log, "one", &one);
}

fn timeouts(log: Log) {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(50)))
        .unwrap();
    log.result("read timeout", &socket.read_timeout());
    log.result("recv", &socket.recv(&mut [0; 4]));
    log.result("recv_from", &socket.recv_from(&mut [0; 4]).map(drop));
    log.result("zero", &socket.set_read_timeout(Some(Duration::ZERO)));
    socket.set_nonblocking(true).unwrap();
    log.result("nonblocking", &socket.recv(&mut [0; 4]));
}

fn std_sockets(log: Log) {
    let one = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let two = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    log.name(&one.local_addr(), "one");
    let to = two.local_addr().unwrap();
    let sender = std::thread::spawn(move || {
        settle_blocking();
        one.send_to(b"later", to)
    });
    let mut buf = [0; 16];
    let received = two.recv_from(&mut buf);
    log.addr("from", &received.map(|(_, from)| from));
    log.result("sent", &sender.join().unwrap());
    log.line("buf", buf);
    log.result("connect", &two.connect("127.0.0.1:1"));
    log.result("send", &two.send(b"x"));
    settle_blocking();
    log.result("recv", &two.recv(&mut buf));
}

fn clones(log: Log) {
    let one = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let addr = one.local_addr().unwrap();
    let clone = one.try_clone().unwrap();
    drop(one);
    log.result("send", &clone.send_to(b"abc", addr));
    log.result("recv", &clone.recv(&mut [0; 8]));
    log.result("bind", &std::net::UdpSocket::bind(addr).map(drop));
    drop(clone);
    log.result("bind after", &std::net::UdpSocket::bind(addr).map(drop));
}
