//! Operations that are tried without an event: the first ones on an accepted connection or on a
//! socket of a pair. The reactor turns only where a test says so.

use std::io::{ErrorKind, Write};
use std::pin::pin;
use std::time::Duration;

use raddle_net::{TcpListener, UnixDatagram, UnixListener, UnixStream};
use raddle_reactor::Reactor;
use raddle_testing::poll;

/// Turns the reactor until an event has been dispatched.
fn turn(reactor: &mut Reactor) {
    let limit = Duration::from_secs(60);
    while reactor.turn(Some(limit), usize::MAX).unwrap() == 0 {}
}

/// Accepts a connection, whose peer has sent "hello", and checks its readiness and its data.
macro_rules! check_accepted {
    ($reactor:expr, $listener:expr, $peer:expr) => {{
        turn(&mut $reactor);
        let mut accept = pin!($listener.accept());
        let std::task::Poll::Ready(accepted) = poll(accept.as_mut()) else {
            panic!("the accept is pending");
        };
        let (stream, _) = accepted.unwrap();
        assert!(poll(pin!(stream.readable())).is_ready());
        assert!(poll(pin!(stream.writable())).is_ready());
        let read = |reactor: &mut Reactor| {
            let mut buffer = [0; 5];
            while let Err(error) = stream.try_read(&mut buffer) {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                turn(reactor);
            }
            buffer
        };
        assert_eq!(read(&mut $reactor), *b"hello");
        assert_eq!(stream.try_write(b"world").unwrap(), 5);
        // The assumption was wrong: from now on an event reports new data.
        let error = stream.try_read(&mut [0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        assert!(poll(pin!(stream.readable())).is_pending());
        $peer.write_all(b"later").unwrap();
        assert_eq!(read(&mut $reactor), *b"later");
    }};
}

#[test]
fn a_tcp_connection_is_read_and_written_at_once() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let _entered = handle.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let mut peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    peer.write_all(b"hello").unwrap();
    check_accepted!(reactor, listener, peer);
}

#[test]
fn a_unix_connection_is_read_and_written_at_once() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let _entered = handle.enter();
    let dir = tempfile::tempdir().unwrap();
    let listener = UnixListener::bind(dir.path().join("assumed")).unwrap();
    let mut peer = std::os::unix::net::UnixStream::connect(dir.path().join("assumed")).unwrap();
    peer.write_all(b"hello").unwrap();
    check_accepted!(reactor, listener, peer);
}

#[test]
fn a_pair_is_written_at_once_and_read_after_an_event() {
    let mut reactor = Reactor::new().unwrap();
    let handle = reactor.handle();
    let _entered = handle.enter();
    let mut buffer = [0; 8];

    let (near, far) = UnixStream::pair().unwrap();
    assert_eq!(near.try_write(b"stream").unwrap(), 6);
    assert!(poll(pin!(far.readable())).is_pending());
    while poll(pin!(far.readable())).is_pending() {
        turn(&mut reactor);
    }
    assert_eq!(far.try_read(&mut buffer).unwrap(), 6);

    let (near, far) = UnixDatagram::pair().unwrap();
    assert_eq!(near.try_send(b"datagram").unwrap(), 8);
    assert!(poll(pin!(far.readable())).is_pending());
    while poll(pin!(far.readable())).is_pending() {
        turn(&mut reactor);
    }
    assert_eq!(far.try_recv(&mut buffer).unwrap(), 8);
}
