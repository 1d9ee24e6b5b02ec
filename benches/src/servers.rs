//! Servers. A program of this package starts them as copies of itself, so that the measurements of
//! a server exclude its client.

pub mod client;
mod floor;
pub mod http_load;
mod old;
pub mod process;
pub mod services;
pub mod sharing;
pub mod strace;

use std::io::{self, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::thread;

use clap::ValueEnum;

use crate::executors::{Executor, Raddle, Smol, Tokio};
use crate::sheet::Options;
pub use process::{Launch, Placement, Process};

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
    #[rustfmt::skip]
    pub const ALL: [Self; 5] = [Self::Raddle, Self::Tokio, Self::AsyncExecutor, Self::Old, Self::Mio];

    /// Their names in tables.
    #[rustfmt::skip]
    pub const NAMES: [&str; 5] = [Raddle::NAME, Tokio::NAME, Smol::NAME, "tokio 0.1", "mio loop"];
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
    /// Serves if this process was started as a server; otherwise measures. A server prints its
    /// address in a line, and exits when its standard input ends, so it does not outlive the
    /// process that started it.
    pub fn or_measure(self, options: &Options, measure: impl FnOnce() -> Result<()>) -> Result<()> {
        let Some(contestant) = self.contestant else {
            return measure();
        };
        let workers = options.workers(&[2])[0];
        thread::spawn(|| {
            let _ = io::stdin().read_to_end(&mut Vec::new());
            std::process::exit(0);
        });
        match contestant {
            Contestant::Raddle => services::on_raddle::serve(self.service, workers),
            Contestant::Tokio => services::on_tokio::serve(self.service, workers),
            Contestant::AsyncExecutor => services::on_smol::serve(self.service, workers),
            Contestant::Old => old::serve(listen()?, workers),
            Contestant::Mio => floor::serve(listen()?),
        }
    }
}

fn listen() -> Result<TcpListener> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    // Thousands of clients may connect at once, and std lets only a few wait.
    rustix::net::listen(&socket, BACKLOG)?;
    socket.set_nonblocking(true)?;
    announce(socket.local_addr()?)?;
    Ok(socket)
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
