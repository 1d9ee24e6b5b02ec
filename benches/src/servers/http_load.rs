//! HTTP requests from the load generators `wrk` and `h2load`, or from this process.

use std::fs;
use std::io::{Error, Read, Result, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Command, id};
use std::time::Duration;

use super::HELLO;
use super::client::{Load, Until};
use super::process::{Process, each, on_core};
use crate::latency::percentiles;
use crate::record::Figure;

/// The request.
pub const REQUEST: &str = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// A gRPC message of two bytes, not compressed, with the number 1 in its first field.
const CALL: [u8; 7] = [0, 0, 0, 0, 2, 8, 1];

/// Makes wrk print the number of failures, and what [`Loaded`] consists of.
const DONE: &str = "
function done(summary, latency)
    local requests, failures = summary.requests, 0
    for _, count in pairs(summary.errors) do failures = failures + count end
    local function millis(percent) return latency:percentile(percent) / 1e3 end
    print('done', failures, requests, requests / summary.duration * 1e6,
        millis(50), millis(90), millis(99), millis(99.9))
end
";

/// What [`measure`] returns.
pub const FIGURES: &[Figure] = &[
    Figure::more("requests", "/s"),
    Figure::less("server CPU a request", "us"),
    Figure::less("p50", "ms"),
    Figure::less("p90", "ms"),
    Figure::less("p99", "ms"),
    Figure::less("p99.9", "ms"),
    Figure::less("server waits a request", "times"),
];

/// The result of a load: the number of answered requests, their number per second, and the 50th,
/// 90th, 99th and 99.9th percentile of their latencies in milliseconds.
pub type Loaded = [f64; 6];

/// Loads a server, and returns the [`FIGURES`].
pub fn measure(server: &Process, load: impl FnOnce() -> Result<Loaded>) -> Result<[f64; 7]> {
    let before = server.usage()?;
    let [requests, rate, p50, p90, p99, p999] = load()?;
    let [micros, waits, _] = each(before, server.usage()?, requests);
    Ok([rate, micros, p50, p90, p99, p999, waits])
}

/// Loads the server at `address` from a thread of this process, with a request in flight on each
/// connection.
pub fn built_in(address: SocketAddr, connections: usize, duration: Duration) -> Result<Loaded> {
    let until = Until::Elapsed(duration);
    let (done, ()) = load(address, connections)?.run(address, until, || Ok(()))?;
    let requests = done.messages as f64;
    let rate = requests / done.elapsed.as_secs_f64();
    let [p50, p90, p99, p999, _] = percentiles(&done.latencies).map(|micros| micros / 1e3);
    Ok([requests, rate, p50, p90, p99, p999])
}

/// Loads the server at `url` with wrk, from one thread, only on the given core if there is one.
pub fn wrk(
    url: &str,
    connections: usize,
    duration: Duration,
    core: Option<usize>,
) -> Result<Loaded> {
    let script = temporary("lua");
    fs::write(&script, DONE)?;
    let mut command = on_core(core, "wrk");
    // wrk does not count answers after its limit, by default 2 s, in the percentiles.
    command.args(["-t1", "--timeout", "10s", "-s"]).arg(&script);
    command.arg(format!("-c{connections}"));
    let text = printed(command.arg(format!("-d{}s", duration.as_secs())).arg(url));
    let _ = fs::remove_file(&script);
    let text = text?;
    parse_wrk(&text).ok_or_else(|| Error::other(format!("wrk was not answered: {text}")))
}

fn parse_wrk(text: &str) -> Option<Loaded> {
    let line = text.lines().find_map(|line| line.strip_prefix("done"))?;
    let numbers = line.split_whitespace().map(|number| number.parse().ok());
    let numbers = numbers.collect::<Option<Vec<f64>>>()?;
    let (failures, loaded) = numbers.split_first()?;
    let loaded: Loaded = loaded.try_into().ok()?;
    (*failures == 0.0 && loaded[0] > 0.0).then_some(loaded)
}

/// Calls the unary gRPC method at `path` with h2load, on 8 connections, each with 16 concurrent
/// calls.
pub fn h2load(address: SocketAddr, path: &str, duration: Duration) -> Result<Loaded> {
    let (body, log) = (temporary("body"), temporary("log"));
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
    // The latency that the rest of the calls reached or exceeded.
    let millis = |part: f64| Some(micros.get((micros.len() as f64 * part) as usize)? / 1e3);
    Some([
        word("requests: ", " succeeded")?,
        word("finished in ", " req/s")?,
        millis(0.5)?,
        millis(0.9)?,
        millis(0.99)?,
        millis(0.999)?,
    ])
}

/// Returns the place of a file for a load generator.
fn temporary(extension: &str) -> PathBuf {
    std::env::temp_dir().join(format!("raddle-load-{}.{extension}", id()))
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
