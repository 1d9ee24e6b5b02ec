//! What a benchmark of timers needs of a runtime, and of the system.

use std::fs;
use std::future::Future;
use std::io::{Error, Result};
use std::time::Duration;

use crate::executors::{Executor, Raddle, Tokio};

/// A runtime with timers.
pub trait Timing: Executor {
    /// Waits for `duration`.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// Awaits a future that is ready, with a limit of `duration`.
    fn limit_ready(duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// Awaits `count` ticks, each a `period` after the last.
    fn tick(period: Duration, count: u32) -> impl Future<Output = ()> + Send + 'static;
}

impl Timing for Raddle {
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        raddle::time::sleep(duration)
    }

    async fn limit_ready(duration: Duration) {
        let ready = std::future::ready(());
        raddle::time::timeout(duration, ready)
            .await
            .expect("it is ready");
    }

    async fn tick(period: Duration, count: u32) {
        let mut interval = raddle::time::interval(period);
        for _ in 0..count {
            interval.tick().await;
        }
    }
}

impl Timing for Tokio {
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        tokio::time::sleep(duration)
    }

    async fn limit_ready(duration: Duration) {
        let ready = std::future::ready(());
        tokio::time::timeout(duration, ready)
            .await
            .expect("it is ready");
    }

    async fn tick(period: Duration, count: u32) {
        let mut interval = tokio::time::interval(period);
        for _ in 0..count {
            interval.tick().await;
        }
    }
}

/// How long the threads of this process, those that have ended apart, have been
/// on a processor.
///
/// # Panics
///
/// If the system does not say so: it is Linux that does.
pub fn processor_time() -> Duration {
    let threads = fs::read_dir("/proc/self/task").expect("the system lists threads");
    let nanos = threads.filter_map(|thread| {
        // A thread may end meanwhile.
        let text = fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(nanos.sum())
}

/// How many bytes of this process are in memory.
///
/// # Errors
///
/// If the system does not say so: it is Linux that does.
pub fn resident_bytes() -> Result<usize> {
    resident_of("self")
}

/// How many bytes of the process of this number are in memory.
pub(crate) fn resident_of(process: &str) -> Result<usize> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    let kib = kib.ok_or_else(|| Error::other("the system does not tell what is in memory"))?;
    Ok(1024 * kib)
}
