//! What a benchmark of timers needs from a runtime and from the system.

use std::fs;
use std::future::Future;
use std::io::{Error, Result};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use crate::executors::{Executor, NoSpares, Raddle, Spawn as _, Tokio, all};

/// A runtime with timers.
pub trait Timing: Executor {
    /// Waits for `duration`.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// Awaits a ready future with a limit of `duration`.
    fn limit_ready(duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// Awaits `count` ticks, one in each `period`.
    fn tick(period: Duration, count: u32) -> impl Future<Output = ()> + Send + 'static;
}

/// Defines the timers of a library with Tokio's names.
macro_rules! timing {
    ($runtime:ident: $library:ident) => {
        impl Timing for $runtime {
            fn sleep(duration: Duration) -> impl Future<Output = ()> + Send + 'static {
                $library::time::sleep(duration)
            }

            async fn limit_ready(duration: Duration) {
                let limited = $library::time::timeout(duration, std::future::ready(()));
                limited.await.expect("it is ready");
            }

            async fn tick(period: Duration, count: u32) {
                let mut interval = $library::time::interval(period);
                for _ in 0..count {
                    interval.tick().await;
                }
            }
        }
    };
}

timing!(Raddle: raddle);
timing!(NoSpares: raddle);
timing!(Tokio: tokio);

/// Runs `future` in a task, and so on a worker, and returns its output.
pub fn on_worker<E: Executor, T: Send + 'static>(
    runtime: &E,
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    let spawner = runtime.spawner();
    let (sender, output) = mpsc::channel();
    let task = async move { sender.send(future.await).expect("the output is awaited") };
    runtime.block_on(async move { spawner.spawn_joined(task).await });
    output.recv().expect("the task has ended")
}

/// Spawns tasks that sleep at the same time, for `least` and up to 100 ms more. Returns their total
/// processor time, and by how much the latest one was late.
pub fn sleep_all<T: Timing>(runtime: &T, sleepers: usize, least: Duration) -> (Duration, Duration) {
    let spawner = runtime.spawner();
    let worst = Arc::new(AtomicU64::new(0));
    let before = processor_time();
    let worst = on_worker(runtime, async move {
        let tasks = (0..sleepers).map(|number| {
            let worst = Arc::clone(&worst);
            let duration = least + Duration::from_millis(number as u64 * 7919 % 101);
            spawner.spawn_joined(async move {
                let start = Instant::now();
                T::sleep(duration).await;
                let late = start.elapsed().saturating_sub(duration);
                // ORDERING: read after the task is joined.
                worst.fetch_max(late.as_nanos() as u64, Ordering::Relaxed);
            })
        });
        all(tasks.collect()).await;
        // ORDERING: the tasks that wrote are joined.
        worst.load(Ordering::Relaxed)
    });
    let spent = processor_time().saturating_sub(before);
    (spent, Duration::from_nanos(worst))
}

/// Returns the processor time of the threads of this process.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // Neither value is ever negative.
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Returns how many bytes of a process, or of "self", are in memory.
pub fn resident_of(process: &str) -> Result<usize> {
    let text = fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<usize>().ok());
    let kib = kib.ok_or_else(|| Error::other("the system does not report the resident memory"))?;
    Ok(1024 * kib)
}
