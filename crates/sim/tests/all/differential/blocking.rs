//! Blocking TCP by std.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::harness::{Log, compared, settle_blocking};

compared! { blocking
    echo read_timeout write_timeout connect_timeouts nonblocking clones clone_outlives incoming
    accept_waits shutdown_ends_a_read reset_ends_a_read close_in_another_thread copy lookup
    shutdown_of_listener_ends_accept accept_timeout half_closed_threads peek_waits
    duplicates_share_flags dup2_replaces connect_in_many_threads
}

fn pair(log: &Log) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    log.name(&listener.local_addr(), "server");
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    log.name(&client.local_addr(), "client");
    let (server, _) = listener.accept().unwrap();
    (client, server)
}

fn echo(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept()?;
        let mut lines = 0;
        let mut writer = stream.try_clone()?;
        for line in BufReader::new(stream).lines() {
            writeln!(writer, "{}!", line?)?;
            lines += 1;
        }
        io::Result::Ok(lines)
    });
    let mut client = TcpStream::connect(addr).unwrap();
    let mut reader = BufReader::new(client.try_clone().unwrap());
    for word in ["one", "two"] {
        writeln!(client, "{word}").unwrap();
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        log.line("line", line);
    }
    client.shutdown(Shutdown::Write).unwrap();
    let mut rest = String::new();
    log.result("rest", &reader.read_to_string(&mut rest));
    log.result("lines", &server.join().unwrap());
}

fn read_timeout(log: Log) {
    let (mut client, mut server) = pair(&log);
    log.result("none", &client.read_timeout());
    client
        .set_read_timeout(Some(Duration::from_millis(30)))
        .unwrap();
    log.result("set", &client.read_timeout());
    let start = std::time::Instant::now();
    log.result("read", &client.read(&mut [0; 4]));
    log.line("waited", start.elapsed() >= Duration::from_millis(29));
    log.result("zero", &client.set_read_timeout(Some(Duration::ZERO)));
    server.write_all(b"abc").unwrap();
    log.result("read", &client.read(&mut [0; 4]));
    log.result("peek", &client.peek(&mut [0; 4]));
    log.result("read_exact", &client.read_exact(&mut [0; 4]));
    let mut text = String::new();
    log.result("read_to_string", &client.read_to_string(&mut text));
    client.set_read_timeout(None).unwrap();
    let late = thread::spawn(move || {
        thread::sleep(Duration::from_millis(60));
        server.write_all(b"late").unwrap();
        server
    });
    log.result("without", &client.read(&mut [0; 8]));
    drop(late.join().unwrap());
    log.result("end", &client.read(&mut [0; 8]));
}

fn write_timeout(log: Log) {
    let (mut client, _server) = pair(&log);
    client
        .set_write_timeout(Some(Duration::from_millis(30)))
        .unwrap();
    let data = vec![7; 1 << 20];
    // It writes what there is room for, then fails.
    let error = loop {
        match client.write(&data) {
            Ok(_) => {}
            Err(error) => break error,
        }
    };
    log.line("error", (error.kind(), error.raw_os_error()));
}

fn connect_timeouts(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let second = Duration::from_secs(1);
    let stream = TcpStream::connect_timeout(&addr, second);
    log.result(
        "connect",
        &stream.as_ref().map(drop).map_err(|e| e.kind().into()),
    );
    let stream = stream.unwrap();
    // It blocks again.
    stream
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    log.result("read", &(&stream).read(&mut [0; 4]));
    log.result(
        "zero",
        &TcpStream::connect_timeout(&addr, Duration::ZERO).map(drop),
    );
    drop(listener);
    log.result(
        "refused",
        &TcpStream::connect_timeout(&addr, second).map(drop),
    );
    let several = [addr, addr];
    log.result("several", &TcpStream::connect(&several[..]).map(drop));
    log.result(
        "none",
        &TcpStream::connect(&[][..] as &[std::net::SocketAddr]).map(drop),
    );
}

fn nonblocking(log: Log) {
    let (mut client, mut server) = pair(&log);
    client.set_nonblocking(true).unwrap();
    log.result("read", &client.read(&mut [0; 4]));
    log.result("peek", &client.peek(&mut [0; 4]));
    server.write_all(b"abc").unwrap();
    settle_blocking();
    log.result("read", &client.read(&mut [0; 4]));
    log.result("read", &client.read(&mut [0; 4]));
    client.set_nonblocking(false).unwrap();
    let thread = thread::spawn(move || {
        settle_blocking();
        server.write_all(b"later")
    });
    log.result("blocking", &client.read(&mut [0; 8]));
    thread.join().unwrap().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    log.result("accept", &listener.accept().map(drop));
    // An accepted socket blocks, whatever its listener does.
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    settle_blocking();
    let (mut accepted, _) = listener.accept().unwrap();
    accepted
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    let start = std::time::Instant::now();
    log.result("accepted", &accepted.read(&mut [0; 4]));
    log.line("waited", start.elapsed() >= Duration::from_millis(19));
}

fn clones(log: Log) {
    let (client, mut server) = pair(&log);
    let mut clone = client.try_clone().unwrap();
    drop(client);
    settle_blocking();
    log.poll("server", &server);
    log.result("write", &clone.write(b"abc"));
    log.result("read", &server.read(&mut [0; 8]));
    log.addr("peer", &clone.peer_addr());
    drop(clone);
    log.result("end", &server.read(&mut [0; 8]));
}

fn clone_outlives(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let clone = listener.try_clone().unwrap();
    drop(listener);
    let client = TcpStream::connect(addr);
    log.result(
        "connect",
        &client.as_ref().map(drop).map_err(|e| e.kind().into()),
    );
    log.result("accept", &clone.accept().map(drop));
    drop(clone);
    log.result("connect", &TcpStream::connect(addr).map(drop));
    // A shutdown works on all duplicates.
    let (client, _server) = pair(&log);
    let clone = client.try_clone().unwrap();
    client.shutdown(Shutdown::Both).unwrap();
    log.result("read", &(&clone).read(&mut [0; 4]));
    log.result("write", &(&clone).write(b"x"));
}

fn incoming(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let clients = thread::spawn(move || {
        for number in 0_u8..3 {
            let mut stream = TcpStream::connect(addr).unwrap();
            stream.write_all(&[number]).unwrap();
        }
    });
    for stream in listener.incoming().take(3) {
        let mut all = Vec::new();
        stream.unwrap().read_to_end(&mut all).unwrap();
        log.line("received", all);
    }
    clients.join().unwrap();
}

fn accept_waits(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let accepts = thread::spawn(move || listener.accept().map(|(stream, _)| stream));
    settle_blocking();
    log.line("waits", !accepts.is_finished());
    let mut client = TcpStream::connect(addr).unwrap();
    let server = accepts.join().unwrap().unwrap();
    drop(server);
    log.result("end", &client.read(&mut [0; 4]));
}

fn shutdown_ends_a_read(log: Log) {
    let (client, _server) = pair(&log);
    let mut reader = client.try_clone().unwrap();
    let reads = thread::spawn(move || reader.read(&mut [0; 4]));
    settle_blocking();
    client.shutdown(Shutdown::Read).unwrap();
    log.result("read", &reads.join().unwrap());
}

fn reset_ends_a_read(log: Log) {
    let (client, server) = pair(&log);
    let mut reader = client.try_clone().unwrap();
    let reads = thread::spawn(move || reader.read(&mut [0; 4]));
    settle_blocking();
    socket2::SockRef::from(&server)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(server);
    log.result("read", &reads.join().unwrap());
    log.result("write", &(&client).write(b"x"));
}

fn close_in_another_thread(log: Log) {
    let (mut client, server) = pair(&log);
    let closes = thread::spawn(move || {
        settle_blocking();
        drop(server);
    });
    let mut text = String::new();
    log.result("read", &client.read_to_string(&mut text));
    closes.join().unwrap();
    // A blocked writer gets the error of the reset.
    let (mut client, mut server) = pair(&log);
    let writes = thread::spawn(move || client.write_all(&vec![7; 64 << 20]));
    settle_blocking();
    server.read_exact(&mut [0; 1024]).unwrap();
    drop(server);
    log.result("write", &writes.join().unwrap());
}

fn copy(log: Log) {
    // std::io::copy uses splice and sendfile where the system can.
    let (client, mut server) = pair(&log);
    let (mut from, mut to) = pair(&log);
    let copies = thread::spawn(move || io::copy(&mut &client, &mut from));
    server.write_all(&vec![7; 500_000]).unwrap();
    drop(server);
    let mut all = Vec::new();
    log.result("read", &to.read_to_end(&mut all));
    log.result("copied", &copies.join().unwrap());
    let path = std::env::temp_dir().join(format!("raddle-sim-copy-{}", std::process::id()));
    std::fs::write(&path, vec![8; 100_000]).unwrap();
    let (mut client, mut server) = pair(&log);
    let file = path.clone();
    let copies = thread::spawn(move || {
        let mut file = std::fs::File::open(file)?;
        io::copy(&mut file, &mut client)
    });
    let mut all = Vec::new();
    log.result("read", &server.read_to_end(&mut all));
    log.result("copied", &copies.join().unwrap());
    std::fs::remove_file(path).unwrap();
    log.line("bytes", all.iter().all(|byte| *byte == 8));
}

fn lookup(log: Log) {
    use std::net::ToSocketAddrs;
    let addrs = "127.0.0.1:80"
        .to_socket_addrs()
        .map(|addrs| addrs.collect::<Vec<_>>());
    log.result("text", &addrs);
    log.line(
        "bad port",
        "127.0.0.1:port"
            .to_socket_addrs()
            .map(drop)
            .map_err(|e| e.kind()),
    );
    let local = ("localhost", 80)
        .to_socket_addrs()
        .map(|mut addrs| addrs.any(|addr| addr == "127.0.0.1:80".parse().unwrap()));
    log.result("localhost", &local);
}

fn shutdown_of_listener_ends_accept(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let clone = listener.try_clone().unwrap();
    let accepts = thread::spawn(move || clone.accept().map(drop));
    settle_blocking();
    log.result(
        "shutdown",
        &socket2::SockRef::from(&listener).shutdown(Shutdown::Both),
    );
    log.result("accept", &accepts.join().unwrap());
    log.result("connect", &TcpStream::connect(addr).map(drop));
    log.poll("listener", &listener);
    log.result("accept again", &listener.accept().map(drop));
    log.result("listen again", &socket2::SockRef::from(&listener).listen(4));
    log.result("second connect", &TcpStream::connect(addr).map(drop));
}

fn accept_timeout(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = socket2::SockRef::from(&listener);
    socket
        .set_read_timeout(Some(Duration::from_millis(30)))
        .unwrap();
    log.result("accept", &listener.accept().map(drop));
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    // It has the listener's time-out.
    log.result("timeout", &accepted.read_timeout());
    log.result("read", &accepted.read(&mut [0; 4]));
}

fn half_closed_threads(log: Log) {
    let (client, server) = pair(&log);
    let serves = thread::spawn(move || {
        let mut question = String::new();
        (&server).read_to_string(&mut question)?;
        settle_blocking();
        (&server).write_all(question.to_uppercase().as_bytes())
    });
    (&client).write_all(b"question").unwrap();
    client.shutdown(Shutdown::Write).unwrap();
    let mut answer = String::new();
    log.result("read", &(&client).read_to_string(&mut answer));
    log.line("answer", answer);
    log.result("server", &serves.join().unwrap());
}

fn peek_waits(log: Log) {
    let (client, mut server) = pair(&log);
    let peeks = thread::spawn(move || {
        let peeked = client.peek(&mut [0; 8])?;
        io::Result::Ok((peeked, (&client).read(&mut [0; 8])?))
    });
    settle_blocking();
    server.write_all(b"abc").unwrap();
    log.result("peeked", &peeks.join().unwrap());
    // MSG_WAITALL waits for all of the buffer.
    let (client, mut server) = pair(&log);
    let reads = thread::spawn(move || {
        let mut buf = [std::mem::MaybeUninit::uninit(); 6];
        socket2::SockRef::from(&client).recv_with_flags(&mut buf, libc::MSG_WAITALL)
    });
    server.write_all(b"abc").unwrap();
    settle_blocking();
    server.write_all(b"def").unwrap();
    log.result("all", &reads.join().unwrap());
}

fn duplicates_share_flags(log: Log) {
    let (client, _server) = pair(&log);
    let mut clone = client.try_clone().unwrap();
    client.set_nonblocking(true).unwrap();
    log.result("clone", &clone.read(&mut [0; 4]));
    clone
        .set_read_timeout(Some(Duration::from_millis(20)))
        .unwrap();
    log.result("timeout", &client.read_timeout());
}

fn dup2_replaces(log: Log) {
    use std::os::fd::AsRawFd;
    let (one, mut one_peer) = pair(&log);
    let (two, mut two_peer) = pair(&log);
    // SAFETY: both descriptors are open, and each has its owner.
    let result = unsafe { libc::dup2(one.as_raw_fd(), two.as_raw_fd()) };
    log.line("dup2", result == two.as_raw_fd());
    log.result("end of the replaced", &two_peer.read(&mut [0; 4]));
    (&two).write_all(b"abc").unwrap();
    log.result("the other's peer", &one_peer.read(&mut [0; 8]));
    drop(one);
    (&two).write_all(b"abcd").unwrap();
    log.result("after the close", &one_peer.read(&mut [0; 8]));
    // SAFETY: no descriptor has the number.
    let bad = unsafe { libc::dup(1_000_000) };
    log.result("bad", &super::harness::check(bad));
}

fn connect_in_many_threads(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let clients: Vec<_> = (0_u8..6)
        .map(|number| {
            thread::spawn(move || {
                let mut stream = TcpStream::connect(addr)?;
                stream.write_all(&[number])?;
                stream.shutdown(Shutdown::Write)?;
                let mut all = Vec::new();
                stream.read_to_end(&mut all)?;
                io::Result::Ok(all)
            })
        })
        .collect();
    for _ in 0..6 {
        let (mut stream, _) = listener.accept().unwrap();
        thread::spawn(move || {
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            stream.write_all(&[all[0] * 2]).unwrap();
        });
    }
    for client in clients {
        log.result("answer", &client.join().unwrap());
    }
}
