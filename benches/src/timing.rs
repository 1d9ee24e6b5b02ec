//! What a benchmark of timers needs of a runtime, and of the system.

use std::fs;
use std::future::Future;
use std::io::{Error, Result};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

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

/// How long the threads of this process have been on a processor.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Neither is ever negative.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
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
    let kib = kib.ok_or_else(|| Error::other("the system does not report the resident memory"))?;
    Ok(1024 * kib)
}
