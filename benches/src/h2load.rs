//! The load generator `h2load`, its output and its log.

use std::fs;
use std::io::{Error, Result};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;

use crate::wrk::Report;

/// A gRPC message of two bytes, not compressed, with the number 1 in its first field.
const CALL: [u8; 7] = [0, 0, 0, 0, 2, 8, 1];

/// Calls the unary method at `path` on 8 connections, each with 16 concurrent calls.
pub fn run(address: SocketAddr, path: &str, duration: Duration) -> Result<Report> {
    let this = format!("raddle-h2load-{}", std::process::id());
    let body = std::env::temp_dir().join(format!("{this}.body"));
    let log = std::env::temp_dir().join(format!("{this}.log"));
    fs::write(&body, CALL)?;
    let output = Command::new("h2load")
        .args(["-t1", "-c8", "-m16", "-H", "content-type: application/grpc"])
        .args(["-H", "te: trailers", "-D", &duration.as_secs().to_string()])
        .arg("-d")
        .arg(&body)
        .arg("--log-file")
        .arg(&log)
        .arg(format!("http://{address}{path}"))
        .output();
    let latencies = fs::read_to_string(&log);
    let _ = fs::remove_file(&body);
    let _ = fs::remove_file(&log);
    let output = output?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Error::other(format!("h2load failed: {text}{errors}")));
    }
    let report = report(&text, &latencies?);
    report.ok_or_else(|| Error::other(format!("what h2load printed is not understood: {text}")))
}

fn report(text: &str, log: &str) -> Option<Report> {
    let finished = text.lines().find(|line| line.starts_with("finished in "))?;
    let rate = finished.split(", ").nth(1)?.strip_suffix(" req/s")?;
    let requests = text.lines().find(|line| line.starts_with("requests: "))?;
    let count = |what: &str| -> Option<u64> {
        let part = requests.split(", ").find(|part| part.ends_with(what))?;
        part.split_whitespace().next()?.parse().ok()
    };
    if count(" failed")? > 0 || count(" errored")? > 0 {
        return None;
    }
    // Each line holds the time of the call, its status and its duration in microseconds.
    let mut micros: Vec<u64> = log
        .lines()
        .filter_map(|line| line.split('\t').nth(2)?.parse().ok())
        .collect();
    micros.sort_unstable();
    let p99 = micros.get(micros.len() * 99 / 100)?;
    Some(Report {
        requests: count(" succeeded")?,
        rate: rate.parse().ok()?,
        p99: Duration::from_micros(*p99),
    })
}

#[cfg(test)]
mod tests;
