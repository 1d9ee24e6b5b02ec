//! Peers that vanish, and runtimes that shut down.

use std::future::Future;
#[cfg(target_os = "linux")]
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::{TcpListener, TcpStream, UdpSocket};
use raddle_reactor::{Interest, is_shut_down};
use raddle_testing::{block_on, poll};

use crate::common::{self, Driver, all, both, pair, run, run_beside_driver};

/// A connection that was reset before it was accepted is an error of this one accept, or a stream
/// that fails. The listener still works.
#[test]
fn a_connection_that_is_reset_before_accept_is_skipped() {
    if !common::has_resets() {
        println!("skipped: this system has no resets");
        return;
    }
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        for _ in 0..20 {
            let gone = TcpStream::connect(addr).await.unwrap();
            gone.set_zero_linger().unwrap();
            drop(gone);
            match listener.accept().await {
                Ok((mut stream, _)) => {
                    let error = stream.read(&mut [0; 8]).await.unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                }
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionAborted),
            }
        }
        let (client, server) = both(TcpStream::connect(addr), listener.accept()).await;
        client.unwrap();
        server.unwrap();
    });
}

#[test]
fn a_reset_wakes_the_waiters_for_writability() {
    run(async {
        let (mut near, far) = pair().await;
        let big = vec![0; 1 << 20];
        while let Poll::Ready(written) = poll(pin!(near.write(&big))) {
            written.unwrap();
        }
        far.set_zero_linger().unwrap();
        let write = async { near.write_all(&big).await.unwrap_err() };
        let (error, ()) = both(write, async { drop(far) }).await;
        assert!(
            matches!(
                error.kind(),
                ErrorKind::ConnectionReset | ErrorKind::BrokenPipe
            ),
            "{error}"
        );
    });
}

/// A reset wakes all tasks that wait for the stream.
#[test]
fn a_reset_wakes_all_waiters() {
    if !common::has_resets() {
        println!("skipped: this system has no resets");
        return;
    }
    run(async {
        let (near, far) = pair().await;
        near.writable().await.unwrap();
        let big = vec![0; 1 << 20];
        while near.try_write(&big).is_ok() {}
        let mut byte = [0];
        let waiting = all([
            Box::pin(near.readable()) as Pin<Box<dyn Future<Output = io::Result<()>>>>,
            Box::pin(near.writable()),
            Box::pin(async { near.ready(Interest::ERROR).await.map(drop) }),
            Box::pin(async { near.peek(&mut byte).await.map(drop) }),
            Box::pin(near.async_io(Interest::WRITABLE, || near.try_write(&big).map(drop))),
        ]);
        let mut waiting = pin!(waiting);
        assert!(poll(waiting.as_mut()).is_pending());
        far.set_zero_linger().unwrap();
        let (results, ()) = both(waiting, async { drop(far) }).await;
        // One of the operations returns the reset, the others the error that follows it.
        let tried = results[3].is_err() || results[4].is_err();
        assert!(
            results[..3].iter().all(Result::is_ok) && tried,
            "{results:?}"
        );
    });
}

/// mio 939: the end of one direction does not end the other.
#[test]
fn a_half_close_of_the_peer_closes_only_the_read_direction() {
    run_beside_driver(async {
        let (mut near, far) = pair().await;
        near.shutdown().await.unwrap();
        loop {
            let ready = far.ready(Interest::READABLE).await.unwrap();
            if ready.is_read_closed() {
                break;
            }
        }
        let both_ways = Interest::READABLE | Interest::WRITABLE;
        let ready = far.ready(both_ways).await.unwrap();
        assert!(ready.is_read_closed() && !ready.is_write_closed());
        // The end is still reported after an operation of the other direction would block.
        let blocked = || Err::<(), _>(ErrorKind::WouldBlock.into());
        assert!(far.try_io(both_ways, blocked).is_err());
        let ready = far.ready(Interest::READABLE).await.unwrap();
        assert!(ready.is_read_closed());
        assert_eq!(far.try_read(&mut [0; 8]).unwrap(), 0);
    });
}

/// mio 449: a write waits for a full buffer instead of retrying.
#[test]
fn a_write_to_a_full_buffer_waits_without_retrying() {
    run(async {
        let (near, far) = pair().await;
        near.writable().await.unwrap();
        let big = vec![0; 1 << 20];
        while near.try_write(&big).is_ok() {}
        let mut tried = 0;
        let waiting = near.async_io(Interest::WRITABLE, || {
            tried += 1;
            near.try_write(&big)
        });
        let mut waiting = Box::pin(waiting);
        for _ in 0..1_000 {
            assert!(poll(waiting.as_mut()).is_pending());
        }
        drop(waiting);
        assert!(tried <= 2, "tried {tried} times");
        drop(far);
    });
}

/// More bytes, in more slices, than the system accepts in one call.
#[test]
fn large_vectored_writes_arrive_whole() {
    run(async {
        let (near, mut far) = pair().await;
        let part = vec![7; 64 << 10];
        let slices: Vec<_> = (0..2_000).map(|_| IoSlice::new(&part)).collect();
        near.writable().await.unwrap();
        let sent = near.try_write_vectored(&slices).unwrap();
        assert!(0 < sent && sent < slices.len() * part.len());
        drop(near);
        let mut received = Vec::new();
        far.read_to_end(&mut received).await.unwrap();
        assert_eq!(received.len(), sent);
    });
}

/// Checks an operation that is pending when the runtime shuts down, and once more after the
/// shutdown.
fn outlive<F: Future<Output = io::Result<()>>>(
    driver: &mut Option<Driver>,
    mut operation: impl FnMut() -> F,
) {
    let mut waiting = Box::pin(operation());
    assert!(poll(waiting.as_mut()).is_pending());
    drop(driver.take());
    assert!(is_shut_down(&block_on(waiting).unwrap_err()));
    let mut late = pin!(operation());
    let Poll::Ready(result) = late.as_mut().poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("the operation is pending after the shutdown");
    };
    assert!(is_shut_down(&result.unwrap_err()));
}

#[test]
fn operations_fail_after_the_runtime_has_shut_down() {
    let start = || {
        let driver = Driver::start();
        (driver.handle.clone(), Some(driver))
    };
    let (handle, mut driver) = start();
    let _current = handle.enter();
    let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    outlive(&mut driver, || async { listener.accept().await.map(drop) });

    let (handle, mut driver) = start();
    let _current = handle.enter();
    let (near, _far) = block_on(pair());
    outlive(&mut driver, || async {
        near.peek(&mut [0; 1]).await.map(drop)
    });
    let error = near.try_read(&mut [0; 1]).unwrap_err();
    assert!(is_shut_down(&error));
    // The stream is known to be writable, and `try_write` does not wait.
    assert_eq!(near.try_write(b"x").unwrap(), 1);
    assert!(is_shut_down(&block_on(near.writable()).unwrap_err()));

    let (handle, mut driver) = start();
    let _current = handle.enter();
    let socket = block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
    outlive(&mut driver, || async {
        socket.recv_from(&mut [0; 1]).await.map(drop)
    });
    assert!(is_shut_down(&block_on(socket.writable()).unwrap_err()));
}

#[test]
#[cfg(unix)]
fn operations_on_unix_sockets_fail_after_the_runtime_has_shut_down() {
    use raddle_net::unix::pipe;
    use raddle_net::{UnixDatagram, UnixListener, UnixStream};

    let dir = tempfile::tempdir().unwrap();
    let mut driver = Some(Driver::start());
    let handle = driver.as_ref().unwrap().handle.clone();
    let _current = handle.enter();
    let listener = UnixListener::bind(dir.path().join("listener")).unwrap();
    let (stream, _other_end) = UnixStream::pair().unwrap();
    let (datagrams, _other_end) = UnixDatagram::pair().unwrap();
    let (_sender, receiver) = pipe::pipe().unwrap();
    let all = || async {
        let ended = [
            listener.accept().await.map(drop),
            stream.readable().await,
            datagrams.recv(&mut [0; 1]).await.map(drop),
            receiver.readable().await,
        ];
        let mut ended = ended.into_iter();
        let first = ended.next().unwrap();
        assert!(ended.all(|result| is_shut_down(&result.unwrap_err())));
        first
    };
    outlive(&mut driver, all);
    let error = pipe::pipe().unwrap_err();
    assert!(is_shut_down(&error));
    let late = block_on(UnixStream::connect(dir.path().join("listener")));
    assert!(is_shut_down(&late.unwrap_err()));
}

#[test]
fn dropping_halves_in_any_order_deregisters_the_stream() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    for n in 0..100 {
        let (near, far) = block_on(pair());
        if n % 2 == 0 {
            far.set_linger(Some(Duration::ZERO)).unwrap();
        }
        let (read, write) = near.into_split();
        drop(far);
        if n % 3 == 0 {
            drop(read);
            drop(write);
        } else {
            drop(write);
            drop(read);
        }
    }
    assert_eq!(driver.handle.registered_count(), 0);
}

fn would_block() -> io::Result<()> {
    Err(ErrorKind::WouldBlock.into())
}

/// Checks that the two directions of a stream whose peer has gone stay ready, whatever closures
/// return, and that plain operations see the end.
#[cfg(target_os = "linux")]
macro_rules! assert_closed_for_good {
    ($stream:expr) => {
        let mut stream = $stream;
        let both_ways = Interest::READABLE | Interest::WRITABLE;
        while !stream.ready(both_ways).await.unwrap().is_write_closed() {
            let _ = stream.try_write(b"x");
        }
        for _ in 0..3 {
            stream.readable().await.unwrap();
            stream.writable().await.unwrap();
            for interest in [Interest::READABLE, Interest::WRITABLE, both_ways] {
                let error = stream.try_io(interest, would_block).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                let mut io = pin!(stream.async_io(interest, would_block));
                assert!(poll(io.as_mut()).is_pending());
            }
        }
        let Poll::Ready(ready) = poll(pin!(stream.ready(both_ways))) else {
            panic!("the closed directions are not ready");
        };
        let ready = ready.unwrap();
        assert!(ready.is_read_closed() && ready.is_write_closed());
        poll_fn(|cx| stream.poll_read_ready(cx)).await.unwrap();
        poll_fn(|cx| stream.poll_write_ready(cx)).await.unwrap();
        let mut calls = 0;
        let retried = stream.async_io(both_ways, || {
            calls += 1;
            if calls < 3 { would_block() } else { Ok(()) }
        });
        retried.await.unwrap();
        let write = async { stream.write(&[0; 8]).await };
        let error = write.await.unwrap_err();
        assert!(
            matches!(
                error.kind(),
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset
            ),
            "{error}"
        );
        // The first read may return the reset.
        let _ = stream.read(&mut [0; 8]).await;
        assert_eq!(stream.read(&mut [0; 8]).await.unwrap(), 0);
    };
}

/// Bug: own, two closures that returned `WouldBlock` cleared the closed flag of a direction.
#[test]
#[cfg(target_os = "linux")]
fn closed_tcp_directions_survive_closures_that_would_block() {
    run_beside_driver(async {
        let (near, far) = pair().await;
        far.set_zero_linger().unwrap();
        drop(far);
        assert_closed_for_good!(near);
    });
}

/// Bug: own, as above.
#[test]
#[cfg(target_os = "linux")]
fn closed_unix_directions_survive_closures_that_would_block() {
    run_beside_driver(async {
        let (near, far) = raddle_net::UnixStream::pair().unwrap();
        drop(far);
        assert_closed_for_good!(near);
    });
}

/// Bug: own, as above, for a peer that has only ended its own direction.
#[test]
fn the_end_of_a_stream_survives_closures_that_would_block() {
    run(async {
        let (near, mut far) = pair().await;
        far.shutdown().await.unwrap();
        for _ in 0..3 {
            near.readable().await.unwrap();
            let _ = near.try_io(Interest::READABLE, would_block);
        }
        let mut calls = 0;
        let read = near.async_io(Interest::READABLE, || {
            calls += 1;
            match calls {
                1 => Err(ErrorKind::WouldBlock.into()),
                _ => near.try_read(&mut [0; 8]),
            }
        });
        assert_eq!(read.await.unwrap(), 0);
        // The other direction waits for room as before.
        let mut write = Box::pin(near.async_io(Interest::WRITABLE, would_block));
        for _ in 0..3 {
            assert!(poll(write.as_mut()).is_pending());
        }
        drop(write);
        let mut near = near;
        assert_eq!(near.read(&mut [0; 8]).await.unwrap(), 0);
    });
}

/// Bug: own, a `splice` into a full pipe would block, and the rest of the stream was never moved.
#[test]
#[cfg(target_os = "linux")]
fn the_rest_of_a_stream_is_moved_through_a_full_pipe() {
    use std::os::fd::AsRawFd;

    const BYTES: usize = 60_000;

    fn splice(from: &impl AsRawFd, to: &impl AsRawFd) -> io::Result<usize> {
        let flags = libc::SPLICE_F_NONBLOCK | libc::SPLICE_F_MOVE;
        // SAFETY: both descriptors are open, and neither offset is given.
        let moved = unsafe {
            libc::splice(
                from.as_raw_fd(),
                std::ptr::null_mut(),
                to.as_raw_fd(),
                std::ptr::null_mut(),
                1 << 16,
                flags,
            )
        };
        usize::try_from(moved).map_err(|_| io::Error::last_os_error())
    }

    run_beside_driver(async {
        for by_async_io in [true, false] {
            let (client, near) = pair().await;
            let (sender, mut receiver) = raddle_net::unix::pipe::pipe().unwrap();
            // SAFETY: sets the size of an open pipe.
            let size = unsafe { libc::fcntl(sender.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
            assert!(size > 0);
            let mut client = client;
            client.write_all(&[7; BYTES]).await.unwrap();
            client.shutdown().await.unwrap();
            while !near
                .ready(Interest::READABLE)
                .await
                .unwrap()
                .is_read_closed()
            {
                std::thread::sleep(Duration::from_millis(1));
            }
            let pump = async {
                let mut moved = 0;
                loop {
                    let move_some = || splice(&near, &sender);
                    let result = if by_async_io {
                        near.async_io(Interest::READABLE, move_some).await
                    } else {
                        near.readable().await.unwrap();
                        near.try_io(Interest::READABLE, move_some)
                    };
                    match result {
                        Ok(0) => break,
                        Ok(bytes) => moved += bytes,
                        // A task would yield by its budget.
                        Err(error) if error.kind() == ErrorKind::WouldBlock => yield_once().await,
                        Err(error) => panic!("{error}"),
                    }
                }
                drop(sender);
                moved
            };
            let mut received = Vec::new();
            let (moved, read) = both(pump, receiver.read_to_end(&mut received)).await;
            assert_eq!(read.unwrap(), BYTES);
            assert_eq!((moved, received.len()), (BYTES, BYTES));
        }
    });
}

#[cfg(target_os = "linux")]
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
