//! Unix sockets for datagrams.

use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::pin::pin;

use raddle_io::ReadBuf;
use raddle_net::{UnixDatagram, UnixListener, UnixSocket, UnixStream};
use raddle_reactor::Interest;
#[cfg(target_os = "linux")]
use raddle_testing::{Wakes, poll_with};
use raddle_testing::{block_on, poll};

use crate::common::{Driver, both, run, run_beside_driver};

#[test]
fn datagrams_carry_the_address_of_the_sender() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let (here, there) = (dir.path().join("here"), dir.path().join("there"));
        let near = UnixDatagram::bind(&here).unwrap();
        let far = UnixDatagram::bind(&there).unwrap();
        assert_eq!(near.local_addr().unwrap().as_pathname(), Some(&*here));
        let mut buffer = [0; 64];
        for n in 0..20_u8 {
            let message = vec![n; usize::from(n)];
            near.send_to(&message, &there).await.unwrap();
            let (length, peer) = far.recv_from(&mut buffer).await.unwrap();
            assert_eq!(peer.as_pathname(), Some(&*here));
            assert_eq!(buffer[..length], message);
        }
        let unbound = UnixDatagram::unbound().unwrap();
        unbound.connect(&there).unwrap();
        assert_eq!(unbound.peer_addr().unwrap().as_pathname(), Some(&*there));
        unbound.send(b"who").await.unwrap();
        let mut received = Vec::with_capacity(64);
        let (length, peer) = far.recv_buf_from(&mut received).await.unwrap();
        assert_eq!((length, &received[..]), (3, &b"who"[..]));
        assert!(peer.is_unnamed());
        near.try_send_to(b"me", &there).unwrap();
        let (_, peer) = far.recv_buf_from(&mut received).await.unwrap();
        assert_eq!(peer.as_pathname(), Some(&*here));
        let error = near.send_to(b"x", dir.path().join("none")).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_datagram_socket_binds_to_an_abstract_address() {
    run(async {
        let name = format!("raddle-net-datagrams-{}", std::process::id());
        let near = UnixDatagram::bind(format!("\0{name}")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("far");
        let far = UnixDatagram::bind(&path).unwrap();
        near.send_to(b"abc", &path).await.unwrap();
        let (_, peer) = far.recv_buf_from(&mut Vec::new()).await.unwrap();
        assert_eq!(peer.as_abstract_name(), Some(name.as_bytes()));
    });
}

/// Names in the abstract namespace, without the zero byte before them. They may hold any bytes.
#[cfg(target_os = "linux")]
fn abstract_names() -> Vec<Vec<u8>> {
    let id = std::process::id();
    let full = format!("{:x<107}", format!("raddle-{id}-"));
    vec![
        format!("raddle-{id}").into_bytes(),
        format!("raddle-{id}\0inner\0").into_bytes(),
        format!("\0raddle-{id}").into_bytes(),
        [&b"raddle-\xff\xfe-"[..], id.to_string().as_bytes()].concat(),
        full.into_bytes(),
    ]
}

/// The path that stands for a name.
#[cfg(target_os = "linux")]
fn path_of(name: &[u8]) -> std::path::PathBuf {
    use std::os::unix::ffi::OsStringExt;

    let bytes = [b"\0", name].concat();
    std::ffi::OsString::from_vec(bytes).into()
}

/// Bug: own, names that `bind` accepts were refused by all functions that send and connect.
#[test]
#[cfg(target_os = "linux")]
fn datagrams_are_sent_to_abstract_names() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net;

    run(async {
        for name in abstract_names() {
            let path = &path_of(&name);
            let receiver = UnixDatagram::bind(path).unwrap();
            assert_eq!(
                receiver.local_addr().unwrap().as_abstract_name(),
                Some(&name[..])
            );
            let sender = UnixDatagram::unbound().unwrap();
            sender.writable().await.unwrap();
            assert_eq!(sender.send_to(b"a", path).await.unwrap(), 1);
            assert_eq!(sender.try_send_to(b"bc", path).unwrap(), 2);
            let sent = poll_fn(|cx| sender.poll_send_to(cx, b"def", path)).await;
            assert_eq!(sent.unwrap(), 3);
            sender.connect(path).unwrap();
            let peer = sender.peer_addr().unwrap();
            assert_eq!(peer.as_abstract_name(), Some(&name[..]));
            assert_eq!(sender.send(b"ghij").await.unwrap(), 4);
            let address = net::SocketAddr::from_abstract_name(&name).unwrap();
            let std = net::UnixDatagram::unbound().unwrap();
            std.send_to_addr(b"klmno", &address).unwrap();
            for length in 1..6 {
                assert_eq!(receiver.recv(&mut [0; 8]).await.unwrap(), length);
            }
            // A socket that `UnixSocket` has bound has the same name.
            drop(receiver);
            let receiver = UnixSocket::new_datagram().unwrap();
            receiver.bind(path).unwrap();
            let receiver = receiver.datagram().unwrap();
            std.send_to_addr(b"pqr", &address).unwrap();
            assert_eq!(sender.send_to(b"s", path).await.unwrap(), 1);
            assert_eq!(receiver.recv(&mut [0; 8]).await.unwrap(), 3);
            assert_eq!(receiver.recv(&mut [0; 8]).await.unwrap(), 1);
        }
    });
}

/// Names and paths that no socket can have are refused by all functions alike.
#[test]
fn names_that_no_socket_can_have_are_refused() {
    run(async {
        let long = "x".repeat(200);
        let mut refused = vec!["inner\0zero", &*long];
        let long_name = format!("\0{long}");
        if cfg!(target_os = "linux") {
            refused.push(&long_name);
        }
        let socket = UnixDatagram::unbound().unwrap();
        socket.writable().await.unwrap();
        for path in refused {
            let errors = [
                UnixDatagram::bind(path).unwrap_err(),
                socket.connect(path).unwrap_err(),
                socket.send_to(b"x", path).await.unwrap_err(),
                socket.try_send_to(b"x", path).unwrap_err(),
                poll_fn(|cx| socket.poll_send_to(cx, b"x", path))
                    .await
                    .unwrap_err(),
                UnixListener::bind(path).unwrap_err(),
                UnixStream::connect(path).await.unwrap_err(),
                UnixSocket::new_datagram().unwrap().bind(path).unwrap_err(),
                UnixSocket::new_stream().unwrap().bind(path).unwrap_err(),
                UnixSocket::new_stream()
                    .unwrap()
                    .connect(path)
                    .await
                    .unwrap_err(),
            ];
            for error in errors {
                assert_eq!(error.kind(), ErrorKind::InvalidInput, "{path:?}: {error}");
            }
        }
        let error = socket.send_to(b"x", "").await.unwrap_err();
        assert_ne!(error.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn each_receive_returns_one_datagram_truncated_to_the_buffer() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        for message in [&b""[..], b"abc", b"defgh"] {
            assert_eq!(near.send(message).await.unwrap(), message.len());
        }
        let mut buffer = [0; 4];
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 0);
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
        // The datagram is truncated.
        assert_eq!(far.recv(&mut buffer).await.unwrap(), 4);
        let error = far.try_recv(&mut buffer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    });
}

#[test]
fn a_sender_waits_until_the_receiver_has_room() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        near.writable().await.unwrap();
        let mut sent = 0_u32;
        while near.try_send(&sent.to_ne_bytes()).is_ok() {
            sent += 1;
            assert!(sent < 1_000_000);
        }
        let more = async {
            for n in sent..sent + 100 {
                near.send(&n.to_ne_bytes()).await.unwrap();
            }
        };
        let receive = async {
            let mut buffer = [0; 4];
            for n in 0..sent + 100 {
                assert_eq!(far.recv(&mut buffer).await.unwrap(), 4);
                assert_eq!(u32::from_ne_bytes(buffer), n);
            }
        };
        both(more, receive).await;
    });
}

#[test]
fn poll_and_try_methods_send_and_receive() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        poll_fn(|cx| near.poll_send_ready(cx)).await.unwrap();
        for _ in 0..4 {
            assert_eq!(poll_fn(|cx| near.poll_send(cx, b"abc")).await.unwrap(), 3);
        }
        poll_fn(|cx| far.poll_recv_ready(cx)).await.unwrap();
        let mut storage = [0; 16];
        let mut received = ReadBuf::new(&mut storage);
        poll_fn(|cx| far.poll_recv(cx, &mut received))
            .await
            .unwrap();
        let peer = poll_fn(|cx| far.poll_recv_from(cx, &mut received)).await;
        assert!(peer.unwrap().is_unnamed());
        assert_eq!(received.filled(), b"abcabc");
        let mut grown = Vec::new();
        assert_eq!(far.try_recv_buf(&mut grown).unwrap(), 3);
        let (length, _) = far.try_recv_from(&mut [0; 8]).unwrap();
        assert_eq!(length, 3);
        assert!(far.try_recv_buf_from(&mut grown).is_err());
        assert!(poll(pin!(far.readable())).is_pending());
        let tried = far.try_io(Interest::WRITABLE, || Ok(7));
        assert_eq!(tried.unwrap(), 7);
    });
}

#[test]
fn dropped_futures_lose_nothing() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        for _ in 0..50 {
            let mut buffer = [0; 8];
            assert!(poll(pin!(far.recv(&mut buffer))).is_pending());
            near.send(b"abc").await.unwrap();
            assert_eq!(far.recv(&mut buffer).await.unwrap(), 3);
        }
    });
}

#[test]
fn each_direction_can_be_shut_down() {
    run(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        near.shutdown(Shutdown::Write).unwrap();
        let error = near.send(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        far.send(b"abc").await.unwrap();
        assert_eq!(near.recv(&mut [0; 8]).await.unwrap(), 3);
        drop(far);
        assert!(near.take_error().unwrap().is_none());
    });
}

/// Bug: own, two closures that returned `WouldBlock` cleared the closed flag of a direction.
#[test]
#[cfg(target_os = "linux")]
fn closed_directions_survive_closures_that_would_block() {
    run_beside_driver(async {
        let (near, far) = UnixDatagram::pair().unwrap();
        near.shutdown(Shutdown::Both).unwrap();
        let both_ways = Interest::READABLE | Interest::WRITABLE;
        while !near.ready(both_ways).await.unwrap().is_read_closed() {}
        for interest in [Interest::READABLE, Interest::WRITABLE, both_ways] {
            for _ in 0..3 {
                near.ready(interest).await.unwrap();
                let blocked = || Err::<(), _>(ErrorKind::WouldBlock.into());
                assert!(near.try_io(interest, blocked).is_err());
            }
        }
        let error = near.send(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        // Linux lets a receive of datagrams wait although the direction is closed.
        let mut buffer = [0; 8];
        let (wakes, waker) = Wakes::new();
        let mut recv = pin!(near.recv(&mut buffer));
        for _ in 0..3 {
            assert!(poll_with(recv.as_mut(), &waker).is_pending());
        }
        assert_eq!(wakes.get(), 0);
        drop(far);
    });
}

/// Bug: own, an error made a socket readable.
/// An error makes no socket readable, and a receive waits for it.
#[test]
#[cfg(target_os = "linux")]
fn a_peer_that_connects_to_another_is_an_error() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let (here, there) = (dir.path().join("here"), dir.path().join("there"));
        let near = UnixDatagram::bind(&here).unwrap();
        let far = UnixDatagram::bind(&there).unwrap();
        near.connect(&there).unwrap();
        far.connect(&here).unwrap();
        // What `far` has not received is lost when it leaves its peer.
        near.send(b"x").await.unwrap();
        let other = dir.path().join("other");
        let _other = UnixDatagram::bind(&other).unwrap();
        far.connect(&other).unwrap();
        near.ready(Interest::ERROR).await.unwrap();
        assert!(poll(pin!(near.readable())).is_pending());
        let error = near.try_recv(&mut [0; 8]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        let error = near.recv(&mut [0; 8]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    });
}

#[test]
fn sockets_convert_from_and_to_other_types() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("made");
    let made = UnixSocket::new_datagram().unwrap();
    made.bind(&path).unwrap();
    let made = made.datagram().unwrap();
    let other = std::os::unix::net::UnixDatagram::unbound().unwrap();
    other.set_nonblocking(true).unwrap();
    let other = UnixDatagram::try_from(other).unwrap();
    block_on(other.send_to(b"abc", &path)).unwrap();
    assert_eq!(block_on(made.recv(&mut [0; 8])).unwrap(), 3);
    assert_eq!(driver.handle.registered_count(), 2);
    other.into_std().unwrap();
    drop(made);
    assert_eq!(driver.handle.registered_count(), 0);

    let datagrams = UnixSocket::new_datagram().unwrap();
    let error = datagrams.listen(1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let datagrams = UnixSocket::new_datagram().unwrap();
    let error = block_on(datagrams.connect(&path)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let stream = UnixSocket::new_stream().unwrap();
    let error = stream.datagram().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}
