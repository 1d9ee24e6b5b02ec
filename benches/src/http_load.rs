//! HTTP requests, from wrk where it is installed, otherwise from this process.

use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::client::{Load, Until};
use crate::servers::{HELLO, check};
use crate::wrk::{self, Report};

/// The request.
pub const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// The program or thread that sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// The program with this name.
    Wrk,
    /// A thread of this process.
    BuiltIn,
}

impl Loader {
    /// Returns wrk if it is installed.
    pub fn find() -> Self {
        match check("wrk") {
            Ok(()) => Self::Wrk,
            Err(_) => Self::BuiltIn,
        }
    }

    /// Loads the server at `address` from one thread, with a request in flight on each connection.
    /// wrk runs only on the given core, if there is one.
    pub fn run(
        self,
        address: SocketAddr,
        connections: usize,
        duration: Duration,
        core: Option<usize>,
    ) -> Result<Report> {
        if self == Self::Wrk {
            return wrk::run(&format!("http://{address}/"), connections, duration, core);
        }
        let until = Until::Elapsed(duration);
        let (done, ()) = load(address, connections)?.run(address, until, || Ok(()))?;
        Ok(Report {
            requests: done.messages,
            rate: done.messages as f64 / done.elapsed.as_secs_f64(),
            p99: Duration::from_nanos(done.latencies.value_at_percentile(99.0)),
        })
    }
}

/// Returns a load of requests over a number of connections, for the server at `address`.
pub fn load(address: SocketAddr, connections: usize) -> Result<Load> {
    Ok(Load::Stream {
        connections,
        request: REQUEST.into(),
        answer: answer(address)?,
    })
}

/// Returns the length of the answer.
pub fn answer(address: SocketAddr) -> Result<usize> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(REQUEST.as_bytes())?;
    let mut text = Vec::new();
    while !text.ends_with(HELLO.as_bytes()) {
        let mut byte = [0];
        stream.read_exact(&mut byte)?;
        text.extend(byte);
    }
    Ok(text.len())
}

#[cfg(test)]
mod tests;
