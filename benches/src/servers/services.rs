//! The services of a server: the same code over the sockets of each runtime.

use std::convert::Infallible;
use std::io::{Error, Result};
use std::net::{self, Ipv4Addr};
use std::time::{Duration, Instant};

use async_io::Async;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use raddle_hyper::RaddleIo;
use smol_hyper::rt::FuturesIo;

use super::{HELLO, PIECE, QUESTION, Service, bind, listen};
use crate::executors::{Executor, Raddle, Smol, Spawn, Tokio, all};
use crate::timing::{on_worker, processor_time};

/// Defines the services on a runtime: from the module of its traits for reading and writing, its
/// types of sockets, the function that makes them from sockets of std, its adapter for hyper, and
/// the function that makes a connection send each write at once.
macro_rules! services {
    (
        $(#[$doc:meta])* $name:ident: $runtime:ty, $library:ident $(:: $part:ident)*;
        $listener:ty, $stream:ty, $datagrams:ty;
        $take_over:ident, $hyper:ident, |$connection:ident| $set_nodelay:expr
    ) => {
        $(#[$doc])*
        pub mod $name {
            use $library $(:: $part)* ::{AsyncReadExt as _, AsyncWriteExt as _};

            use super::*;

            type Spawner = <$runtime as Executor>::Spawner;

            /// Serves with a number of workers, forever.
            pub fn serve(service: Service, workers: usize) -> Result<()> {
                let runtime = <$runtime>::new(workers);
                let spawner = runtime.spawner();
                // A worker accepts the connections.
                let Err(error) = match service {
                    Service::Http => on_worker(&runtime, http(listen()?, spawner)),
                    Service::Echo => on_worker(&runtime, echo(listen()?, spawner)),
                    Service::Datagrams => on_worker(&runtime, datagrams(bind()?)),
                    Service::Count => on_worker(&runtime, count(bind()?)),
                };
                Err(Error::other(format!("the server failed: {error}")))
            }

            async fn accept(listener: &$listener) -> Result<$stream> {
                let ($connection, _) = listener.accept().await?;
                $set_nodelay?;
                Ok($connection)
            }

            async fn http(socket: net::TcpListener, spawner: Spawner) -> Result<Infallible> {
                let listener = <$listener>::$take_over(socket)?;
                loop {
                    let stream = accept(&listener).await?;
                    spawner.spawn(async move {
                        // A client that disconnects is no failure.
                        let _ = http1::Builder::new()
                            .serve_connection($hyper::new(stream), service_fn(hello))
                            .await;
                    });
                }
            }

            async fn echo(socket: net::TcpListener, spawner: Spawner) -> Result<Infallible> {
                let listener = <$listener>::$take_over(socket)?;
                loop {
                    spawner.spawn(send_back(accept(&listener).await?));
                }
            }

            /// Sends back all bytes until the end of the stream.
            async fn send_back(mut stream: $stream) {
                let mut piece = vec![0; PIECE];
                while let Ok(length @ 1..) = stream.read(&mut piece).await {
                    if stream.write_all(&piece[..length]).await.is_err() {
                        break;
                    }
                }
            }

            async fn datagrams(socket: net::UdpSocket) -> Result<Infallible> {
                let socket = <$datagrams>::$take_over(socket)?;
                let mut piece = vec![0; PIECE];
                loop {
                    let (length, from) = socket.recv_from(&mut piece).await?;
                    socket.send_to(&piece[..length], from).await?;
                }
            }

            async fn count(socket: net::UdpSocket) -> Result<Infallible> {
                let socket = <$datagrams>::$take_over(socket)?;
                let mut piece = vec![0; PIECE];
                let mut count = 0_u64;
                loop {
                    let (length, from) = socket.recv_from(&mut piece).await?;
                    if length == QUESTION {
                        socket.send_to(&count.to_le_bytes(), from).await?;
                    } else {
                        count += 1;
                    }
                }
            }

            /// Sends `messages` messages of `length` bytes on each connection, whose both ends are
            /// tasks of one new runtime. Each is sent when the previous one has come back. Returns
            /// the time from the first message to the last, and the processor time of this process.
            pub fn both_ends(
                workers: usize,
                connections: usize,
                length: usize,
                messages: usize,
            ) -> Result<(Duration, Duration)> {
                let ends: Vec<_> = (0..connections).map(|_| pair()).collect::<Result<_>>()?;
                let runtime = <$runtime>::new(workers);
                let spawner = runtime.spawner();
                let (processor, start) = (processor_time(), Instant::now());
                on_worker(&runtime, async move {
                    let tasks = ends.into_iter().map(|[near, far]| {
                        let far = <$stream>::$take_over(far);
                        spawner.spawn(send_back(far.expect("the runtime takes a connection")));
                        let near = <$stream>::$take_over(near);
                        let near = near.expect("the runtime takes a connection");
                        spawner.spawn_joined(talk(near, length, messages))
                    });
                    all(tasks.collect()).await;
                });
                let elapsed = start.elapsed();
                Ok((elapsed, processor_time().saturating_sub(processor)))
            }

            async fn talk(mut stream: $stream, length: usize, messages: usize) {
                let message = vec![7; length];
                let mut buffer = vec![0; length];
                for _ in 0..messages {
                    let sent = stream.write_all(&message).await;
                    sent.expect("the other end is there");
                    let mut received = 0;
                    while received < length {
                        let read = stream.read(&mut buffer[received..]).await;
                        received += read.expect("the other end is there");
                    }
                }
            }
        }
    };
}

services! {
    /// The services on Raddle.
    on_raddle: Raddle, raddle::io;
    raddle::net::TcpListener, raddle::net::TcpStream, raddle::net::UdpSocket;
    from_std, RaddleIo, |stream| stream.set_nodelay(true)
}
services! {
    /// The services on Tokio.
    on_tokio: Tokio, tokio::io;
    tokio::net::TcpListener, tokio::net::TcpStream, tokio::net::UdpSocket;
    from_std, TokioIo, |stream| stream.set_nodelay(true)
}
services! {
    /// The services on async-executor.
    on_smol: Smol, futures_lite;
    Async<net::TcpListener>, Async<net::TcpStream>, Async<net::UdpSocket>;
    new_nonblocking, FuturesIo, |stream| stream.get_ref().set_nodelay(true)
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    let hello = Bytes::from_static(HELLO.as_bytes());
    Ok(Response::new(Full::new(hello)))
}

/// Two connected sockets.
fn pair() -> Result<[net::TcpStream; 2]> {
    let listener = net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = net::TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    for stream in [&near, &far] {
        stream.set_nodelay(true)?;
        stream.set_nonblocking(true)?;
    }
    Ok([near, far])
}
