//! Listeners and connections, and conversions from and to std's types.

use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_net::{TcpListener, TcpStream, lookup_host};
use raddle_testing::{block_on, poll};

use crate::common::{Driver, all, both, pair, refusing, run};

#[test]
fn a_server_echoes_the_bytes_of_a_client() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let server = async {
            let (mut stream, peer) = listener.accept().await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), peer);
            let mut buffer = [0; 5];
            for _ in 0..100 {
                stream.read_exact(&mut buffer).await.unwrap();
                stream.write_all(&buffer).await.unwrap();
            }
            assert_eq!(stream.read(&mut buffer).await.unwrap(), 0);
        };
        let client = async {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            let mut buffer = [0; 5];
            for n in 0..100 {
                let message = format!("{n:05}");
                stream.write_all(message.as_bytes()).await.unwrap();
                stream.read_exact(&mut buffer).await.unwrap();
                assert_eq!(buffer, message.as_bytes());
            }
        };
        both(server, client).await;
    });
}

#[test]
fn many_connections_are_served() {
    const CLIENTS: usize = 50;
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        // Two tasks accept from one listener.
        let accept = || async {
            let mut streams = Vec::new();
            for _ in 0..CLIENTS / 2 {
                streams.push(listener.accept().await.unwrap().0);
            }
            let served = all(streams.into_iter().map(|mut stream| async move {
                let mut received = Vec::new();
                stream.read_to_end(&mut received).await.unwrap();
                stream.write_all(&received).await.unwrap();
            }));
            served.await.len()
        };
        let clients = all((0..CLIENTS).map(|n| async move {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            let message = vec![n as u8; 10_000 + n];
            stream.write_all(&message).await.unwrap();
            stream.shutdown().await.unwrap();
            let mut echoed = Vec::new();
            stream.read_to_end(&mut echoed).await.unwrap();
            assert!(echoed == message);
        }));
        let (served, clients) = both(both(accept(), accept()), clients).await;
        assert_eq!(served, (CLIENTS / 2, CLIENTS / 2));
        assert_eq!(clients.len(), CLIENTS);
    });
}

#[test]
fn connecting_without_a_listener_returns_connection_refused() {
    run(async {
        let error = TcpStream::connect(refusing()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
        let none: &[SocketAddr] = &[];
        let error = TcpStream::connect(none).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    });
}

#[test]
fn connect_and_bind_use_the_first_address_that_succeeds() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let addrs = [refusing(), addr];
        let stream = TcpStream::connect(&addrs[..]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), addr);

        // A bound port cannot be bound again; a free one can.
        let addrs = [addr, "127.0.0.1:0".parse().unwrap()];
        let other = TcpListener::bind(&addrs[..]).await.unwrap();
        assert_ne!(other.local_addr().unwrap(), addr);
    });
}

#[test]
fn connecting_to_a_host_name_looks_it_up() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let addrs: Vec<_> = lookup_host(("localhost", port)).await.unwrap().collect();
        assert!(
            addrs.iter().all(|addr| addr.ip().is_loopback()),
            "{addrs:?}"
        );
        let stream = TcpStream::connect(format!("localhost:{port}"))
            .await
            .unwrap();
        assert_eq!(stream.peer_addr().unwrap().port(), port);
    });
}

#[test]
fn an_accept_that_is_dropped_loses_no_connection() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        {
            let mut accept = pin!(listener.accept());
            assert!(poll(accept.as_mut()).is_pending());
        }
        let addr = listener.local_addr().unwrap();
        let client = TcpStream::connect(addr).await.unwrap();
        let (_, peer) = listener.accept().await.unwrap();
        assert_eq!(client.local_addr().unwrap(), peer);
        let next = TcpStream::connect(addr).await.unwrap();
        let accepted = std::future::poll_fn(|cx| listener.poll_accept(cx)).await;
        assert_eq!(accepted.unwrap().1, next.local_addr().unwrap());
    });
}

#[test]
fn sockets_convert_from_and_to_those_of_std() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    client.set_nonblocking(true).unwrap();
    let mut client = TcpStream::from_std(client).unwrap();
    let (mut server, _) = block_on(listener.accept()).unwrap();
    assert_eq!(driver.handle.registered_count(), 3);
    block_on(client.write_all(b"one")).unwrap();

    let listener = listener.into_std().unwrap();
    let mut client = client.into_std().unwrap();
    assert_eq!(driver.handle.registered_count(), 1);
    client.write_all(b"two").unwrap();
    assert_eq!(
        client.read(&mut [0; 8]).unwrap_err().kind(),
        ErrorKind::WouldBlock
    );
    let mut received = [0; 6];
    block_on(server.read_exact(&mut received)).unwrap();
    assert_eq!(&received, b"onetwo");

    // The sockets are registered with a second reactor.
    let second = Driver::start();
    let _current = second.handle.enter();
    let _listener = TcpListener::try_from(listener).unwrap();
    let mut client = TcpStream::try_from(client).unwrap();
    block_on(server.write_all(b"three")).unwrap();
    let mut received = [0; 5];
    block_on(client.read_exact(&mut received)).unwrap();
    assert_eq!(&received, b"three");
    assert_eq!(second.handle.registered_count(), 2);
    drop(server);
    assert_eq!(driver.handle.registered_count(), 0);
}

#[test]
fn options_are_set_on_the_socket() -> io::Result<()> {
    run(async {
        let (stream, _peer) = pair().await;
        assert!(!stream.nodelay()?);
        stream.set_nodelay(true)?;
        assert!(stream.nodelay()?);
        stream.set_ttl(42)?;
        assert_eq!(stream.ttl()?, 42);
        assert_eq!(stream.linger()?, None);
        stream.set_linger(Some(Duration::from_secs(3)))?;
        assert_eq!(stream.linger()?, Some(Duration::from_secs(3)));
        stream.set_linger(None)?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        listener.set_ttl(43)?;
        assert_eq!(listener.ttl()?, 43);
        Ok(())
    })
}

#[test]
fn dropped_sockets_are_deregistered() {
    let driver = Driver::start();
    let _current = driver.handle.enter();
    for _ in 0..200 {
        let (near, far) = block_on(pair());
        {
            let mut buffer = [0; 8];
            let mut near = near;
            let mut read = pin!(near.read(&mut buffer));
            assert!(poll(read.as_mut()).is_pending());
        }
        drop(far);
        let _ = block_on(TcpStream::connect(refusing()));
        let mut connecting = Box::pin(TcpStream::connect(refusing()));
        let _ = poll(connecting.as_mut());
    }
    assert_eq!(driver.handle.registered_count(), 0);
}

#[test]
fn shutdown_of_the_runtime_ends_waits() {
    let driver = Driver::start();
    let handle = driver.handle.clone();
    let _current = handle.enter();
    let (mut near, _far) = block_on(pair());
    let mut buffer = [0; 8];
    let mut read = pin!(near.read(&mut buffer));
    assert!(poll(read.as_mut()).is_pending());
    drop(driver);
    let error = block_on(read).unwrap_err();
    assert!(error.to_string().contains("has shut down"), "{error}");
    let error = block_on(TcpListener::bind("127.0.0.1:0")).unwrap_err();
    assert!(error.to_string().contains("has shut down"), "{error}");
}

#[test]
#[should_panic(expected = "no reactor on this thread")]
fn binding_without_a_reactor_panics_and_names_the_remedy() {
    let _ = block_on(TcpListener::bind("127.0.0.1:0"));
}

#[test]
#[cfg(all(unix, debug_assertions))]
#[should_panic(expected = "call set_nonblocking(true)")]
fn a_blocking_socket_is_refused() {
    run(async {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let _ = TcpListener::from_std(listener);
    });
}
