//! Servers. A program of this package starts them as copies of itself, so that the measurements of
//! a server exclude its client.

mod floor;
mod old;
mod process;

use std::convert::Infallible;
use std::io::{self, Error, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::thread;

use clap::ValueEnum;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};

use crate::executors::{Executor, Raddle, Smol, Spawn, Tokio};
use crate::sockets::Sockets;
use crate::timing::on_worker;

pub use process::{Launch, Placement, Process, Usage, check, on_core};

/// The body of every answer over HTTP.
pub const HELLO: &str = "Hello, world!";

/// The largest number of bytes that a server reads at once.
pub const PIECE: usize = 64 * 1024;

/// A datagram of this length asks how many have arrived, and is not counted itself.
pub const QUESTION: usize = 1;

/// The largest number of connections that wait to be accepted.
const BACKLOG: i32 = 4096;

/// The runtime of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Contestant {
    /// Raddle's multi-thread runtime.
    Raddle,
    /// Tokio's multi-thread runtime.
    Tokio,
    /// async-executor, with the sockets of async-io.
    AsyncExecutor,
    /// Hyper 0.12 on Tokio 0.1, both of 2018.
    Old,
    /// One thread without a runtime: the lowest possible cost.
    Mio,
}

impl Contestant {
    /// All contestants, Raddle and Tokio first.
    pub const ALL: [Self; 5] = [
        Self::Raddle,
        Self::Tokio,
        Self::AsyncExecutor,
        Self::Old,
        Self::Mio,
    ];

    /// The name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Raddle => Raddle::NAME,
            Self::Tokio => Tokio::NAME,
            Self::AsyncExecutor => Smol::NAME,
            Self::Old => "tokio 0.1",
            Self::Mio => "mio loop",
        }
    }

    /// Adds the name of the server to an error.
    pub fn in_error(self, error: Error) -> Error {
        Error::new(error.kind(), format!("{}: {error}", self.name()))
    }
}

/// The service of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Service {
    /// Answers over HTTP/1.1.
    Http,
    /// Sends back the bytes that come over TCP.
    Echo,
    /// Sends each datagram back.
    Datagrams,
    /// Counts datagrams.
    Count,
}

/// The options of a program that is started as a server.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Serve {
    /// Be a server of this contestant
    #[arg(long = "serve", hide = true, value_name = "CONTESTANT")]
    contestant: Option<Contestant>,

    /// The service of the server
    #[arg(long, hide = true, default_value = "http")]
    service: Service,
}

impl Serve {
    /// Serves with `workers` workers, if this process was started as a server; otherwise measures.
    /// A server prints its address in a line, and exits when its standard input ends, so it does
    /// not outlive the process that started it.
    pub fn or_measure(self, workers: usize, measure: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(contestant) = self.contestant else {
            return measure();
        };
        thread::spawn(|| {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(0);
        });
        match contestant {
            Contestant::Raddle => serve::<Raddle>(self.service, workers),
            Contestant::Tokio => serve::<Tokio>(self.service, workers),
            Contestant::AsyncExecutor => serve::<Smol>(self.service, workers),
            Contestant::Old => old::serve(listen()?, workers),
            Contestant::Mio => floor::serve(listen()?),
        }
    }
}

fn serve<T: Sockets>(service: Service, workers: usize) -> Result<()> {
    let runtime = T::new(workers);
    let spawner = runtime.spawner();
    // A worker accepts the connections.
    let Err(error) = match service {
        Service::Http => on_worker(&runtime, http::<T>(listen()?, spawner)),
        Service::Echo => on_worker(&runtime, echo::<T>(listen()?, spawner)),
        Service::Datagrams => on_worker(&runtime, datagrams::<T>(bind()?)),
        Service::Count => on_worker(&runtime, count::<T>(bind()?)),
    };
    Err(Error::other(format!("the server failed: {error}")))
}

fn listen() -> Result<TcpListener> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // Thousands of clients may connect at once, and std lets only a few wait.
    rustix::net::listen(&socket, BACKLOG)?;
    socket.set_nonblocking(true)?;
    announce(socket.local_addr()?)?;
    Ok(socket)
}

/// Starts the hand-written loop in a thread of this process.
#[cfg(test)]
pub(crate) fn greeting() -> Result<SocketAddr> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_nonblocking(true)?;
    let address = socket.local_addr()?;
    thread::spawn(|| floor::serve(socket));
    Ok(address)
}

fn bind() -> Result<UdpSocket> {
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
    socket.set_nonblocking(true)?;
    announce(socket.local_addr()?)?;
    Ok(socket)
}

fn announce(address: SocketAddr) -> Result<()> {
    let mut out = io::stdout();
    writeln!(out, "{address}")?;
    out.flush()
}

async fn http<T: Sockets>(socket: TcpListener, spawner: T::Spawner) -> Result<Infallible> {
    let listener = T::listener(socket)?;
    loop {
        let stream = T::accept(&listener).await?;
        spawner.spawn(async move {
            // A client that disconnects is no failure.
            let _ = http1::Builder::new()
                .serve_connection(T::hyper(stream), service_fn(hello))
                .await;
        });
    }
}

async fn hello(_: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    Ok(Response::new(Full::new(Bytes::from_static(
        HELLO.as_bytes(),
    ))))
}

async fn echo<T: Sockets>(socket: TcpListener, spawner: T::Spawner) -> Result<Infallible> {
    let listener = T::listener(socket)?;
    loop {
        spawner.spawn(send_back::<T>(T::accept(&listener).await?));
    }
}

/// Sends back all bytes until the end of the stream.
pub(crate) async fn send_back<T: Sockets>(mut stream: T::Stream) {
    let mut piece = vec![0; PIECE];
    while let Ok(length @ 1..) = T::read(&mut stream, &mut piece).await {
        if T::write_all(&mut stream, &piece[..length]).await.is_err() {
            break;
        }
    }
}

async fn datagrams<T: Sockets>(socket: UdpSocket) -> Result<Infallible> {
    let socket = T::datagrams(socket)?;
    let mut piece = vec![0; PIECE];
    loop {
        let (length, from) = T::receive(&socket, &mut piece).await?;
        T::send(&socket, &piece[..length], from).await?;
    }
}

async fn count<T: Sockets>(socket: UdpSocket) -> Result<Infallible> {
    let socket = T::datagrams(socket)?;
    let mut piece = vec![0; PIECE];
    let mut count = 0_u64;
    loop {
        let (length, from) = T::receive(&socket, &mut piece).await?;
        if length == QUESTION {
            T::send(&socket, &count.to_le_bytes(), from).await?;
        } else {
            count += 1;
        }
    }
}
