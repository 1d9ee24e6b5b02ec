//! HTTP requests from the load generators `wrk` and `h2load`, or from this process.

use std::fs;
use std::io::{Error, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, id};
use std::time::Duration;

use super::HELLO;
use super::client::{Load, Until};
use super::process::{Process, each, on_core};

/// The request.
pub const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// A gRPC message of two bytes, not compressed, with the number 1 in its first field.
const CALL: [u8; 7] = [0, 0, 0, 0, 2, 8, 1];

/// The result of a load: the number of answered requests, their number per second, and the latency
/// that 1 % of the answers exceeded, in milliseconds.
pub type Loaded = [f64; 3];

/// Loads a server. Returns the requests per second; the microseconds of the server's CPU per
/// request; the 99th percentile in milliseconds; and the server's waits per request.
pub fn measure(server: &Process, load: impl FnOnce() -> Result<Loaded>) -> Result<[f64; 4]> {
    let before = server.usage()?;
    let [requests, rate, p99] = load()?;
    let [micros, waits, _] = each(before, server.usage()?, requests);
    Ok([rate, micros, p99, waits])
}

/// Loads the server at `address` from a thread of this process, with a request in flight on each
/// connection.
pub fn built_in(address: SocketAddr, connections: usize, duration: Duration) -> Result<Loaded> {
    let until = Until::Elapsed(duration);
    let (done, ()) = load(address, connections)?.run(address, until, || Ok(()))?;
    let (requests, p99) = (
        done.messages as f64,
        done.latencies.value_at_percentile(99.0),
    );
    let rate = requests / done.elapsed.as_secs_f64();
    Ok([requests, rate, p99 as f64 / 1e6])
}

/// Loads the server at `url` with wrk, from one thread, only on the given core if there is one.
pub fn wrk(
    url: &str,
    connections: usize,
    duration: Duration,
    core: Option<usize>,
) -> Result<Loaded> {
    let mut command = on_core(core, "wrk");
    // wrk does not count answers after its limit, by default 2 s, in the percentiles.
    command.args(["-t1", "--latency", "--timeout", "10s"]);
    command.arg(format!("-c{connections}"));
    let text = printed(command.arg(format!("-d{}s", duration.as_secs())).arg(url))?;
    parse_wrk(&text).ok_or_else(|| Error::other(format!("wrk was not answered: {text}")))
}

fn parse_wrk(text: &str) -> Option<Loaded> {
    if text.contains("Socket errors") || text.contains("Non-2xx") {
        return None;
    }
    let mut lines = text.lines().map(str::trim);
    let p99 = lines.find_map(|line| line.strip_prefix("99%"))?.trim();
    let rate = lines.find_map(|line| line.strip_prefix("Requests/sec:"))?;
    let (before, _) = text.split_once(" requests in ")?;
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3), ("m", 6e4)];
    let mut p99s = units.iter().filter_map(|(unit, millis)| {
        let number: f64 = p99.strip_suffix(unit)?.parse().ok()?;
        Some(number * millis)
    });
    let requests = before.split_whitespace().last()?.parse().ok()?;
    let loaded = [requests, rate.trim().parse().ok()?, p99s.next()?];
    (requests > 0.0).then_some(loaded)
}

/// Calls the unary gRPC method at `path` with h2load, on 8 connections, each with 16 concurrent
/// calls.
pub fn h2load(address: SocketAddr, path: &str, duration: Duration) -> Result<Loaded> {
    let file = |what| std::env::temp_dir().join(format!("raddle-h2load-{}.{what}", id()));
    let (body, log) = (file("body"), file("log"));
    fs::write(&body, CALL)?;
    let mut command = Command::new("h2load");
    command.args(["-t1", "-c8", "-m16", "-H", "content-type: application/grpc"]);
    command.args(["-H", "te: trailers", "-D", &duration.as_secs().to_string()]);
    command.arg("-d").arg(&body).arg("--log-file").arg(&log);
    let text = printed(command.arg(format!("http://{address}{path}")));
    let latencies = fs::read_to_string(&log);
    let _ = fs::remove_file(&body);
    let _ = fs::remove_file(&log);
    let (text, latencies) = (text?, latencies?);
    parse_h2load(&text, &latencies)
        .ok_or_else(|| Error::other(format!("h2load was not answered: {text}")))
}

fn parse_h2load(text: &str, log: &str) -> Option<Loaded> {
    let word = |label: &str, end: &str| -> Option<f64> {
        let line = text.lines().find(|line| line.starts_with(label))?;
        let part = line.split(", ").find(|part| part.ends_with(end))?;
        part.split_whitespace().next()?.parse().ok()
    };
    if word("requests: ", " failed")? + word("requests: ", " errored")? > 0.0 {
        return None;
    }
    // Each line holds the time of the call, its status and its duration in microseconds.
    let micros = log
        .lines()
        .filter_map(|line| line.split('\t').nth(2)?.parse().ok());
    let mut micros: Vec<f64> = micros.collect();
    micros.sort_by(f64::total_cmp);
    let requests = word("requests: ", " succeeded")?;
    let rate = word("finished in ", " req/s")?;
    Some([requests, rate, micros.get(micros.len() * 99 / 100)? / 1e3])
}

/// Returns what a program prints.
fn printed(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(text),
        false => Err(Error::other(format!("{command:?} failed: {text}{errors}"))),
    }
}

/// Returns a load of requests over a number of connections, for the server at `address`.
pub fn load(address: SocketAddr, connections: usize) -> Result<Load> {
    let answer = answer(address)?;
    Ok(Load::Stream(connections, REQUEST.into(), answer))
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
