//! Requests over HTTP: from wrk where it is installed, else from this process.

use std::io::{Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::client::{Load, Until};
use crate::servers::{HELLO, check};
use crate::wrk::{self, Report};

/// What is sent.
pub const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// The program or thread that sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loader {
    /// The program of this name.
    Wrk,
    /// A thread of this process.
    BuiltIn,
}

impl Loader {
    /// wrk, if it is there.
    pub fn find() -> Self {
        match check("wrk") {
            Ok(()) => Self::Wrk,
            Err(_) => Self::BuiltIn,
        }
    }

    /// Loads the server at `address` from one thread, which has a request under way
    /// on each connection. wrk runs on the given core only, if there is one.
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

/// A load of requests over so many connections, for the server at `address`.
pub fn load(address: SocketAddr, connections: usize) -> Result<Load> {
    Ok(Load::Stream {
        connections,
        request: REQUEST.into(),
        answer: answer(address)?,
    })
}

/// How long the answer is.
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
