//! Selectors: by the C library, and by mio.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libc::{EPOLLET, EPOLLIN, EPOLLONESHOT, EPOLLOUT, EPOLLRDHUP};

use super::harness::{Log, bits, check, compared, settle_blocking};

compared! { blocking
    level_triggered edge_triggered edge_triggered_both one_shot errors closed_descriptor
    duplicates duplicates_of_a_selector nested event_counter semaphore blocking_counter
    waits_with_timeouts wait_for_another_thread limit_of_events listener_events connect_events
    poll_several poll_waits poll_oddities mio_events mio_waker modify_to_nothing reset_events
    large_reads_and_edges
}

struct Epoll(OwnedFd);

/// Takes over a descriptor that a function of the C library has returned.
fn own(fd: libc::c_int) -> io::Result<OwnedFd> {
    check(fd)?;
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

impl Epoll {
    fn new() -> Self {
        // SAFETY: the argument is a number.
        Self(own(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) }).unwrap())
    }

    fn control_raw(&self, operation: i32, fd: i32, events: i32, data: u64) -> io::Result<()> {
        let mut event = libc::epoll_event {
            events: events as u32,
            u64: data,
        };
        // SAFETY: the event is valid.
        let result = unsafe { libc::epoll_ctl(self.0.as_raw_fd(), operation, fd, &raw mut event) };
        check(result).map(drop)
    }

    fn control(&self, operation: i32, fd: &impl AsFd, events: i32, data: u64) -> io::Result<()> {
        self.control_raw(operation, fd.as_fd().as_raw_fd(), events, data)
    }

    fn add(&self, fd: &impl AsFd, events: i32, data: u64) {
        self.control(libc::EPOLL_CTL_ADD, fd, events, data).unwrap();
    }

    fn wait_for(&self, limit: i32, timeout: i32) -> io::Result<Vec<(u64, String)>> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        // SAFETY: there is room for so many events.
        let count = check(unsafe {
            libc::epoll_wait(self.0.as_raw_fd(), events.as_mut_ptr(), limit, timeout)
        })?;
        let events = events[..count as usize].iter();
        let mut events: Vec<_> = events
            .map(|event| ({ event.u64 }, bits({ event.events } as i32)))
            .collect();
        events.sort();
        Ok(events)
    }

    fn now(&self, log: &Log, what: &str) {
        settle_blocking();
        log.result(what, &self.wait_for(16, 0));
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    client.set_nonblocking(true).unwrap();
    server.set_nonblocking(true).unwrap();
    (client, server)
}

fn level_triggered(log: Log) {
    let (mut client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLRDHUP, 1);
    epoll.now(&log, "nothing");
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "data");
    epoll.now(&log, "again");
    client.read(&mut [0; 1]).unwrap();
    epoll.now(&log, "some");
    client.read(&mut [0; 8]).unwrap();
    epoll.now(&log, "read");
    drop(server);
    epoll.now(&log, "end");
    epoll.now(&log, "end again");
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, EPOLLOUT, 2)
        .unwrap();
    epoll.now(&log, "modified");
    epoll.control(libc::EPOLL_CTL_DEL, &client, 0, 0).unwrap();
    epoll.now(&log, "deleted");
}

fn edge_triggered(log: Log) {
    let (mut client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLRDHUP | EPOLLET, 1);
    epoll.now(&log, "nothing");
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "data");
    epoll.now(&log, "no news");
    server.write_all(b"def").unwrap();
    epoll.now(&log, "new data");
    client.read(&mut [0; 2]).unwrap();
    epoll.now(&log, "after a short read");
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, EPOLLIN | EPOLLET, 2)
        .unwrap();
    epoll.now(&log, "modified");
    server.shutdown(std::net::Shutdown::Write).unwrap();
    epoll.now(&log, "end");
    epoll.now(&log, "no news after the end");
}

fn edge_triggered_both(log: Log) {
    let (mut client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1);
    epoll.now(&log, "writable");
    epoll.now(&log, "no news");
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "data");
    client.write_all(b"abc").unwrap();
    epoll.now(&log, "after a write");
    server.read(&mut [0; 8]).unwrap();
    epoll.now(&log, "after the peer's read");
    client.shutdown(std::net::Shutdown::Write).unwrap();
    epoll.now(&log, "after its own shutdown");
    drop(server);
    epoll.now(&log, "after the peer's close");
}

fn one_shot(log: Log) {
    let (_client, mut server) = pair();
    let client = _client;
    let epoll = Epoll::new();
    let events = EPOLLIN | EPOLLONESHOT;
    epoll.add(&client, events, 1);
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "first");
    epoll.now(&log, "disarmed");
    server.write_all(b"def").unwrap();
    epoll.now(&log, "still disarmed");
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, events, 2)
        .unwrap();
    epoll.now(&log, "armed");
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, events | EPOLLET, 3)
        .unwrap();
    epoll.now(&log, "with an edge");
    drop(server);
    epoll.now(&log, "disarmed at the end");
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, EPOLLRDHUP | EPOLLONESHOT, 4)
        .unwrap();
    epoll.now(&log, "end");
}

fn errors(log: Log) {
    let (client, _server) = pair();
    let epoll = Epoll::new();
    let control = |operation, fd| epoll.control_raw(operation, fd, EPOLLIN, 1);
    let fd = client.as_raw_fd();
    log.result("MOD of none", &control(libc::EPOLL_CTL_MOD, fd));
    log.result("DEL of none", &control(libc::EPOLL_CTL_DEL, fd));
    log.result("ADD", &control(libc::EPOLL_CTL_ADD, fd));
    log.result("ADD again", &control(libc::EPOLL_CTL_ADD, fd));
    log.result("other", &control(77, fd));
    log.result(
        "ADD of itself",
        &control(libc::EPOLL_CTL_ADD, epoll.0.as_raw_fd()),
    );
    log.result("ADD of a bad one", &control(libc::EPOLL_CTL_ADD, -1));
    log.result("ADD of none", &control(libc::EPOLL_CTL_ADD, 1_000_000));
    log.result("DEL of a bad one", &control(libc::EPOLL_CTL_DEL, 1_000_000));
    let file = std::fs::File::open("/proc/self/stat").unwrap();
    log.result("wait of none", &epoll.wait_for(0, 0));
    log.result("wait of fewer", &epoll.wait_for(-1, 0));
    let mut event = libc::epoll_event { events: 0, u64: 0 };
    // SAFETY: the event is valid, and the descriptor is no selector.
    log.result(
        "no selector",
        &check(unsafe { libc::epoll_ctl(fd, 1, fd, &raw mut event) }),
    );
    // SAFETY: as above.
    log.result(
        "wait of no selector",
        &check(unsafe { libc::epoll_wait(fd, &raw mut event, 1, 0) }),
    );
    // SAFETY: as above.
    log.result(
        "bad selector",
        &check(unsafe { libc::epoll_wait(-1, &raw mut event, 1, 0) }),
    );
    log.result(
        "ADD of a file",
        &epoll.control(libc::EPOLL_CTL_ADD, &tempfile(), EPOLLIN, 1),
    );
    drop(file);
    // SAFETY: no byte is written.
    let read = unsafe { libc::read(epoll.0.as_raw_fd(), [0_u8; 8].as_mut_ptr().cast(), 8) };
    log.result("read of a selector", &check(read as i64));
}

fn tempfile() -> std::fs::File {
    let path = std::env::temp_dir().join(format!("raddle-sim-file-{}", std::process::id()));
    let file = std::fs::File::create(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

fn closed_descriptor(log: Log) {
    let (client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLOUT, 1);
    epoll.add(&server, EPOLLOUT, 2);
    epoll.now(&log, "both");
    drop(client);
    epoll.now(&log, "one is closed");
    let _closed = server.write(b"x");
    // Another file may have the number.
    let (client, _other) = pair();
    epoll.now(&log, "with another");
    epoll.add(&client, EPOLLOUT, 3);
    epoll.now(&log, "registered");
}

fn duplicates(log: Log) {
    let (client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN, 1);
    let second = client.try_clone().unwrap();
    epoll.add(&second, EPOLLIN, 2);
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "both");
    // The registration lives as long as the open file.
    drop(client);
    epoll.now(&log, "one is closed");
    drop(second);
    epoll.now(&log, "both are closed");
}

fn duplicates_of_a_selector(log: Log) {
    let (client, mut server) = pair();
    let epoll = Epoll::new();
    let second = Epoll(epoll.0.try_clone().unwrap());
    epoll.add(&client, EPOLLIN, 1);
    server.write_all(b"abc").unwrap();
    second.now(&log, "by the duplicate");
    drop(epoll);
    second.now(&log, "the first is closed");
    second.control(libc::EPOLL_CTL_DEL, &client, 0, 0).unwrap();
    second.now(&log, "deleted");
}

fn nested(log: Log) {
    let (mut client, mut server) = pair();
    let (inner, outer) = (Epoll::new(), Epoll::new());
    outer.add(&inner, EPOLLIN, 9);
    inner.add(&client, EPOLLIN, 1);
    outer.now(&log, "nothing");
    log.poll("inner", &inner);
    server.write_all(b"abc").unwrap();
    outer.now(&log, "data");
    log.poll("inner", &inner);
    log.poll("outer", &outer);
    outer.now(&log, "data again");
    inner.now(&log, "inner");
    client.read(&mut [0; 8]).unwrap();
    outer.now(&log, "read");
    log.poll("inner", &inner);
    let edges = Epoll::new();
    edges.add(&inner, EPOLLIN | EPOLLET, 10);
    server.write_all(b"abc").unwrap();
    edges.now(&log, "edge");
    edges.now(&log, "no news");
    server.write_all(b"abc").unwrap();
    edges.now(&log, "edge");
    log.result(
        "loop",
        &inner.control(libc::EPOLL_CTL_ADD, &outer, EPOLLIN, 1),
    );
}

fn counter(number: u32, flags: i32) -> OwnedFd {
    // SAFETY: the arguments are numbers.
    own(unsafe { libc::eventfd(number, flags) }).unwrap()
}

fn read_counter(fd: &OwnedFd) -> io::Result<u64> {
    let mut number = 0_u64;
    // SAFETY: there is room for 8 bytes.
    check(unsafe { libc::read(fd.as_raw_fd(), (&raw mut number).cast(), 8) } as i64)?;
    Ok(number)
}

fn add(fd: &OwnedFd, number: u64) -> io::Result<i64> {
    // SAFETY: there are 8 bytes.
    check(unsafe { libc::write(fd.as_raw_fd(), (&raw const number).cast(), 8) } as i64)
}

fn event_counter(log: Log) {
    let event = counter(3, libc::EFD_NONBLOCK);
    log.poll("new", &event);
    log.result("read", &read_counter(&event));
    log.result("read nothing", &read_counter(&event));
    log.poll("zero", &event);
    log.result("add", &add(&event, 5));
    log.result("add", &add(&event, 2));
    log.result("read", &read_counter(&event));
    log.result("add nothing", &add(&event, 0));
    log.poll("nothing", &event);
    log.result("add too much", &add(&event, u64::MAX));
    log.result("add the most", &add(&event, u64::MAX - 1));
    log.poll("full", &event);
    log.result("add one more", &add(&event, 1));
    log.result("read the most", &read_counter(&event));
    let mut buf = [0_u8; 16];
    // SAFETY: there is so much room.
    let short = unsafe { libc::read(event.as_raw_fd(), buf.as_mut_ptr().cast(), 4) };
    log.result("short read", &check(short as i64));
    // SAFETY: there are so many bytes.
    let short = unsafe { libc::write(event.as_raw_fd(), buf.as_ptr().cast(), 4) };
    log.result("short write", &check(short as i64));
    add(&event, 7).unwrap();
    // SAFETY: there is so much room.
    let long = unsafe { libc::read(event.as_raw_fd(), buf.as_mut_ptr().cast(), 16) };
    log.result("long read", &check(long as i64));
    // SAFETY: there are so many bytes.
    let long = unsafe { libc::write(event.as_raw_fd(), [1_u64, 2].as_ptr().cast(), 16) };
    log.result("long write", &check(long as i64));
    log.result("read", &read_counter(&event));
    let epoll = Epoll::new();
    epoll.add(&event, EPOLLIN | EPOLLET, 1);
    epoll.now(&log, "nothing");
    add(&event, 1).unwrap();
    epoll.now(&log, "edge");
    epoll.now(&log, "no news");
    add(&event, 1).unwrap();
    epoll.now(&log, "second edge");
    // SAFETY: no pointer is used.
    let peer = unsafe { libc::shutdown(event.as_raw_fd(), libc::SHUT_RD) };
    log.result("shutdown", &check(peer));
}

fn semaphore(log: Log) {
    let event = counter(2, libc::EFD_NONBLOCK | libc::EFD_SEMAPHORE);
    log.result("read", &read_counter(&event));
    log.result("read", &read_counter(&event));
    log.result("read", &read_counter(&event));
    add(&event, 3).unwrap();
    for _ in 0..4 {
        log.result("read", &read_counter(&event));
    }
}

fn blocking_counter(log: Log) {
    let event = std::sync::Arc::new(counter(0, 0));
    let theirs = event.clone();
    let thread = std::thread::spawn(move || read_counter(&theirs));
    settle_blocking();
    log.line("waits", !thread.is_finished());
    add(&event, 4).unwrap();
    log.result("read", &thread.join().unwrap());
    add(&event, u64::MAX - 1).unwrap();
    let theirs = event.clone();
    let thread = std::thread::spawn(move || add(&theirs, 1));
    settle_blocking();
    log.line("waits for room", !thread.is_finished());
    log.result("read", &read_counter(&event));
    log.result("add", &thread.join().unwrap());
    log.result("read", &read_counter(&event));
}

fn waits_with_timeouts(log: Log) {
    let (client, _server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN, 1);
    log.result("none", &epoll.wait_for(4, 0));
    let start = std::time::Instant::now();
    log.result("30 ms", &epoll.wait_for(4, 30));
    log.line("waited", start.elapsed() >= Duration::from_millis(29));
    epoll
        .control(libc::EPOLL_CTL_MOD, &client, EPOLLOUT, 1)
        .unwrap();
    log.result("no limit", &epoll.wait_for(4, -1));
    let empty = Epoll::new();
    log.result("empty", &empty.wait_for(4, 10));
}

fn wait_for_another_thread(log: Log) {
    let (client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN, 1);
    let thread = std::thread::spawn(move || {
        settle_blocking();
        server.write_all(b"abc").unwrap();
        server
    });
    log.result("no limit", &epoll.wait_for(4, -1));
    let server = thread.join().unwrap();
    let second = counter(0, libc::EFD_NONBLOCK);
    let theirs = second.try_clone().unwrap();
    let epoll = std::sync::Arc::new(Epoll::new());
    let waiting = epoll.clone();
    let thread = std::thread::spawn(move || waiting.wait_for(4, 5_000));
    settle_blocking();
    // A registration during the wait ends it, too.
    epoll.add(&server, EPOLLOUT, 2);
    log.result("registered meanwhile", &thread.join().unwrap());
    epoll.control(libc::EPOLL_CTL_DEL, &server, 0, 0).unwrap();
    epoll.add(&second, EPOLLIN, 3);
    let waiting = epoll.clone();
    let thread = std::thread::spawn(move || waiting.wait_for(4, -1));
    settle_blocking();
    add(&theirs, 1).unwrap();
    log.result("counted", &thread.join().unwrap());
}

fn limit_of_events(log: Log) {
    let events: Vec<_> = (0..4).map(|_| counter(1, libc::EFD_NONBLOCK)).collect();
    let epoll = Epoll::new();
    for (event, data) in events.iter().zip(0..) {
        epoll.add(event, EPOLLIN, data);
    }
    // All have their turn.
    log.result("first", &epoll.wait_for(2, 0));
    log.result("second", &epoll.wait_for(2, 0));
    log.result("third", &epoll.wait_for(3, 0));
    log.result("all", &epoll.wait_for(16, 0));
}

fn listener_events(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let epoll = Epoll::new();
    epoll.add(&listener, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1);
    epoll.now(&log, "new");
    let addr = listener.local_addr().unwrap();
    let _one = TcpStream::connect(addr).unwrap();
    epoll.now(&log, "one");
    epoll.now(&log, "no news");
    let _two = TcpStream::connect(addr).unwrap();
    epoll.now(&log, "two");
    log.result("accept", &listener.accept().map(drop));
    epoll.now(&log, "one is left");
    log.result("accept", &listener.accept().map(drop));
    log.result("accept", &listener.accept().map(drop));
}

fn connect_events(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap();
    let epoll = Epoll::new();
    let new = || {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.set_nonblocking(true).unwrap();
        socket
    };
    let all = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    let socket = new();
    epoll.add(&socket, all, 1);
    epoll.now(&log, "new");
    log.result("connect", &socket.connect(&addr.into()));
    epoll.now(&log, "connected");
    drop(listener);
    epoll.now(&log, "reset");
    let socket = new();
    epoll.add(&socket, all, 2);
    epoll.now(&log, "second");
    log.result("connect", &socket.connect(&addr.into()));
    epoll.now(&log, "refused");
    log.result(
        "error",
        &socket
            .take_error()
            .map(|e| e.and_then(|e| e.raw_os_error())),
    );
    epoll.now(&log, "taken");
}

fn poll(fds: &mut [libc::pollfd], timeout: i32) -> io::Result<i64> {
    // SAFETY: the array is valid.
    check(unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as _, timeout) })
}

fn polled(fd: &impl AsRawFd, events: i16) -> libc::pollfd {
    libc::pollfd {
        fd: fd.as_raw_fd(),
        events,
        revents: 99,
    }
}

fn revents(fds: &[libc::pollfd]) -> Vec<String> {
    fds.iter().map(|fd| bits(fd.revents.into())).collect()
}

fn poll_several(log: Log) {
    let (client, mut server) = pair();
    let udp = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut fds = [
        polled(&client, libc::POLLIN),
        polled(&server, libc::POLLOUT),
        polled(&udp, libc::POLLIN | libc::POLLOUT),
        polled(&listener, libc::POLLIN),
    ];
    log.result("poll", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
    server.write_all(b"abc").unwrap();
    udp.send_to(b"abc", udp.local_addr().unwrap()).unwrap();
    let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    settle_blocking();
    log.result("poll", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
    drop(server);
    fds[1].fd = -1;
    settle_blocking();
    log.result("poll", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
}

fn poll_waits(log: Log) {
    let (client, mut server) = pair();
    let thread = std::thread::spawn(move || {
        settle_blocking();
        server.write_all(b"abc").unwrap();
        settle_blocking();
    });
    let mut fds = [polled(&client, libc::POLLIN)];
    log.result("no limit", &poll(&mut fds, -1));
    log.line("events", revents(&fds));
    thread.join().unwrap();
    let (client, _server) = pair();
    let mut fds = [polled(&client, libc::POLLIN)];
    log.result("time-out", &poll(&mut fds, 30));
    log.line("events", revents(&fds));
    log.result("nothing", &poll(&mut [], 10));
}

fn poll_oddities(log: Log) {
    let (client, server) = pair();
    let mut fds = [
        polled(&client, 0),
        polled(&client, libc::POLLIN),
        polled(&client, libc::POLLOUT),
    ];
    fds[1].fd = 1_000_000;
    log.result("bad", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
    socket2::SockRef::from(&server)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(server);
    settle_blocking();
    let mut fds = [polled(&client, 0)];
    log.result("reset", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
    let null = std::fs::File::open("/dev/null").unwrap();
    let mut fds = [polled(&null, libc::POLLIN), polled(&client, 0)];
    log.result("with a file", &poll(&mut fds, 0));
    log.line("events", revents(&fds));
}

fn mio_events(log: Log) {
    use mio::{Events, Interest, Poll, Token};
    let mut poll = Poll::new().unwrap();
    let mut events = Events::with_capacity(16);
    let mut listener = mio::net::TcpListener::bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = listener.local_addr().unwrap();
    poll.registry()
        .register(&mut listener, Token(0), Interest::READABLE)
        .unwrap();
    let mut client = mio::net::TcpStream::connect(addr).unwrap();
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry()
        .register(&mut client, Token(1), both)
        .unwrap();
    let mut show = |poll: &mut Poll, what: &str| {
        settle_blocking();
        poll.poll(&mut events, Some(Duration::ZERO)).unwrap();
        let mut lines: Vec<_> = events
            .iter()
            .map(|event| {
                let closed = (
                    event.is_read_closed(),
                    event.is_write_closed(),
                    event.is_error(),
                );
                (
                    event.token().0,
                    event.is_readable(),
                    event.is_writable(),
                    closed,
                )
            })
            .collect();
        lines.sort();
        log.line(what, lines);
    };
    show(&mut poll, "connected");
    let (mut server, _) = listener.accept().unwrap();
    poll.registry()
        .register(&mut server, Token(2), both)
        .unwrap();
    show(&mut poll, "accepted");
    server.write_all(b"abc").unwrap();
    show(&mut poll, "data");
    log.result("read", &client.read(&mut [0; 8]));
    log.result("no more", &client.read(&mut [0; 8]));
    poll.registry()
        .reregister(&mut client, Token(7), Interest::READABLE)
        .unwrap();
    show(&mut poll, "registered again");
    server.shutdown(std::net::Shutdown::Write).unwrap();
    show(&mut poll, "shut down");
    poll.registry().deregister(&mut client).unwrap();
    log.result("not registered", &poll.registry().deregister(&mut client));
    drop(client);
    show(&mut poll, "closed");
}

fn mio_waker(log: Log) {
    use mio::{Events, Poll, Token, Waker};
    let mut poll = Poll::new().unwrap();
    let waker = std::sync::Arc::new(Waker::new(poll.registry(), Token(5)).unwrap());
    let mut events = Events::with_capacity(4);
    let theirs = waker.clone();
    let thread = std::thread::spawn(move || {
        settle_blocking();
        theirs.wake()
    });
    poll.poll(&mut events, None).unwrap();
    log.line(
        "token",
        events
            .iter()
            .map(|event| event.token().0)
            .collect::<Vec<_>>(),
    );
    log.result("wake", &thread.join().unwrap());
    poll.poll(&mut events, Some(Duration::from_millis(10)))
        .unwrap();
    log.line("no more", events.iter().count());
    waker.wake().unwrap();
    waker.wake().unwrap();
    poll.poll(&mut events, None).unwrap();
    log.line("one event", events.iter().count());
}

fn modify_to_nothing(log: Log) {
    let (client, server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, 0, 1);
    epoll.now(&log, "nothing");
    socket2::SockRef::from(&server)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(server);
    epoll.now(&log, "reset");
}

fn reset_events(log: Log) {
    let (mut client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, 1);
    epoll.now(&log, "new");
    server.write_all(b"abc").unwrap();
    epoll.now(&log, "data");
    socket2::SockRef::from(&server)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(server);
    epoll.now(&log, "reset");
    log.result("read", &client.read(&mut [0; 8]));
    epoll.now(&log, "after the read");
}

fn large_reads_and_edges(log: Log) {
    let (mut client, mut server) = pair();
    let epoll = Epoll::new();
    epoll.add(&client, EPOLLIN | EPOLLOUT | EPOLLET, 1);
    epoll.now(&log, "new");
    while client.write(&[7; 65536]).is_ok() {}
    settle_blocking();
    while client.write(&[7; 65536]).is_ok() {}
    settle_blocking();
    while client.write(&[7; 1]).is_ok() {}
    let mut buf = vec![0; 65536];
    let mut read = 0;
    loop {
        settle_blocking();
        match server.read(&mut buf) {
            Ok(bytes) => read += bytes,
            Err(_) => break,
        }
    }
    log.line("read much", read > 65536);
    epoll.now(&log, "writable again");
}
