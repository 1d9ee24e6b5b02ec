//! Sockets of a runtime.

use std::future::Future;
use std::io::{Read, Write};
use std::task::{Context, Waker};

use crate::common::each_flavor;
use raddle::io::{AsyncReadExt, AsyncWriteExt, Interest, Ready};
use raddle::net::{TcpListener, TcpStream, UdpSocket, lookup_host};
use raddle::runtime::Builder;
use raddle::task::JoinSet;

async fn echo(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        raddle::spawn(async move {
            let mut buffer = [0; 1024];
            loop {
                match stream.read(&mut buffer).await {
                    Ok(0) | Err(_) => return,
                    Ok(n) => stream.write_all(&buffer[..n]).await.unwrap(),
                }
            }
        });
    }
}

/// Wine 8 loses events where threads share many sockets: `crates/net/tests/all/wine.rs`.
fn is_under_wine() -> bool {
    let is_under_wine = std::env::var_os("RADDLE_WINE").is_some();
    if is_under_wine {
        println!("skipped: Wine loses events of many sockets");
    }
    is_under_wine
}

#[test]
fn a_hundred_clients_are_served() {
    if is_under_wine() {
        return;
    }
    each_flavor(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = raddle::spawn(echo(listener));
            let mut clients = JoinSet::new();
            for id in 0..100_u8 {
                clients.spawn(async move {
                    let mut stream = TcpStream::connect(address).await.unwrap();
                    for round in 0..10 {
                        let message = [id, round].repeat(50);
                        stream.write_all(&message).await.unwrap();
                        let mut answer = vec![0; message.len()];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, message);
                    }
                });
            }
            clients.join_all().await;
            server.abort();
        });
    });
}

#[test]
fn a_client_on_std_sockets_is_served() {
    // Only the socket can wake the runtime.
    each_flavor(|runtime| {
        let listener = {
            let _guard = runtime.enter();
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            TcpListener::from_std(listener).unwrap()
        };
        let address = listener.local_addr().unwrap();
        let client = std::thread::spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(b"ping").unwrap();
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).unwrap();
            answer
        });
        runtime.block_on(async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut message = [0; 4];
            stream.read_exact(&mut message).await.unwrap();
            stream.write_all(&message).await.unwrap();
        });
        assert_eq!(client.join().unwrap(), *b"ping");
    });
}

#[test]
fn sockets_work_without_timers() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder.worker_threads(2).enable_io().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let accept = raddle::spawn(async move { listener.accept().await.unwrap() });
            TcpStream::connect(address).await.unwrap();
            accept.await.unwrap();
        });
    }
}

#[test]
#[cfg_attr(
    windows,
    ignore = "mio asks for the next event there when a read would block"
)]
fn ready_returns_the_readiness_of_a_stream() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let mut near = TcpStream::connect(address).await.unwrap();
            let (far, _) = listener.accept().await.unwrap();
            near.write_all(b"x").await.unwrap();
            near.shutdown().await.unwrap();
            // The end may arrive after the byte.
            loop {
                let ready: Ready = far.ready(Interest::READABLE).await.unwrap();
                assert!(ready.is_readable() && !ready.is_writable());
                if ready.is_read_closed() {
                    break;
                }
                raddle::task::yield_now().await;
            }
        });
    });
}

#[test]
fn names_are_looked_up_on_the_blocking_threads() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder
            .worker_threads(1)
            .max_blocking_threads(1)
            .enable_io()
            .build()
            .unwrap();
        // The only thread for blocking work is busy, so the look-up waits.
        let (release, held) = std::sync::mpsc::channel::<()>();
        let busy = runtime.spawn_blocking(move || held.recv().unwrap());
        let lookup = runtime.spawn(async {
            let addrs = lookup_host("localhost:80").await.unwrap();
            addrs.count()
        });
        runtime.block_on(async {
            while raddle::runtime::Handle::current()
                .metrics()
                .blocking_queue_depth()
                == 0
            {
                raddle::task::yield_now().await;
            }
            assert!(!lookup.is_finished());
            release.send(()).unwrap();
            busy.await.unwrap();
            assert!(lookup.await.unwrap() > 0);
        });
    }
}

#[test]
fn a_lookup_fails_when_the_runtime_shuts_down_first() {
    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .max_blocking_threads(1)
        .enable_io()
        .build()
        .unwrap();
    let (release, held) = std::sync::mpsc::channel::<()>();
    runtime.spawn_blocking(move || held.recv());
    let handle = runtime.handle().clone();
    let mut lookup = Box::pin(lookup_host("localhost:80"));
    {
        let _guard = handle.enter();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(lookup.as_mut().poll(&mut cx).is_pending());
    }
    runtime.shutdown_background();
    let other = Builder::new_current_thread().build().unwrap();
    let error = other.block_on(lookup).map(drop).unwrap_err();
    assert!(error.to_string().contains("has shut down"), "{error}");
    drop(release);
}

#[test]
fn tasks_exchange_datagrams() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = server.local_addr().unwrap();
            let echo = raddle::spawn(async move {
                let mut buffer = [0; 64];
                for _ in 0..100 {
                    let (length, peer) = server.recv_from(&mut buffer).await.unwrap();
                    server.send_to(&buffer[..length], peer).await.unwrap();
                }
            });
            let client = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            client.connect(address).await.unwrap();
            let mut buffer = [0; 64];
            for n in 0..100_u8 {
                client.send(&[n; 5]).await.unwrap();
                assert_eq!(client.recv(&mut buffer).await.unwrap(), 5);
                assert_eq!(buffer[..5], [n; 5]);
            }
            echo.await.unwrap();
        });
    });
}

#[test]
#[cfg(unix)]
fn unix_sockets_and_descriptors_work() {
    use raddle::io::unix::AsyncFd;
    use raddle::net::UnixStream;
    use raddle::net::unix::pipe;

    each_flavor(|runtime| {
        runtime.block_on(async {
            let (mut near, mut far) = UnixStream::pair().unwrap();
            let (mut sender, mut receiver) = pipe::pipe().unwrap();
            let relay = raddle::spawn(async move {
                let mut text = String::new();
                far.read_to_string(&mut text).await.unwrap();
                sender.write_all(text.as_bytes()).await.unwrap();
            });
            near.write_all(b"passed on").await.unwrap();
            drop(near);
            let mut text = String::new();
            receiver.read_to_string(&mut text).await.unwrap();
            assert_eq!(text, "passed on");
            relay.await.unwrap();

            let (near, mut far) = std::os::unix::net::UnixStream::pair().unwrap();
            let near = AsyncFd::new(near).unwrap();
            let waiting = raddle::spawn(async move {
                let guard = near.readable().await.unwrap();
                guard.ready()
            });
            far.write_all(b"x").unwrap();
            assert!(waiting.await.unwrap().is_readable());
        });
    });
}
