//! The thread of the monitor, which serves all pools of a process. These tests need a process of
//! their own.
#![cfg(all(target_os = "linux", not(raddle_loom), not(raddle_sanitize)))]

#[path = "common/mod.rs"]
mod common;

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::{Gate, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Pool};

/// One test at a time: a fork copies locks that other threads hold.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// The directories in `/proc` of the monitor threads of this process.
fn monitors() -> Vec<std::path::PathBuf> {
    let threads = fs::read_dir("/proc/self/task").unwrap();
    let threads = threads.map(|thread| thread.unwrap().path());
    threads
        .filter(|thread| {
            // The thread may have ended meanwhile.
            let name = fs::read_to_string(thread.join("comm")).unwrap_or_default();
            name.trim_end() == "raddle-monitor"
        })
        .collect()
}

/// A pool of one worker that can have spare ones.
fn pool() -> Pool {
    let config = Config {
        handoff: Some(Arc::new(|handoff| {
            // Without a name it would have that of the monitor, which starts it.
            let spare = thread::Builder::new().name("spare".to_owned());
            drop(spare.spawn(|| handoff.run()).unwrap());
        })),
        ..Config::default()
    };
    Pool::start(config, None).unwrap()
}

/// Whether the pool runs a task while its worker is in a poll that does not return.
fn check_serves(pool: &Pool) {
    let gate = Gate::default();
    let theirs = gate.clone();
    let blocked = pool.handle().spawn(async move { theirs.wait() });
    let task = pool.handle().spawn(async {});
    wait_until(|| task.is_finished());
    assert!(!blocked.is_finished());
    gate.open();
    pool.handle().block_on(blocked).unwrap();
}

#[test]
fn a_thousand_pools_leave_one_monitor() {
    let _one = ONE_AT_A_TIME.lock();
    for _ in 0..1000 {
        let pool = pool();
        pool.handle()
            .block_on(pool.handle().spawn(async {}))
            .unwrap();
        drop(pool);
        assert!(monitors().len() <= 1);
    }
    check_serves(&pool());
    assert_eq!(monitors().len(), 1);
}

#[test]
fn the_monitor_keeps_no_pool_that_has_shut_down() {
    let _one = ONE_AT_A_TIME.lock();
    let handoff: raddle_sched::StartHandoff = Arc::new(drop);
    for _ in 0..10 {
        let config = Config {
            handoff: Some(handoff.clone()),
            ..Config::default()
        };
        let pool = Pool::start(config, None).unwrap();
        pool.handle()
            .block_on(pool.handle().spawn(async {}))
            .unwrap();
    }
    wait_until(|| Arc::strong_count(&handoff) == 1);
}

/// The number of times that a thread has gone to sleep.
fn sleeps(thread: &std::path::Path) -> u64 {
    let status = fs::read_to_string(thread.join("status")).unwrap();
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.unwrap().trim().parse().unwrap()
}

#[test]
fn the_monitor_of_idle_pools_sleeps_until_a_worker_runs() {
    let _one = ONE_AT_A_TIME.lock();
    let pools = [pool(), pool()];
    for _ in 0..2 {
        check_serves(&pools[0]);
        let monitors = monitors();
        assert_eq!(monitors.len(), 1);
        wait_until(|| {
            let before = sleeps(&monitors[0]);
            thread::sleep(Duration::from_millis(100));
            sleeps(&monitors[0]) == before
        });
        check_serves(&pools[1]);
    }
}

#[test]
fn a_pool_in_the_child_of_a_fork_has_a_monitor_of_its_own() {
    let _one = ONE_AT_A_TIME.lock();
    let parent = pool();
    check_serves(&parent);
    // SAFETY: the other threads of this process are parked, so they hold no lock that the child
    // needs. The child leaves by `_exit`, and drops nothing of the parent.
    match unsafe { libc::fork() } {
        -1 => panic!("the system refuses a fork"),
        0 => {
            // SAFETY: the call takes no pointers. It ends a child that hangs.
            unsafe { libc::alarm(20) };
            let is_served = std::panic::catch_unwind(|| {
                let pool = pool();
                check_serves(&pool);
                assert_eq!(monitors().len(), 1);
                drop(pool);
            });
            // SAFETY: as above.
            unsafe { libc::_exit(if is_served.is_ok() { 0 } else { 1 }) }
        }
        child => {
            let mut status = 0;
            // SAFETY: `status` is valid for writes.
            let waited = unsafe { libc::waitpid(child, &mut status, 0) };
            assert_eq!((waited, status), (child, 0), "the child has failed");
        }
    }
    check_serves(&parent);
}
