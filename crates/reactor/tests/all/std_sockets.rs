//! Sockets of std and other descriptors as sources.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use mio::event::Source;
use raddle_reactor::{Evented, Fd, Interest, Reactor};

const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE);

/// Drives the reactor until the operation is ready. It waits at least once.
fn drive<R>(
    reactor: &mut Reactor,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<io::Result<R>>,
) -> R {
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(result) = poll(&mut cx) {
            return result.unwrap();
        }
        reactor
            .turn(Some(Duration::from_secs(10)), usize::MAX)
            .unwrap();
    }
}

/// Returns the output of an operation that must wait before `act`, and not after it.
fn waits_for<E: Source, R>(
    reactor: &mut Reactor,
    source: &Evented<E>,
    mut operation: impl FnMut(&E) -> io::Result<R>,
    act: impl FnOnce(),
) -> R {
    let mut cx = Context::from_waker(Waker::noop());
    // In blocking mode it would never return.
    let refused = operation(source).err().expect("nothing has arrived");
    assert_eq!(refused.kind(), io::ErrorKind::WouldBlock);
    assert!(source.poll_read_io(&mut cx, &mut operation).is_pending());
    act();
    drive(reactor, |cx| source.poll_read_io(cx, &mut operation))
}

#[test]
fn std_sockets_of_each_kind_are_sources() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();

    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let listener = Evented::from_std(listener, Interest::READABLE, &handle).unwrap();
    let mut peer = None;
    let (stream, _) = waits_for(
        &mut reactor,
        &listener,
        |listener| listener.accept(),
        || peer = Some(TcpStream::connect(address).unwrap()),
    );
    let stream = Evented::new(stream, BOTH, &handle).unwrap();
    let peer = Evented::from_std(peer.unwrap(), BOTH, &handle).unwrap();
    let read = waits_for(
        &mut reactor,
        &stream,
        |mut stream| stream.read(&mut [0; 8]),
        || assert_eq!((&*peer).write(b"tcp").unwrap(), 3),
    );
    assert_eq!(read, 3);

    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let socket = Evented::from_std(socket, BOTH, &handle).unwrap();
    let read = waits_for(
        &mut reactor,
        &socket,
        |socket| socket.recv(&mut [0; 8]),
        || assert_eq!(socket.send_to(b"udp!", address).unwrap(), 4),
    );
    assert_eq!(read, 4);

    let (near, far) = UnixStream::pair().unwrap();
    let near = Evented::from_std(near, BOTH, &handle).unwrap();
    let read = waits_for(
        &mut reactor,
        &near,
        |mut near| near.read(&mut [0; 8]),
        || (&far).write_all(b"unix!").unwrap(),
    );
    assert_eq!(read, 5);

    let (near, far) = UnixDatagram::pair().unwrap();
    let near = Evented::from_std(near, BOTH, &handle).unwrap();
    let read = waits_for(
        &mut reactor,
        &near,
        |near| near.recv(&mut [0; 8]),
        || assert_eq!(far.send(b"unix d").unwrap(), 6),
    );
    assert_eq!(read, 6);

    let path = std::env::temp_dir().join(format!("raddle-std-sockets-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let listener = Evented::from_std(listener, Interest::READABLE, &handle).unwrap();
    waits_for(
        &mut reactor,
        &listener,
        |listener| listener.accept(),
        || drop(UnixStream::connect(&path).unwrap()),
    );
    std::fs::remove_file(path).unwrap();

    assert_eq!(handle.registered_count(), 7);
    drop((listener, near, socket, stream, peer));
    assert_eq!(
        handle.registered_count(),
        2,
        "those of the names that are hidden"
    );
}

/// The source owns the value, shares it, or borrows it, also as a bare descriptor.
#[test]
fn a_descriptor_is_a_source_owned_or_borrowed() {
    fn check<T: AsFd>(reactor: &mut Reactor, near: T, far: &UnixStream) -> T
    where
        for<'a> &'a T: Read,
    {
        let near = Fd::new(near).unwrap();
        let near = Evented::new(near, Interest::READABLE, &reactor.handle()).unwrap();
        let read = waits_for(
            reactor,
            &near,
            |near| near.get_ref().read(&mut [0; 8]),
            || (&*far).write_all(b"abc").unwrap(),
        );
        assert_eq!(read, 3);
        near.into_inner().unwrap().into_inner()
    }
    let mut reactor = Reactor::new().unwrap();
    let (near, far) = UnixStream::pair().unwrap();
    let near = check(&mut reactor, near, &far);
    let near = Arc::new(near);

    let borrowed = Fd::new(near.as_fd()).unwrap();
    let borrowed = Evented::new(borrowed, Interest::READABLE, &reactor.handle()).unwrap();
    let read = waits_for(
        &mut reactor,
        &borrowed,
        |_| (&*near).read(&mut [0; 8]),
        || (&far).write_all(b"abcd").unwrap(),
    );
    assert_eq!(read, 4);
    drop(borrowed);
    // The descriptor is open still, and can be registered again.
    let shared = Fd::from_nonblocking(near.clone());
    drop(Evented::new(shared, BOTH, &reactor.handle()).unwrap());
    let file = File::from(OwnedFd::from(Arc::into_inner(near).unwrap()));
    check(&mut reactor, file, &far);
    assert_eq!(reactor.handle().registered_count(), 0);
}

#[test]
fn a_pipe_is_set_to_non_blocking_mode() {
    let mut reactor = Reactor::new().unwrap();
    let (reader, writer) = io::pipe().unwrap();
    let reader = Evented::new(
        Fd::new(reader).unwrap(),
        Interest::READABLE,
        &reactor.handle(),
    );
    let read = waits_for(
        &mut reactor,
        &reader.unwrap(),
        |reader| reader.get_ref().read(&mut [0; 8]),
        || (&writer).write_all(b"x").unwrap(),
    );
    assert_eq!(read, 1);
}

/// epoll refuses regular files; the file is closed, and nothing stays registered.
#[cfg(target_os = "linux")]
#[test]
fn a_file_is_refused() {
    let reactor = Reactor::new().unwrap();
    let file = Fd::new(File::open("/proc/self/exe").unwrap()).unwrap();
    let error = Evented::new(file, Interest::READABLE, &reactor.handle()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(reactor.handle().registered_count(), 0);
}
