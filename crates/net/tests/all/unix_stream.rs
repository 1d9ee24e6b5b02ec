//! Unix streams and listeners.

use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, Write};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::pin::pin;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
#[cfg(target_os = "linux")]
use raddle_net::UnixSocket;
use raddle_net::{UnixListener, UnixStream};
use raddle_reactor::Interest;
use raddle_testing::{block_on, poll};

use crate::common::{Driver, all, both, run};

#[test]
fn a_server_echoes_the_bytes_of_a_client() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("echo");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(listener.local_addr().unwrap().as_pathname(), Some(&*path));
        assert!(listener.take_error().unwrap().is_none());
        let server = async {
            let (mut stream, peer) = listener.accept().await.unwrap();
            assert!(peer.is_unnamed());
            let mut received = Vec::new();
            stream.read_to_end(&mut received).await.unwrap();
            stream.write_all(&received).await.unwrap();
        };
        // More than the buffers hold.
        let message = vec![7; 2 << 20];
        let client = async {
            let stream = UnixStream::connect(&path).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap().as_pathname(), Some(&*path));
            assert!(stream.local_addr().unwrap().is_unnamed());
            let (mut read, mut write) = stream.into_split();
            write.write_all(&message).await.unwrap();
            // Shuts down the write direction.
            drop(write);
            let mut echoed = Vec::new();
            read.read_to_end(&mut echoed).await.unwrap();
            echoed
        };
        let ((), echoed) = both(server, client).await;
        assert!(echoed == message);
    });
}

#[test]
fn connecting_without_a_listener_is_an_error() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("none");
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        drop(UnixListener::bind(&path).unwrap());
        let error = UnixStream::connect(&path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let error = UnixListener::bind(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AddrInUse);
        let error = UnixStream::connect("x".repeat(200)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

/// 2218, 3879: connecting to a full backlog is an error at once, and does not wait forever.
#[test]
#[cfg(target_os = "linux")]
fn a_full_backlog_is_an_error() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("full");
        let socket = UnixSocket::new_stream().unwrap();
        socket.bind(&path).unwrap();
        let listener = socket.listen(1).unwrap();
        let mut waiting = Vec::new();
        let error = loop {
            assert!(waiting.len() < 100, "the backlog does not fill up");
            match UnixStream::connect(&path).await {
                Ok(stream) => waiting.push(stream),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        // The backlog has a free place again.
        listener.accept().await.unwrap();
        UnixStream::connect(&path).await.unwrap();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_listener_accepts_on_an_abstract_address() {
    run(async {
        let name = format!("raddle-net-test-{}", std::process::id());
        let listener = UnixListener::bind(format!("\0{name}")).unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(addr.as_abstract_name(), Some(name.as_bytes()));
        assert!(addr.as_pathname().is_none() && !addr.is_unnamed());
        let (near, far) = both(
            UnixStream::connect(format!("\0{name}")),
            poll_fn(|cx| listener.poll_accept(cx)),
        )
        .await;
        near.unwrap();
        far.unwrap();
        UnixStream::connect_addr(&addr).await.unwrap();
    });
}

/// Each way to connect reaches each way to listen, whatever bytes the name holds.
#[test]
#[cfg(target_os = "linux")]
fn all_ways_to_bind_and_connect_give_an_abstract_name_the_same_meaning() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::net;

    let id = std::process::id();
    let names = [
        format!("raddle-stream-{id}").into_bytes(),
        format!("\0raddle-stream-{id}").into_bytes(),
        format!("raddle-stream-{id}\0\0").into_bytes(),
        [&b"raddle-stream-\xff"[..], id.to_string().as_bytes()].concat(),
        format!("{:x<107}", format!("raddle-stream-{id}-")).into_bytes(),
    ];
    let driver = Driver::start();
    let _current = driver.handle.enter();
    for name in names {
        let path = &std::ffi::OsString::from_vec([b"\0", &name[..]].concat());
        let std_addr = net::SocketAddr::from_abstract_name(&name).unwrap();
        let addr: raddle_net::unix::SocketAddr = std_addr.clone().into();
        let binders: [&dyn Fn() -> UnixListener; 4] = [
            &|| UnixListener::bind(path).unwrap(),
            &|| UnixListener::bind_addr(&addr).unwrap(),
            &|| {
                let socket = UnixSocket::new_stream().unwrap();
                socket.bind(path).unwrap();
                socket.listen(8).unwrap()
            },
            &|| {
                let listener = net::UnixListener::bind_addr(&std_addr).unwrap();
                listener.set_nonblocking(true).unwrap();
                UnixListener::from_std(listener).unwrap()
            },
        ];
        for bind in binders {
            let listener = bind();
            let local = listener.local_addr().unwrap();
            assert_eq!(local.as_abstract_name(), Some(&name[..]));
            let streams = [
                block_on(UnixStream::connect(path)).unwrap(),
                block_on(UnixStream::connect_addr(&addr)).unwrap(),
                block_on(UnixStream::connect_addr(&local)).unwrap(),
                block_on(UnixSocket::new_stream().unwrap().connect(path)).unwrap(),
            ];
            net::UnixStream::connect_addr(&std_addr).unwrap();
            for stream in streams {
                let peer = stream.peer_addr().unwrap();
                assert_eq!(peer.as_abstract_name(), Some(&name[..]));
                block_on(listener.accept()).unwrap();
            }
        }
    }
}

#[test]
fn peer_credentials_are_those_of_this_process() {
    run(async {
        let (near, _far) = UnixStream::pair().unwrap();
        let peer = near.peer_cred().unwrap();
        // SAFETY: these only read the process's own numbers.
        let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
        assert_eq!((peer.uid(), peer.gid()), (user, group));
        #[cfg(target_os = "linux")]
        assert_eq!(peer.pid(), Some(std::process::id() as i32));
        assert!(near.take_error().unwrap().is_none());
    });
}

#[test]
fn a_half_close_keeps_the_other_direction_open() {
    run(async {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        near.write_all(b"last words").await.unwrap();
        near.shutdown().await.unwrap();
        let mut received = String::new();
        far.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "last words");
        far.write_all(b"answer").await.unwrap();
        drop(far);
        received.clear();
        near.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "answer");
        let error = near.write(b"x").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn try_methods_return_would_block() {
    run(async {
        let (near, far) = UnixStream::pair().unwrap();
        let mut received = Vec::new();
        let error = near.try_read_buf(&mut received).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
        far.writable().await.unwrap();
        assert_eq!(far.try_write(b"ab").unwrap(), 2);
        let slices = [IoSlice::new(b"c"), IoSlice::new(b"d")];
        assert_eq!(far.try_write_vectored(&slices).unwrap(), 2);
        near.readable().await.unwrap();
        assert_eq!(near.try_read_buf(&mut received).unwrap(), 4);
        assert_eq!(received, b"abcd");
        assert_eq!(
            near.try_read(&mut [0; 4]).unwrap_err().kind(),
            ErrorKind::WouldBlock
        );
        assert!(poll(pin!(near.readable())).is_pending());
        // Writes until the buffer is full.
        let mut sent = 0;
        while let Ok(n) = far.try_write(&[0; 65_536]) {
            sent += n;
            assert!(sent < 1 << 30);
        }
        assert!(poll(pin!(far.writable())).is_pending());
        let mut rest = vec![0; sent];
        let mut near = near;
        near.read_exact(&mut rest).await.unwrap();
        far.writable().await.unwrap();
        let tried = far.async_io(Interest::WRITABLE, || Ok::<_, io::Error>(7));
        assert_eq!(tried.await.unwrap(), 7);
        poll_fn(|cx| far.poll_write_ready(cx)).await.unwrap();
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_after_a_short_read_waits_for_the_next_event() {
    run(async {
        let (mut near, mut far) = UnixStream::pair().unwrap();
        far.write_all(b"abc").await.unwrap();
        near.readable().await.unwrap();
        assert_eq!(near.read(&mut [0; 16]).await.unwrap(), 3);
        let tried = near.try_io(Interest::READABLE, || Ok(()));
        assert_eq!(tried.unwrap_err().kind(), ErrorKind::WouldBlock);
    });
}

/// A read stops after data that arrived with a descriptor. The data after it has arrived already,
/// so no event will report it.
#[test]
#[cfg(target_os = "linux")]
fn a_read_continues_after_a_passed_descriptor() {
    run(async {
        let (mut near, far) = UnixStream::pair().unwrap();
        far.writable().await.unwrap();
        send_with_descriptor(&far, b"one", 0);
        (&far.into_std().unwrap()).write_all(b"two").unwrap();
        let mut received = String::new();
        near.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "onetwo");

        let (mut near, far) = UnixStream::pair().unwrap();
        far.writable().await.unwrap();
        send_with_descriptor(&far, b"one", 0);
        assert_eq!(far.try_write(b"two").unwrap(), 3);
        let mut buffer = [0; 16];
        assert_eq!(near.read(&mut buffer).await.unwrap(), 3);
        assert_eq!(near.read(&mut buffer).await.unwrap(), 3);
        assert_eq!(&buffer[..3], b"two");
    });
}

#[cfg(target_os = "linux")]
fn send_with_descriptor(stream: &UnixStream, bytes: &[u8], fd: i32) {
    #[repr(align(8))]
    struct Control([u8; 64]);
    let mut control = Control([0; 64]);
    let mut slice = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    // SAFETY: zero is a value of each field; the header points to places of this function, which
    // outlive the call; the control buffer has room for one descriptor.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut slice;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(4) as usize;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(4) as usize;
        libc::CMSG_DATA(header).cast::<i32>().write(fd);
        libc::sendmsg(stream.as_raw_fd(), &raw const message, 0)
    };
    assert_eq!(sent, bytes.len() as isize);
}

#[test]
fn halves_read_and_write_at_the_same_time_and_reunite() {
    run(async {
        let (mut near, far) = UnixStream::pair().unwrap();
        {
            let (read, mut write) = near.split();
            assert!(read.local_addr().unwrap().is_unnamed());
            write.write_all(b"ping").await.unwrap();
            assert!(poll(pin!(read.readable())).is_pending());
            let mut buffer = [0; 8];
            assert!(read.try_read(&mut buffer).is_err());
        }
        let (mut read, write) = far.into_split();
        let mut buffer = [0; 4];
        read.read_exact(&mut buffer).await.unwrap();
        write.writable().await.unwrap();
        assert_eq!(write.try_write(b"pong").unwrap(), 4);

        let (other, other_far) = UnixStream::pair().unwrap();
        let (other_read, _other_write) = other.into_split();
        let error = write.reunite(other_read).unwrap_err();
        assert!(error.to_string().contains("same stream"), "{error}");
        let write = error.1;
        let far = read.reunite(write).unwrap();
        near.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"pong");

        // A half that is forgotten does not shut down its direction.
        let (read, write) = far.into_split();
        write.forget();
        assert!(poll(pin!(near.read(&mut buffer))).is_pending());
        drop(read);
        assert_eq!(near.read(&mut buffer).await.unwrap(), 0);
        drop(other_far);
    });
}

#[test]
fn many_connections_are_served() {
    run(async {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("many");
        let listener = UnixListener::bind(&path).unwrap();
        let serve = async {
            let mut streams = Vec::new();
            for _ in 0..30 {
                streams.push(listener.accept().await.unwrap().0);
            }
            all(streams.into_iter().map(|mut stream| async move {
                let mut received = Vec::new();
                stream.read_to_end(&mut received).await.unwrap();
                stream.write_all(&received).await.unwrap();
            }))
            .await
        };
        let clients = all((0..30_usize).map(|n| {
            let path = &path;
            async move {
                let mut stream = UnixStream::connect(path).await.unwrap();
                let message = vec![n as u8; 10_000 + n];
                stream.write_all(&message).await.unwrap();
                stream.shutdown().await.unwrap();
                let mut echoed = Vec::new();
                stream.read_to_end(&mut echoed).await.unwrap();
                assert!(echoed == message);
            }
        }));
        both(serve, clients).await;
    });
}

#[test]
fn sockets_convert_from_and_to_those_of_std() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let (near, far) = std::os::unix::net::UnixStream::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    let mut near = UnixStream::try_from(near).unwrap();
    (&far).write_all(b"abc").unwrap();
    assert_eq!(block_on(near.read(&mut [0; 8])).unwrap(), 3);
    let near = near.into_std().unwrap();
    assert_eq!(driver.handle.registered_count(), 0);
    let error = io::Read::read(&mut &near, &mut [0; 8]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("std");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = UnixListener::try_from(listener).unwrap();
    let client = std::os::unix::net::UnixStream::connect(&path).unwrap();
    block_on(listener.accept()).unwrap();
    drop(client);
    listener.into_std().unwrap();
    assert_eq!(driver.handle.registered_count(), 0);
}
