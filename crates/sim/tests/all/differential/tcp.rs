//! TCP by raddle's types.

use std::io::{self, IoSlice, IoSliceMut};
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::time::Duration;

use raddle::io::{AsyncReadExt, AsyncWriteExt, Interest};
use raddle::net::{TcpListener, TcpSocket, TcpStream};
use socket2::SockRef;

use super::harness::{Log, compared, settle};

compared! { async
    refused bind_errors reuse_of_a_port addresses addresses_v6 dual_stack only_v6
    unspecified_peer half_close_by_client half_close_by_server write_after_close
    close_with_unread_data close_with_unread_data_and_no_write zero_linger shutdown_read
    shutdown_write shutdown_both shutdown_by_both shutdown_unconnected peek
    try_operations full_buffer vectored zero_length_operations readiness_of_halves
    readiness_after_reset ready_waits take_error_after_refusal connect_by_bound_socket connect_twice
    listen_without_bind accept_order backlog_is_kept drop_of_listener_with_connections
    connection_outlives_listener conversions listener_conversions drop_of_half
    data_then_reset_is_lost read_after_both_closed simultaneous_connections self_connect
    two_listeners_of_different_addresses reuse_port wrong_family_bind close_before_accept
}

/// A connection over the loopback.
pub(crate) async fn pair(log: &Log) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr();
    log.name(&addr, "server");
    let client = TcpStream::connect(addr.unwrap()).await.unwrap();
    log.name(&client.local_addr(), "client");
    let (server, _) = listener.accept().await.unwrap();
    (client, server)
}

fn shut(stream: &TcpStream, how: Shutdown) -> io::Result<()> {
    SockRef::from(stream).shutdown(how)
}

/// Logs what a stream gives when it is read and written now.
async fn probe(log: &Log, who: &str, stream: &mut TcpStream) {
    log.poll(format!("{who} poll"), stream);
    let mut buf = [0; 16];
    log.result(format!("{who} try_read"), &stream.try_read(&mut buf));
    log.result(format!("{who} try_write"), &stream.try_write(b"probe"));
    settle().await;
    log.poll(format!("{who} poll after"), stream);
    log.result(format!("{who} take_error"), &stream.take_error());
    log.addr(format!("{who} local"), &stream.local_addr());
    log.addr(format!("{who} peer"), &stream.peer_addr());
}

async fn refused(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    log.result("connect", &TcpStream::connect(addr).await.map(drop));
    log.result(
        "std",
        &std::net::TcpStream::connect_timeout(&addr, Duration::from_secs(1)).map(drop),
    );
}

async fn bind_errors(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr();
    log.name(&addr, "server");
    log.addr("local", &addr);
    let addr = addr.unwrap();
    log.result("again", &TcpListener::bind(addr).await.map(drop));
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, addr.port()));
    log.result("any", &TcpListener::bind(any).await.map(drop));
    log.result("foreign", &TcpListener::bind("192.0.2.1:0").await.map(drop));
    let socket = TcpSocket::new_v4().unwrap();
    log.result("bind", &socket.bind("127.0.0.1:0".parse().unwrap()));
    log.result("bind twice", &socket.bind("127.0.0.1:0".parse().unwrap()));
    let socket = TcpSocket::new_v4().unwrap();
    log.result("without reuse", &socket.bind(addr));
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    log.result("with reuse", &socket.bind(addr));
    let stream = TcpStream::connect(addr).await.unwrap();
    log.result(
        "bind of a connected",
        &SockRef::from(&stream).bind(&any.into()),
    );
    log.result("listen of a connected", &SockRef::from(&stream).listen(1));
    log.result(
        "bind of a listener",
        &SockRef::from(&listener).bind(&any.into()),
    );
}

async fn reuse_of_a_port(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let client = TcpStream::connect(addr).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    drop(listener);
    settle().await;
    let socket = TcpSocket::new_v4().unwrap();
    log.result("without reuse, connected", &socket.bind(addr));
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    log.result("with reuse, connected", &socket.bind(addr));
    let listener = socket.listen(16);
    log.result(
        "listen",
        &listener
            .as_ref()
            .map(drop)
            .map_err(|e| io::Error::from(e.kind())),
    );
    // The client closes first, so the port of the server is not in TIME_WAIT.
    drop(client);
    settle().await;
    drop(server);
    let stream = TcpStream::connect(addr).await;
    log.result("connect", &stream.map(drop));
    drop(listener);
    settle().await;
}

async fn addresses(log: Log) {
    let (client, server) = pair(&log).await;
    log.addr("client", &client.local_addr());
    log.addr("client's peer", &client.peer_addr());
    log.addr("server", &server.local_addr());
    log.addr("server's peer", &server.peer_addr());
    let socket = TcpSocket::new_v4().unwrap();
    log.addr("new", &socket.local_addr());
    let std: std::net::TcpStream =
        socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)
            .unwrap()
            .into();
    log.addr("peer of new", &std.peer_addr());
    log.addr("local of new", &std.local_addr());
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    log.name(&listener.local_addr(), "any");
    log.addr("any", &listener.local_addr());
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect(("127.0.0.2", port)).await.unwrap();
    log.name(&client.local_addr(), "second client");
    let (server, from) = listener.accept().await.unwrap();
    log.addr("from", &Ok(from));
    log.addr("client of 127.0.0.2", &client.local_addr());
    log.addr("server of 127.0.0.2", &server.local_addr());
    log.addr(
        "listener's peer",
        &SockRef::from(&listener)
            .peer_addr()
            .map(|a| a.as_socket().unwrap()),
    );
}

async fn addresses_v6(log: Log) {
    let listener = TcpListener::bind("[::1]:0").await.unwrap();
    let addr = listener.local_addr();
    log.name(&addr, "server");
    log.addr("listener", &addr);
    let client = TcpStream::connect(addr.unwrap()).await.unwrap();
    log.name(&client.local_addr(), "client");
    let (server, from) = listener.accept().await.unwrap();
    log.addr("from", &Ok(from));
    log.addr("client", &client.local_addr());
    log.addr("client's peer", &client.peer_addr());
    log.addr("server", &server.local_addr());
    log.addr("server's peer", &server.peer_addr());
    let port = listener.local_addr().unwrap().port();
    log.result(
        "by v4",
        &TcpStream::connect(("127.0.0.1", port)).await.map(drop),
    );
    let socket = TcpSocket::new_v6().unwrap();
    log.addr("new", &socket.local_addr());
}

async fn dual_stack(log: Log) {
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    log.name(&listener.local_addr(), "server");
    log.addr("listener", &listener.local_addr());
    let port = listener.local_addr().unwrap().port();
    for ip in ["127.0.0.1", "::1"] {
        let client = TcpStream::connect((ip, port)).await.unwrap();
        log.name(&client.local_addr(), "client");
        let (server, from) = listener.accept().await.unwrap();
        log.addr("from", &Ok(from));
        log.addr("client", &client.local_addr());
        log.addr("client's peer", &client.peer_addr());
        log.addr("server", &server.local_addr());
        log.addr("server's peer", &server.peer_addr());
    }
    log.result(
        "v4 too",
        &TcpListener::bind(("0.0.0.0", port)).await.map(drop),
    );
    // A v6 socket reaches v4 by mapped addresses.
    let v4 = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = v4.local_addr().unwrap().port();
    let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), port);
    log.name(&v4.local_addr(), "v4 server");
    let client = TcpStream::connect(mapped).await;
    log.result(
        "mapped",
        &client
            .as_ref()
            .map(drop)
            .map_err(|e| io::Error::from(e.kind())),
    );
    if let Ok(client) = client {
        log.name(&client.local_addr(), "mapped client");
        log.addr("mapped client", &client.local_addr());
        log.addr("mapped peer", &client.peer_addr());
        let (server, from) = v4.accept().await.unwrap();
        log.addr("from mapped", &Ok(from));
        log.addr("server of mapped", &server.local_addr());
    }
}

async fn only_v6(log: Log) {
    let socket = TcpSocket::new_v6().unwrap();
    SockRef::from(&socket).set_only_v6(true).unwrap();
    socket.bind("[::]:0".parse().unwrap()).unwrap();
    let listener = socket.listen(8).unwrap();
    let port = listener.local_addr().unwrap().port();
    log.result(
        "by v4",
        &TcpStream::connect(("127.0.0.1", port)).await.map(drop),
    );
    log.result("by v6", &TcpStream::connect(("::1", port)).await.map(drop));
    let v4 = TcpListener::bind(("0.0.0.0", port)).await;
    log.result(
        "v4 of the same port",
        &v4.as_ref().map(drop).map_err(|e| io::Error::from(e.kind())),
    );
    log.result(
        "v4 by v4",
        &TcpStream::connect(("127.0.0.1", port)).await.map(drop),
    );
}

async fn unspecified_peer(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    log.name(&listener.local_addr(), "server");
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect(("0.0.0.0", port)).await.unwrap();
    log.name(&client.local_addr(), "client");
    log.addr("client", &client.local_addr());
    log.addr("peer", &client.peer_addr());
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("0.0.0.0:0".parse().unwrap()).unwrap();
    log.name(&socket.local_addr(), "bound client");
    log.addr("bound", &socket.local_addr());
    let client = socket
        .connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    log.addr("bound then connected", &client.local_addr());
    log.result("port 0", &TcpStream::connect("127.0.0.1:0").await.map(drop));
}

async fn half_close_by_client(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    client.write_all(b"question").await.unwrap();
    client.shutdown().await.unwrap();
    let mut text = String::new();
    log.result("server reads", &server.read_to_string(&mut text).await);
    log.line("text", &text);
    log.result("reads again", &server.read(&mut [0; 4]).await);
    log.poll("server", &server);
    log.poll("client", &client);
    log.result("server writes", &server.write(b"answer").await);
    settle().await;
    log.poll("client with answer", &client);
    let mut buf = [0; 16];
    log.result("client reads", &client.read(&mut buf).await);
    log.result("client writes", &client.write(b"x").await);
    drop(server);
    settle().await;
    log.poll("client at the end", &client);
    log.result("client's end", &client.read(&mut buf).await);
    log.result("second shutdown", &client.shutdown().await);
    log.addr("peer at the end", &client.peer_addr());
}

async fn half_close_by_server(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    server.shutdown().await.unwrap();
    settle().await;
    log.poll("client", &client);
    log.result("client reads", &client.read(&mut [0; 4]).await);
    log.result("client writes", &client.write(b"after FIN").await);
    settle().await;
    log.poll("server", &server);
    let mut buf = [0; 32];
    log.result("server reads", &server.read(&mut buf).await);
    log.result("server writes", &server.write(b"x").await);
    log.result("server shutdown", &server.shutdown().await);
    client.shutdown().await.unwrap();
    settle().await;
    log.result("server's end", &server.read(&mut buf).await);
    probe(&log, "server", &mut server).await;
    probe(&log, "client", &mut client).await;
}

async fn write_after_close(log: Log) {
    let (mut client, server) = pair(&log).await;
    drop(server);
    settle().await;
    log.poll("after FIN", &client);
    log.result("first write", &client.write(b"one").await);
    settle().await;
    log.poll("after RST", &client);
    log.result("second write", &client.write(b"two").await);
    log.poll("after second write", &client);
    log.result("third write", &client.write(b"three").await);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.result("shutdown", &client.shutdown().await);
    log.addr("peer", &client.peer_addr());
    log.addr("local", &client.local_addr());
    // And the read comes first.
    let (mut client, server) = pair(&log).await;
    drop(server);
    settle().await;
    log.result("write", &client.write(b"one").await);
    settle().await;
    log.result("read first", &client.read(&mut [0; 4]).await);
    log.result("read second", &client.read(&mut [0; 4]).await);
    log.result("write after", &client.write(b"x").await);
    // And the error is taken.
    let (mut client, server) = pair(&log).await;
    drop(server);
    settle().await;
    log.result("write", &client.write(b"one").await);
    settle().await;
    let error = client
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("error", &error);
    log.result("read after", &client.read(&mut [0; 4]).await);
}

async fn close_with_unread_data(log: Log) {
    let (mut client, server) = pair(&log).await;
    client.write_all(b"unread").await.unwrap();
    settle().await;
    drop(server);
    settle().await;
    log.poll("client", &client);
    log.result("write", &client.write(b"x").await);
    log.result("write again", &client.write(b"x").await);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.result("read again", &client.read(&mut [0; 4]).await);
    log.poll("client at the end", &client);
}

async fn close_with_unread_data_and_no_write(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    client.write_all(b"unread").await.unwrap();
    settle().await;
    server.write_all(b"from the server").await.unwrap();
    settle().await;
    drop(server);
    settle().await;
    log.poll("client", &client);
    let mut buf = [0; 32];
    log.result("read", &client.read(&mut buf).await);
    log.result("read again", &client.read(&mut buf).await);
    log.result("read a third time", &client.read(&mut buf).await);
    probe(&log, "client", &mut client).await;
}

async fn zero_linger(log: Log) {
    let (mut client, server) = pair(&log).await;
    server.set_zero_linger().unwrap();
    log.result("linger", &server.linger());
    drop(server);
    settle().await;
    log.poll("client", &client);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.result("read again", &client.read(&mut [0; 4]).await);
    log.result("write", &client.write(b"x").await);
}

async fn shutdown_read(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    log.result("shutdown", &shut(&client, Shutdown::Read));
    settle().await;
    probe(&log, "client", &mut client).await;
    log.result("server writes", &server.write(b"late").await);
    settle().await;
    log.poll("server", &server);
    probe(&log, "client", &mut client).await;
    probe(&log, "client", &mut client).await;
    log.result("shutdown again", &shut(&client, Shutdown::Read));
    // Linux may deliver the bytes in several pieces.
    let mut received = 0;
    while received < 15 {
        received += server.read(&mut [0; 16]).await.unwrap();
    }
    log.line("server received", received);
    log.poll("server at the end", &server);
}

async fn shutdown_write(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    log.result("shutdown", &shut(&client, Shutdown::Write));
    settle().await;
    probe(&log, "client", &mut client).await;
    probe(&log, "server", &mut server).await;
    probe(&log, "client", &mut client).await;
    log.result("shutdown again", &shut(&client, Shutdown::Write));
    log.result("shutdown the other", &shut(&client, Shutdown::Read));
    settle().await;
    probe(&log, "client", &mut client).await;
}

async fn shutdown_both(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    log.result("shutdown", &shut(&client, Shutdown::Both));
    settle().await;
    log.poll("server", &server);
    probe(&log, "client", &mut client).await;
    log.result("shutdown again", &shut(&client, Shutdown::Both));
    log.result("server reads", &server.read(&mut [0; 4]).await);
    log.result("server shutdown", &shut(&server, Shutdown::Both));
    settle().await;
    log.poll("server", &server);
    log.poll("client", &client);
    log.result("shutdown a third time", &shut(&client, Shutdown::Both));
    log.result("shutdown read", &shut(&client, Shutdown::Read));
    log.result("server's second shutdown", &shut(&server, Shutdown::Write));
    log.addr("peer", &client.peer_addr());
    log.addr("server's peer", &server.peer_addr());
}

async fn shutdown_by_both(log: Log) {
    let (client, server) = pair(&log).await;
    log.result("client", &shut(&client, Shutdown::Write));
    log.result("server", &shut(&server, Shutdown::Write));
    settle().await;
    log.poll("client", &client);
    log.poll("server", &server);
    log.result("client again", &shut(&client, Shutdown::Write));
    log.result("server again", &shut(&server, Shutdown::Both));
    log.result("client reads", &client.try_read(&mut [0; 4]));
    log.result("client writes", &client.try_write(b"x"));
}

async fn shutdown_unconnected(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    for how in [Shutdown::Read, Shutdown::Write, Shutdown::Both] {
        log.result(
            format!("{how:?} of new"),
            &SockRef::from(&socket).shutdown(how),
        );
    }
    log.poll("new", &socket);
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    log.result("bound", &SockRef::from(&socket).shutdown(Shutdown::Both));
    log.poll("bound", &socket);
    let listener = socket.listen(8).unwrap();
    log.poll("listener", &listener);
    log.result(
        "listener, write",
        &SockRef::from(&listener).shutdown(Shutdown::Write),
    );
    log.result(
        "listener, read",
        &SockRef::from(&listener).shutdown(Shutdown::Read),
    );
    log.poll("listener after", &listener);
    let new = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    new.set_nonblocking(true).unwrap();
    log.result("send on new", &new.send(b"x"));
    log.result(
        "recv on new",
        &new.recv(&mut [std::mem::MaybeUninit::uninit(); 4]),
    );
    log.result("accept on new", &new.accept().map(drop));
}

async fn peek(log: Log) {
    let (client, mut server) = pair(&log).await;
    let mut buf = [0; 8];
    server.write_all(b"abcdef").await.unwrap();
    log.result("peek", &client.peek(&mut buf).await);
    log.line("buf", buf);
    log.result("short peek", &client.peek(&mut buf[..2]).await);
    log.result("read", &client.try_read(&mut buf[..4]));
    log.result("peek the rest", &client.peek(&mut buf).await);
    log.line("buf", buf);
    log.result("read the rest", &client.try_read(&mut buf));
    let peeked = SockRef::from(&client).peek(&mut [std::mem::MaybeUninit::uninit(); 4]);
    log.result("peek nothing", &peeked);
    drop(server);
    log.result("peek the end", &client.peek(&mut buf).await);
    log.result("peek the end again", &client.peek(&mut buf).await);
}

async fn try_operations(log: Log) {
    let (client, server) = pair(&log).await;
    let mut buf = [0; 8];
    log.result("nothing", &client.try_read(&mut buf));
    log.result("write", &server.try_write(b"abc"));
    settle().await;
    client.readable().await.unwrap();
    log.result("read", &client.try_read(&mut buf));
    log.result("no more", &client.try_read(&mut buf));
    drop(server);
    client.readable().await.unwrap();
    log.result("end", &client.try_read(&mut buf));
    log.result("end again", &client.try_read(&mut buf));
}

async fn full_buffer(log: Log) {
    let (client, mut server) = pair(&log).await;
    let data = vec![7; 64 * 1024];
    let mut sent = 0;
    loop {
        match client.try_write(&data) {
            Ok(bytes) => sent += bytes,
            Err(error) => {
                log.line("full", (error.kind(), error.raw_os_error()));
                settle().await;
                // The system moves more from the sender's buffer to the receiver's meanwhile.
                if super::harness::readiness(&client) == "0 " {
                    break;
                }
            }
        }
    }
    log.line("more than 64 KiB", sent > 64 * 1024);
    log.poll("client when full", &client);
    log.poll("server when full", &server);
    let mut received = 0;
    let mut buf = vec![0; 64 * 1024];
    while received < sent {
        received += server.read(&mut buf).await.unwrap();
    }
    settle().await;
    log.poll("client when drained", &client);
    client.writable().await.unwrap();
    log.result("write", &client.try_write(b"more"));
    settle().await;
    log.result("read", &server.read(&mut buf).await);
}

async fn vectored(log: Log) {
    let (client, server) = pair(&log).await;
    let bufs = [
        IoSlice::new(b"ab"),
        IoSlice::new(b""),
        IoSlice::new(b"cdef"),
    ];
    log.result("write", &client.try_write_vectored(&bufs));
    settle().await;
    let (mut one, mut two, mut three) = ([0; 3], [0; 0], [0; 8]);
    let mut bufs = [
        IoSliceMut::new(&mut one),
        IoSliceMut::new(&mut two),
        IoSliceMut::new(&mut three),
    ];
    log.result("read", &server.try_read_vectored(&mut bufs));
    log.line("bufs", (one, three));
    log.result("write nothing", &client.try_write_vectored(&[]));
    log.result("read into nothing", &server.try_read_vectored(&mut []));
}

async fn zero_length_operations(log: Log) {
    let (client, server) = pair(&log).await;
    let client_fd = SockRef::from(&client);
    log.result("write of nothing", &client_fd.send(&[]));
    log.result("read of nothing", &client_fd.recv(&mut []));
    server.try_write(b"abc").unwrap();
    settle().await;
    log.result("read of nothing with data", &client_fd.recv(&mut []));
    log.poll("still there", &client);
    client.try_read(&mut [0; 8]).unwrap();
    drop(server);
    settle().await;
    log.result("read of nothing at the end", &client_fd.recv(&mut []));
    log.result("write of nothing at the end", &client_fd.send(&[]));
    shut(&client, Shutdown::Write).unwrap();
    log.result("write of nothing after shutdown", &client_fd.send(&[]));
}

async fn readiness_of_halves(log: Log) {
    let (client, mut server) = pair(&log).await;
    let (reader, writer) = client.into_split();
    settle().await;
    let both = Interest::READABLE | Interest::WRITABLE;
    log.result("new", &writer.ready(both).await);
    server.write_all(b"abc").await.unwrap();
    settle().await;
    log.result("with data", &reader.ready(both).await);
    log.result("read", &reader.try_read(&mut [0; 8]));
    log.result("empty", &reader.try_read(&mut [0; 8]));
    server.shutdown().await.unwrap();
    settle().await;
    let ready = reader.ready(both).await.unwrap();
    log.line(
        "after FIN",
        (
            ready.is_read_closed(),
            ready.is_write_closed(),
            ready.is_error(),
        ),
    );
    drop(writer);
    settle().await;
    let ready = reader.ready(Interest::READABLE).await.unwrap();
    log.line(
        "after both FIN",
        (
            ready.is_read_closed(),
            ready.is_write_closed(),
            ready.is_error(),
        ),
    );
    log.result("server's end", &server.read(&mut [0; 4]).await);
    log.addr("peer", &reader.peer_addr());
}

async fn readiness_after_reset(log: Log) {
    let (client, server) = pair(&log).await;
    server.set_zero_linger().unwrap();
    drop(server);
    settle().await;
    let ready = client
        .ready(Interest::READABLE | Interest::WRITABLE)
        .await
        .unwrap();
    log.line("reset", (ready.is_readable(), ready.is_writable()));
    log.line(
        "closed",
        (
            ready.is_read_closed(),
            ready.is_write_closed(),
            ready.is_error(),
        ),
    );
    let ready = client.ready(Interest::ERROR).await.unwrap();
    log.line("error", ready.is_error());
    let error = client
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("take_error", &error);
    let error = client
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("take_error again", &error);
    log.poll("after it is taken", &client);
    log.result("read", &client.try_read(&mut [0; 4]));
    log.result("write", &client.try_write(b"x"));
}

async fn ready_waits(log: Log) {
    let (client, mut server) = pair(&log).await;
    let reader = raddle::spawn(async move {
        client.readable().await.unwrap();
        client.try_read(&mut [0; 8])
    });
    settle().await;
    log.line("waits", !reader.is_finished());
    server.write_all(b"abc").await.unwrap();
    log.result("read", &reader.await.unwrap());
}

async fn take_error_after_refusal(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    log.result("connect", &socket.connect(&addr.into()));
    settle().await;
    log.poll("refused", &socket);
    let error = socket
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("error", &error);
    let error = socket
        .take_error()
        .map(|error| error.and_then(|error| error.raw_os_error()));
    log.result("no error", &error);
    log.poll("after", &socket);
    log.result("peer", &socket.peer_addr().map(drop));
    let mut buf = [std::mem::MaybeUninit::uninit(); 4];
    log.result("read", &socket.recv(&mut buf));
    log.result("write", &socket.send(b"x"));
    // Linux lets the socket try again.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let again = socket.connect(&addr.into());
    log.result("connect again", &again);
    settle().await;
    log.poll("connected", &socket);
    log.result("third connect", &socket.connect(&addr.into()));
}

async fn connect_by_bound_socket(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr();
    log.name(&addr, "server");
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    log.name(&socket.local_addr(), "client");
    let client = socket.connect(addr.unwrap()).await.unwrap();
    log.addr("client", &client.local_addr());
    let (_server, from) = listener.accept().await.unwrap();
    log.addr("from", &Ok(from));
    let second = TcpSocket::new_v4().unwrap();
    log.result("the same port", &second.bind(client.local_addr().unwrap()));
    second.set_reuseaddr(true).unwrap();
    log.result(
        "the same port with reuse",
        &second.bind(client.local_addr().unwrap()),
    );
}

async fn connect_twice(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    log.poll("new", &socket);
    log.result("first", &socket.connect(&addr.into()));
    settle().await;
    log.poll("connected", &socket);
    log.result("second", &socket.connect(&addr.into()));
    log.result("third", &socket.connect(&addr.into()));
    let stream = TcpStream::connect(addr).await.unwrap();
    log.result("of a stream", &SockRef::from(&stream).connect(&addr.into()));
    log.result(
        "of a listener",
        &SockRef::from(&listener).connect(&addr.into()),
    );
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    let v6: SocketAddr = "[::1]:9".parse().unwrap();
    log.result("v6 by a v4 socket", &socket.connect(&v6.into()));
    let socket = socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::STREAM, None).unwrap();
    log.result("v4 by a v6 socket", &socket.connect(&addr.into()));
}

async fn listen_without_bind(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    let listener = socket.listen(4).unwrap();
    let addr = listener.local_addr();
    log.name(&addr, "server");
    log.addr("local", &addr);
    let port = addr.unwrap().port();
    let client = TcpStream::connect(("127.0.0.1", port)).await;
    log.result("connect", &client.map(drop));
    log.result("listen again", &SockRef::from(&listener).listen(8));
    let listener = TcpSocket::new_v6().unwrap().listen(4).unwrap();
    log.name(&listener.local_addr(), "v6 server");
    log.addr("v6 local", &listener.local_addr());
}

async fn accept_order(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut clients = Vec::new();
    for name in ["first", "second", "third"] {
        let client = TcpStream::connect(addr).await.unwrap();
        log.name(&client.local_addr(), name);
        clients.push(client);
    }
    settle().await;
    log.poll("listener", &listener);
    for _ in 0..3 {
        let (_, from) = listener.accept().await.unwrap();
        log.addr("from", &Ok(from));
    }
    log.poll("listener after", &listener);
    let std = listener.into_std().unwrap();
    log.result("accept none", &std.accept().map(drop));
}

async fn backlog_is_kept(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let addr = listener.local_addr().unwrap();
    let mut clients = Vec::new();
    for at in 0..3 {
        let connect = TcpStream::connect(addr);
        let client = raddle::time::timeout(Duration::from_millis(300), connect).await;
        log.line(format!("client {at} is connected"), client.is_ok());
        clients.push(client);
    }
    for _ in 0..2 {
        log.result("accept", &listener.accept().await.map(drop));
    }
}

async fn drop_of_listener_with_connections(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(addr).await.unwrap();
    let mut writer = TcpStream::connect(addr).await.unwrap();
    log.result("write before", &writer.write(b"abc").await);
    drop(listener);
    settle().await;
    log.poll("client", &client);
    log.result("read", &client.read(&mut [0; 4]).await);
    log.result("write", &client.write(b"x").await);
    log.poll("writer", &writer);
    log.result("write after", &writer.write(b"x").await);
    log.result("connect after", &TcpStream::connect(addr).await.map(drop));
}

async fn connection_outlives_listener(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    client.write_all(b"abc").await.unwrap();
    log.result("read", &server.read(&mut [0; 8]).await);
    let addr = client.peer_addr().unwrap();
    log.result("connect", &TcpStream::connect(addr).await.map(drop));
}

async fn conversions(log: Log) {
    let (client, mut server) = pair(&log).await;
    let client = client.into_std().unwrap();
    let mut buf = [0; 8];
    log.result("nonblocking", &io::Read::read(&mut &client, &mut buf));
    server.write_all(b"abc").await.unwrap();
    settle().await;
    log.result("std reads", &io::Read::read(&mut &client, &mut buf));
    let mut client = TcpStream::from_std(client).unwrap();
    log.result("write", &client.write(b"abcd").await);
    log.result("read", &server.read(&mut buf).await);
    log.addr("peer", &client.peer_addr());
    let client = client.into_std().unwrap();
    client.set_nonblocking(false).unwrap();
    let blocking = raddle::task::spawn_blocking(move || io::Read::read(&mut &client, &mut [0; 8]));
    settle().await;
    server.write_all(b"to a thread").await.unwrap();
    log.result("blocking read", &blocking.await.unwrap());
}

async fn listener_conversions(log: Log) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let client = TcpStream::connect(addr).await.unwrap();
    settle().await;
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    log.result("accept", &listener.accept().await.map(drop));
    drop(client);
    let listener = listener.into_std().unwrap();
    log.result("none", &listener.accept().map(drop));
    let second = TcpStream::connect(addr).await.unwrap();
    settle().await;
    log.result("one", &listener.accept().map(drop));
    log.result("error", &listener.take_error().map(|error| error.is_some()));
    drop(second);
}

async fn drop_of_half(log: Log) {
    let (client, mut server) = pair(&log).await;
    let (reader, writer) = client.into_split();
    drop(reader);
    settle().await;
    log.poll("server after the reader's drop", &server);
    drop(writer);
    settle().await;
    log.poll("server after both", &server);
    log.result("read", &server.read(&mut [0; 4]).await);
    let (client, mut server) = pair(&log).await;
    let (mut reader, writer) = client.into_split();
    writer.forget();
    server.write_all(b"abc").await.unwrap();
    settle().await;
    log.result("read", &reader.read(&mut [0; 8]).await);
    drop(reader);
    settle().await;
    log.poll("server", &server);
}

async fn data_then_reset_is_lost(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    server.write_all(b"abc").await.unwrap();
    settle().await;
    server.set_zero_linger().unwrap();
    drop(server);
    settle().await;
    log.poll("client", &client);
    log.result("read", &client.read(&mut [0; 8]).await);
    log.result("read again", &client.read(&mut [0; 8]).await);
}

async fn read_after_both_closed(log: Log) {
    let (mut client, mut server) = pair(&log).await;
    server.write_all(b"last words").await.unwrap();
    drop(server);
    settle().await;
    client.shutdown().await.unwrap();
    settle().await;
    log.poll("client", &client);
    let mut buf = [0; 4];
    for _ in 0..4 {
        log.result("read", &client.read(&mut buf).await);
    }
    probe(&log, "client", &mut client).await;
}

async fn simultaneous_connections(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let clients: Vec<_> = (0_u8..8)
        .map(|number| {
            raddle::spawn(async move {
                let mut client = TcpStream::connect(addr).await?;
                client.write_all(&[number]).await?;
                let mut buf = [0; 1];
                client.read_exact(&mut buf).await?;
                io::Result::Ok(buf[0])
            })
        })
        .collect();
    for _ in 0..8 {
        let (mut server, _) = listener.accept().await.unwrap();
        raddle::spawn(async move {
            let mut buf = [0; 1];
            server.read_exact(&mut buf).await.unwrap();
            server.write_all(&[buf[0] + 100]).await.unwrap();
        });
    }
    for client in clients {
        log.result("answer", &client.await.unwrap());
    }
}

async fn self_connect(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = socket.local_addr().unwrap();
    // A socket that is bound and does not listen.
    let other = TcpStream::connect(addr).await;
    log.result("connect to a bound socket", &other.map(drop));
}

async fn two_listeners_of_different_addresses(log: Log) {
    let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
    log.name(&first.local_addr(), "server");
    let port = first.local_addr().unwrap().port();
    let second = TcpListener::bind(("127.0.0.2", port)).await;
    log.addr(
        "second",
        &second
            .as_ref()
            .map_err(|e| io::Error::from(e.kind()))
            .and_then(|l| l.local_addr()),
    );
    let Ok(second) = second else { return };
    let client = TcpStream::connect(("127.0.0.2", port)).await.unwrap();
    log.name(&client.local_addr(), "client");
    settle().await;
    log.poll("first", &first);
    log.poll("second", &second);
    log.result(
        "a free port's",
        &TcpStream::connect(("127.0.0.3", port)).await.map(drop),
    );
}

async fn reuse_port(log: Log) {
    let bind = |addr: SocketAddr, reuses: bool| {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseport(reuses)?;
        socket.bind(addr)?;
        socket.listen(8)
    };
    let first = bind("127.0.0.1:0".parse().unwrap(), true).unwrap();
    let addr = first.local_addr().unwrap();
    log.result("without", &bind(addr, false).map(drop));
    let second = bind(addr, true);
    log.line("with", second.is_ok());
    let mut clients = Vec::new();
    for _ in 0..4 {
        clients.push(TcpStream::connect(addr).await.unwrap());
    }
    drop(first);
    log.result("third", &TcpStream::connect(addr).await.map(drop));
}

async fn wrong_family_bind(log: Log) {
    let v6: SocketAddr = "[::1]:0".parse().unwrap();
    let v4: SocketAddr = "127.0.0.1:0".parse().unwrap();
    log.result("v6 of a v4 socket", &TcpSocket::new_v4().unwrap().bind(v6));
    let socket = TcpSocket::new_v6().unwrap();
    log.result("v4 of a v6 socket", &socket.bind(v4));
    let mapped = SocketAddr::new(Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(), 0);
    let socket = TcpSocket::new_v6().unwrap();
    log.result("mapped", &socket.bind(mapped));
    log.name(&socket.local_addr(), "mapped");
    log.addr("mapped", &socket.local_addr());
}

async fn close_before_accept(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(addr).await.unwrap();
    client.write_all(b"and gone").await.unwrap();
    drop(client);
    settle().await;
    log.poll("listener", &listener);
    let (mut server, _) = listener.accept().await.unwrap();
    let mut text = String::new();
    log.result("read", &server.read_to_string(&mut text).await);
    log.line("text", text);
    // One that is reset before it is accepted.
    let client = TcpStream::connect(addr).await.unwrap();
    client.set_zero_linger().unwrap();
    drop(client);
    settle().await;
    log.poll("listener with a reset one", &listener);
    let accepted = raddle::time::timeout(Duration::from_millis(100), listener.accept()).await;
    log.line("accepted", accepted.is_ok());
    if let Ok(Ok((mut server, _))) = accepted {
        log.result("read of a reset one", &server.read(&mut [0; 4]).await);
    }
}
