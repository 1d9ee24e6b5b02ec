//! Sockets, driven by the runtime.
#![cfg(not(raddle_loom))]

mod common;

use std::io::{Read, Write};

use common::each_flavor;
use raddle::io::{AsyncReadExt, AsyncWriteExt, Interest, Ready};
use raddle::net::{TcpListener, TcpStream};
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

#[test]
fn a_hundred_clients_have_their_echo() {
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
fn a_client_without_a_runtime() {
    // Nothing but the socket can wake the runtime.
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
fn sockets_without_timers() {
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
fn without_a_reactor_a_bind_says_what_to_do() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder.worker_threads(1).enable_time().build().unwrap();
        let message = common::panic_message(|| {
            runtime
                .block_on(TcpListener::bind("127.0.0.1:0"))
                .map_err(|error| panic!("{error}"))
        });
        assert!(message.contains("enable_io"), "{message}");
    }
}

#[test]
fn what_a_stream_is_ready_for() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let mut near = TcpStream::connect(address).await.unwrap();
            let (far, _) = listener.accept().await.unwrap();
            near.write_all(b"x").await.unwrap();
            near.shutdown().await.unwrap();
            // The end may come after the byte.
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
