//! The load generator `wrk`, and its output.

use std::io::{Error, Result};
use std::path::Path;
use std::time::Duration;

use crate::servers::on_core;

/// The result of one run of wrk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The number of answered requests.
    pub requests: u64,
    /// The number of requests per second.
    pub rate: f64,
    /// The latency that 1 % of the answers exceeded.
    pub p99: Duration,
}

/// Loads the server at `url` from one thread, only on the given core if there is one.
pub fn run(
    url: &str,
    connections: usize,
    duration: Duration,
    core: Option<usize>,
) -> Result<Report> {
    let mut command = on_core(core, Path::new("wrk"));
    command
        // wrk does not count answers after its limit, by default 2 s, in the percentiles.
        .args(["-t1", "--latency", "--timeout", "10s"])
        .arg(format!("-c{connections}"))
        .arg(format!("-d{}s", duration.as_secs()))
        .arg(url);
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(Error::other(format!("wrk failed: {text}{errors}")));
    }
    parse(&text).map_err(Error::other)
}

fn parse(text: &str) -> std::result::Result<Report, String> {
    let refused = text
        .lines()
        .find(|line| line.contains("Socket errors") || line.contains("Non-2xx"));
    if let Some(refused) = refused {
        return Err(format!("wrk was not answered: {}", refused.trim()));
    }
    report(text).ok_or_else(|| format!("what wrk printed is not understood: {text}"))
}

fn report(text: &str) -> Option<Report> {
    let requests = word(text, |line| line.contains(" requests in "), 0)?;
    let rate = word(text, |line| line.starts_with("Requests/sec:"), 1)?;
    let p99 = word(text, |line| line.trim_start().starts_with("99%"), 1)?;
    let report = Report {
        requests: requests.parse().ok()?,
        rate: rate.parse().ok()?,
        p99: time(p99)?,
    };
    (report.requests > 0).then_some(report)
}

/// Returns a word of the first matching line.
fn word(text: &str, is_match: impl Fn(&str) -> bool, index: usize) -> Option<&str> {
    let line = text.lines().find(|line| is_match(line))?;
    line.split_whitespace().nth(index)
}

fn time(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|digit: char| digit.is_ascii_digit() || digit == '.');
    let number: f64 = text[..text.len() - unit.len()].parse().ok()?;
    let seconds = match unit {
        "us" => number / 1e6,
        "ms" => number / 1e3,
        "s" => number,
        "m" => number * 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests;
