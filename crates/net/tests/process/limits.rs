//! Descriptors: very many, none left, and one that is reused.

use std::fs::File;
use std::future::{pending, poll_fn, ready};
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::async_fd::AsyncFd;
use raddle_net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use raddle_testing::{block_on, poll};

use crate::ALONE;
use crate::common::{Driver, all, both, pair};

fn limit() -> libc::rlimit {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the pointer is to a local variable.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    assert_eq!(result, 0);
    limit
}

fn set_limit(descriptors: libc::rlim_t) {
    let limit = libc::rlimit {
        rlim_cur: descriptors,
        ..limit()
    };
    // SAFETY: the call only reads a local variable.
    let result = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) };
    assert_eq!(result, 0);
}

/// One test, since its parts must not run at the same time.
#[test]
fn operations_return_errors_when_descriptors_run_out() {
    let _alone = ALONE.lock();
    // 1,024 connections have two descriptors each.
    set_limit(limit().rlim_max.min(4_096));
    let connections = 1_024.min((limit().rlim_cur as usize - 100) / 2);
    many_at_once(connections);
    none_left();
    none_left_for_unix();
    none_left_for_a_while();
    none_left_to_receive();
    duplicated();
    closed_first();
}

/// Descriptors that were sent along and for which the process has no number are an error, and the
/// others are closed.
fn none_left_to_receive() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    block_on(async {
        let (near, far) = UnixStream::pair().unwrap();
        let (mut reader, writer) = std::os::unix::net::UnixStream::pair().unwrap();
        near.send_with_fds(b"lost", &[writer.as_fd(); 3])
            .await
            .unwrap();
        near.send_with_fds(b"kept", &[writer.as_fd()])
            .await
            .unwrap();
        drop(writer);
        // There is a number for one more.
        let last = File::open("/dev/null").unwrap();
        let former = limit().rlim_cur;
        set_limit(last.as_raw_fd() as libc::rlim_t + 1);
        drop(last);
        let mut fds = Vec::new();
        let result = far.recv_with_fds(&mut [0; 8], &mut fds).await;
        set_limit(former);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Other);
        assert!(fds.is_empty());
        // The next message is not concerned.
        let mut buffer = [0; 8];
        let length = far.recv_with_fds(&mut buffer, &mut fds).await.unwrap();
        assert_eq!((&buffer[..length], fds.len()), (&b"kept"[..], 1));
        drop(fds);
        // No descriptor of the writer is left in this process.
        assert_eq!(reader.read(&mut [0; 1]).unwrap(), 0);
    });
}

fn many_at_once(connections: usize) {
    let driver = Driver::with_limit(64);
    let _current = driver.handle.enter();
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let mut near = Vec::new();
        let mut far = Vec::new();
        for _ in 0..connections {
            let (client, server) = both(TcpStream::connect(addr), listener.accept()).await;
            near.push(client.unwrap());
            far.push(server.unwrap().0);
        }
        // All tasks wait, then all become ready.
        let mut reads = Box::pin(all(near.iter_mut().enumerate().map(
            |(n, stream)| async move {
                let mut buffer = [0; 4];
                stream.read_exact(&mut buffer).await.unwrap();
                assert_eq!(u32::from_ne_bytes(buffer), n as u32);
            },
        )));
        let first = poll_fn(|cx| Poll::Ready(reads.as_mut().poll(cx))).await;
        assert!(first.is_pending());
        for (n, stream) in far.iter_mut().enumerate() {
            stream.write_all(&(n as u32).to_ne_bytes()).await.unwrap();
        }
        assert_eq!(reads.await.len(), connections);
    });
    assert_eq!(driver.handle.registered_count(), 0);
}

/// 3529, 6221: `accept` returns the error repeatedly, other tasks make progress, and it succeeds
/// after a descriptor was closed.
fn none_left() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    block_on(async {
        let (mut near, mut far) = pair().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let clients: Vec<_> = (0..3)
            .map(|_| std::net::TcpStream::connect(addr).unwrap())
            .collect();
        // The lowest free descriptor is the last one that the limit allows, and is in use.
        let last = File::open("/dev/null").unwrap();
        let former = limit().rlim_cur;
        set_limit(last.as_raw_fd() as libc::rlim_t + 1);

        for _ in 0..3 {
            let error = listener.accept().await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        }
        // Other tasks continue beside a loop whose `accept` always fails.
        let mut failures = 0;
        let accepted = {
            let mut echo = pin!(async {
                near.write_all(b"still").await.unwrap();
                let mut buffer = [0; 5];
                far.read_exact(&mut buffer).await.unwrap();
            });
            let mut last = Some(last);
            poll_fn(|cx| {
                if last.is_some() && echo.as_mut().poll(cx).is_ready() {
                    // Closes a descriptor.
                    last = None;
                }
                raddle_leaf::coop::budget(|| {
                    loop {
                        let mut accept = pin!(listener.accept());
                        match Pin::as_mut(&mut accept).poll(cx) {
                            Poll::Ready(Ok(accepted)) => return Poll::Ready(accepted),
                            Poll::Ready(Err(_)) => failures += 1,
                            Poll::Pending => return Poll::Pending,
                        }
                    }
                })
            })
            .await
        };
        assert_eq!(accepted.1, clients[0].local_addr().unwrap());
        drop(accepted);
        set_limit(former);
        for client in &clients[1..] {
            let (_, peer) = listener.accept().await.unwrap();
            assert_eq!(peer, client.local_addr().unwrap());
        }
    });
    assert_eq!(driver.handle.registered_count(), 0);
}

/// A stream whose descriptor was duplicated is still removed from the selector: otherwise the same
/// socket could not be registered again under the same number.
fn duplicated() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    block_on(async {
        let (near, mut far) = pair().await;
        let number = near.as_raw_fd();
        let duplicate = near.as_fd().try_clone_to_owned().unwrap();
        drop(near);
        let again = duplicate.try_clone().unwrap();
        assert_eq!(again.as_raw_fd(), number);
        let mut again = TcpStream::from_std(again.into()).unwrap();
        far.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 5];
        again.read_exact(&mut buffer).await.unwrap();
    });
}

fn none_left_for_unix() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("listener");
    block_on(async {
        let listener = UnixListener::bind(&path).unwrap();
        let _client = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let last = File::open("/dev/null").unwrap();
        let former = limit().rlim_cur;
        set_limit(last.as_raw_fd() as libc::rlim_t + 1);
        for _ in 0..3 {
            let error = listener.accept().await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        }
        let error = UnixStream::pair().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        let error = TcpSocket::new_v4().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE));
        drop(last);
        listener.accept().await.unwrap();
        set_limit(former);
    });
    assert_eq!(driver.handle.registered_count(), 0);
}

/// 3529, 6221: `accept_retrying` makes few attempts, continues when a descriptor is free, and loses
/// no connection if it is dropped in between.
fn none_left_for_a_while() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("listener");
    block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let unix_listener = UnixListener::bind(&path).unwrap();
        let addr = listener.local_addr().unwrap();
        let [_first, client] = [(); 2].map(|()| std::net::TcpStream::connect(addr).unwrap());
        let _unix_client = std::os::unix::net::UnixStream::connect(&path).unwrap();
        // From now on the listener is known to be readable.
        let _first = listener.accept().await.unwrap();
        let mut last = Some(File::open("/dev/null").unwrap());
        let former = limit().rlim_cur;
        set_limit(last.as_ref().unwrap().as_raw_fd() as libc::rlim_t + 1);

        // With a pause that never ends, one attempt is made, however often the future is polled.
        let mut pauses = 0;
        let mut waiting = Box::pin(listener.accept_retrying(|_| {
            pauses += 1;
            pending()
        }));
        for _ in 0..100 {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        drop(waiting);
        assert_eq!(pauses, 1);

        // The first four attempts fail, then a descriptor is free.
        let mut pauses = Vec::new();
        let sleep = |pause: Duration| {
            pauses.push(pause.as_millis());
            if pauses.len() == 4 {
                last = None;
            }
            ready(())
        };
        let accepted = listener.accept_retrying(sleep).await.unwrap();
        assert_eq!(accepted.1, client.local_addr().unwrap());
        assert_eq!(pauses, [5, 10, 20, 40]);

        let mut accepted = Some(accepted);
        let sleep = |_| {
            accepted = None;
            ready(())
        };
        unix_listener.accept_retrying(sleep).await.unwrap();
        assert!(accepted.is_none());
        set_limit(former);
    });
    assert_eq!(driver.handle.registered_count(), 0);
}

/// 7563: a descriptor that other code closes is still deregistered, and its number can be
/// registered again.
fn closed_first() {
    struct Number(RawFd);
    impl AsRawFd for Number {
        fn as_raw_fd(&self) -> RawFd {
            self.0
        }
    }

    let driver = Driver::start();
    let _current = driver.handle.enter();
    for _ in 0..200 {
        let (near, _far) = std::os::unix::net::UnixStream::pair().unwrap();
        let watched = AsyncFd::new(Number(near.as_raw_fd())).unwrap();
        drop(near);
        let (again, far) = std::os::unix::net::UnixStream::pair().unwrap();
        assert_eq!(again.as_raw_fd(), watched.as_raw_fd());
        let again = AsyncFd::new(again).unwrap();
        // The new owner of the number is registered already: it must receive its own events and
        // none of the former owner's.
        block_on(again.writable()).map(drop).unwrap();
        drop(far);
        block_on(again.readable()).map(drop).unwrap();
        drop(again);
        drop(watched);
    }
    assert_eq!(driver.handle.registered_count(), 0);
}
