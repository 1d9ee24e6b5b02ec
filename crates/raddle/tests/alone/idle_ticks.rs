//! A timer that fires on an idle runtime wakes one thread. The test counts how often the threads of
//! the runtime block.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::alone;
use crate::common::multi_thread;
use raddle::time::{MissedTickBehavior, interval, sleep};

/// The directories of all threads of this process.
fn threads() -> Vec<PathBuf> {
    let threads = fs::read_dir("/proc/self/task").expect("Linux lists the threads");
    threads.map(|thread| thread.unwrap().path()).collect()
}

/// How often a thread has blocked.
fn blocks(thread: &Path) -> u64 {
    let status = fs::read_to_string(thread.join("status")).expect("the thread lives");
    let mut lines = status.lines();
    let count = lines.find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    count.expect("Linux counts them").trim().parse().unwrap()
}

/// No other worker is woken, and the thread of the monitor is no worker.
#[test]
fn a_tick_on_an_idle_runtime_wakes_one_thread() {
    const TICKS: u32 = 100;
    let _alone = alone();
    let before = threads();
    let runtime = multi_thread().build().unwrap();
    runtime.block_on(async { sleep(Duration::from_millis(20)).await });
    let mut workers = threads();
    workers.retain(|thread| !before.contains(thread));
    let count = || workers.iter().map(|thread| blocks(thread)).sum::<u64>();
    let start = count();
    let ticks = runtime.spawn(async {
        let mut ticks = interval(Duration::from_millis(5));
        // On a busy machine, ticks that are missed would not be waited for.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for _ in 0..TICKS {
            ticks.tick().await;
        }
    });
    runtime.block_on(ticks).unwrap();
    let blocks = count() - start;
    // A worker that is preempted before it parks may find the next tick due already.
    assert!(
        blocks > u64::from(TICKS / 2),
        "{blocks} for {TICKS} ticks, of {workers:?}"
    );
    assert!(blocks < u64::from(2 * TICKS), "{blocks} for {TICKS} ticks");
}
