//! Options of sockets, and what the system says of them.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::time::Duration;

use raddle::net::{TcpListener, TcpSocket, UdpSocket};
use socket2::{Domain, SockRef, Socket, TcpKeepalive, Type};

use super::harness::{Log, check, compared, settle};
use super::tcp::pair;

compared! { async
    stream_options listener_options socket_options datagram_options v6_options type_and_protocol
    unread_bytes out_of_range descriptor_flags
}

fn options(log: &Log, who: &str, fd: &impl std::os::fd::AsFd) {
    let socket = SockRef::from(fd);
    log.result(format!("{who} nodelay"), &socket.tcp_nodelay());
    log.result(format!("{who} ttl"), &socket.ttl_v4());
    log.result(format!("{who} keepalive"), &socket.keepalive());
    log.result(format!("{who} linger"), &socket.linger());
    log.result(format!("{who} reuse"), &socket.reuse_address());
    log.result(format!("{who} read timeout"), &socket.read_timeout());
    log.result(format!("{who} write timeout"), &socket.write_timeout());
}

async fn stream_options(log: Log) {
    let (client, server) = pair(&log).await;
    options(&log, "new", &client);
    let socket = SockRef::from(&client);
    socket.set_tcp_nodelay(true).unwrap();
    socket.set_ttl_v4(42).unwrap();
    let keepalive = TcpKeepalive::new()
        .with_time(Duration::from_secs(100))
        .with_interval(Duration::from_secs(10))
        .with_retries(3);
    socket.set_tcp_keepalive(&keepalive).unwrap();
    socket.set_linger(Some(Duration::from_secs(5))).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(250)))
        .unwrap();
    socket
        .set_write_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    options(&log, "set", &client);
    log.result("time", &socket.tcp_keepalive_time());
    log.result("interval", &socket.tcp_keepalive_interval());
    log.result("retries", &socket.tcp_keepalive_retries());
    socket.set_send_buffer_size(65536).unwrap();
    socket.set_recv_buffer_size(32768).unwrap();
    log.result("send buffer", &socket.send_buffer_size());
    log.result("receive buffer", &socket.recv_buffer_size());
    options(&log, "server", &server);
    log.result("quickack", &client.set_quickack(true));
    log.result(
        "user timeout",
        &socket.set_tcp_user_timeout(Some(Duration::from_secs(9))),
    );
    log.result("user timeout", &socket.tcp_user_timeout());
    log.result("tos", &socket.set_tos_v4(16));
    log.result("tos", &socket.tos_v4());
    log.result("mark of cork", &socket.set_tcp_cork(true));
    log.result("cork", &socket.tcp_cork());
}

async fn listener_options(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    options(&log, "listener", &listener);
    let socket = SockRef::from(&listener);
    log.result("listens", &socket.is_listener());
    socket.set_tcp_nodelay(true).unwrap();
    socket.set_keepalive(true).unwrap();
    socket.set_ttl_v4(33).unwrap();
    socket.set_linger(Some(Duration::from_secs(3))).unwrap();
    socket.set_recv_buffer_size(40_000).unwrap();
    let client = raddle::net::TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    log.result("client listens", &SockRef::from(&client).is_listener());
    let (accepted, _) = listener.accept().await.unwrap();
    options(&log, "accepted", &accepted);
    log.result(
        "accepted buffer",
        &SockRef::from(&accepted).recv_buffer_size(),
    );
}

async fn socket_options(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    options(&log, "socket", &socket);
    log.result("set reuse", &socket.set_reuseaddr(true));
    log.result("reuse", &socket.reuseaddr());
    log.result("set port reuse", &socket.set_reuseport(true));
    log.result("port reuse", &socket.reuseport());
    log.result("set keepalive", &socket.set_keepalive(true));
    log.result("keepalive", &socket.keepalive());
    log.result(
        "take_error",
        &socket.take_error().map(|error| error.is_some()),
    );
    log.result("listens", &SockRef::from(&socket).is_listener());
}

async fn datagram_options(log: Log) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    log.result("broadcast", &socket.broadcast());
    socket.set_broadcast(true).unwrap();
    log.result("broadcast", &socket.broadcast());
    log.result("ttl", &socket.ttl());
    socket.set_ttl(9).unwrap();
    log.result("ttl", &socket.ttl());
    log.result("multicast loop", &socket.multicast_loop_v4());
    log.result("multicast ttl", &socket.multicast_ttl_v4());
    log.result("nodelay", &SockRef::from(&socket).tcp_nodelay());
    log.result("listen", &SockRef::from(&socket).listen(4));
    log.result("accept", &SockRef::from(&socket).accept().map(drop));
}

async fn v6_options(log: Log) {
    let socket = Socket::new(Domain::IPV6, Type::STREAM, None).unwrap();
    log.result("only v6", &socket.only_v6());
    log.result("set", &socket.set_only_v6(true));
    log.result("only v6", &socket.only_v6());
    log.result("hops", &socket.unicast_hops_v6());
    log.result("tclass", &socket.set_tclass_v6(32));
    log.result("tclass", &socket.tclass_v6());
    let addr: SocketAddr = "[::]:0".parse().unwrap();
    socket.bind(&addr.into()).unwrap();
    log.result("set after bind", &socket.set_only_v6(false));
}

async fn type_and_protocol(log: Log) {
    let (client, _server) = pair(&log).await;
    let socket = SockRef::from(&client);
    log.result("type", &socket.r#type());
    log.result("domain", &socket.domain());
    log.result("protocol", &socket.protocol());
    let socket = UdpSocket::bind("[::1]:0").await.unwrap();
    let socket = SockRef::from(&socket);
    log.result("type", &socket.r#type());
    log.result("domain", &socket.domain());
    log.result("protocol", &socket.protocol());
}

fn unread(fd: &impl AsRawFd) -> io::Result<libc::c_int> {
    let mut bytes = -1;
    // SAFETY: the call writes one number.
    check(unsafe { libc::ioctl(fd.as_raw_fd(), libc::FIONREAD, &raw mut bytes) })?;
    Ok(bytes)
}

async fn unread_bytes(log: Log) {
    let (client, server) = pair(&log).await;
    log.result("nothing", &unread(&client));
    server.try_write(b"abcde").unwrap();
    settle().await;
    log.result("five", &unread(&client));
    client.readable().await.unwrap();
    client.try_read(&mut [0; 2]).unwrap();
    log.result("three", &unread(&client));
    drop(server);
    settle().await;
    log.result("three and the end", &unread(&client));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    log.result("listener", &unread(&listener));
    log.result("new", &unread(&TcpSocket::new_v4().unwrap()));
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    log.result("no datagram", &unread(&socket));
    let addr = socket.local_addr().unwrap();
    socket.send_to(b"abc", addr).await.unwrap();
    socket.send_to(b"abcde", addr).await.unwrap();
    settle().await;
    log.result("first datagram", &unread(&socket));
}

async fn out_of_range(log: Log) {
    let (client, _server) = pair(&log).await;
    let socket = SockRef::from(&client);
    log.result("ttl", &socket.set_ttl_v4(999));
    log.result("ttl of v6", &socket.unicast_hops_v6());
    let zero = socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(Duration::ZERO));
    log.result("keepalive time", &zero);
    log.result("broadcast", &socket.broadcast());
    log.result("reuse", &socket.set_reuse_address(true));
    // SAFETY: no descriptor is used.
    log.result("bad descriptor", &check(unsafe { libc::listen(-1, 4) }));
    // SAFETY: as above.
    log.result(
        "bad shutdown",
        &check(unsafe { libc::shutdown(-1, libc::SHUT_RD) }),
    );
    // SAFETY: the descriptor is open.
    log.result(
        "how",
        &check(unsafe { libc::shutdown(client.as_raw_fd(), 9) }),
    );
    let file = std::fs::File::open("/dev/null").unwrap();
    // SAFETY: the descriptor is open.
    log.result(
        "listen of a file",
        &check(unsafe { libc::listen(file.as_raw_fd(), 4) }),
    );
    // SAFETY: no pointer is used.
    let peer =
        unsafe { libc::getpeername(file.as_raw_fd(), std::ptr::null_mut(), std::ptr::null_mut()) };
    log.result("peer of a file", &check(peer));
}

async fn descriptor_flags(log: Log) {
    let (client, _server) = pair(&log).await;
    let flags = |command| {
        // SAFETY: the descriptor is open.
        check(unsafe { libc::fcntl(client.as_raw_fd(), command) })
    };
    log.result("status", &flags(libc::F_GETFL));
    log.result("descriptor", &flags(libc::F_GETFD));
    let socket = SockRef::from(&client);
    log.result("nonblocking", &socket.nonblocking());
    socket.set_nonblocking(false).unwrap();
    log.result("nonblocking", &socket.nonblocking());
    socket.set_nonblocking(true).unwrap();
    log.result("seek", &{
        // SAFETY: the descriptor is open.
        let at = unsafe { libc::lseek(client.as_raw_fd(), 0, libc::SEEK_CUR) };
        check(at)
    });
}
