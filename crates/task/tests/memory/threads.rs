//! The memory that a thread has kept for its next tasks, when the thread ends.

use std::sync::atomic::Ordering;
use std::thread;

use crate::common::Executor;
use crate::{HELD_BY_PROCESS, ONE_TEST_AT_A_TIME};

/// Half a batch of tasks of about 300 bytes.
fn spawn_and_run() {
    let executor = Executor::new();
    let handles: Vec<_> = (0..32)
        .map(|_| {
            let bytes = [7_u8; 200];
            executor.spawn(async move {
                std::future::ready(()).await;
                bytes[0]
            })
        })
        .collect();
    executor.run();
    drop(handles);
    executor.check();
}

#[test]
fn a_thread_that_ends_returns_what_it_has_kept() {
    let _alone = ONE_TEST_AT_A_TIME.lock();
    thread::spawn(spawn_and_run).join().unwrap();
    let before = HELD_BY_PROCESS.load(Ordering::SeqCst);
    for _ in 0..50 {
        thread::spawn(spawn_and_run).join().unwrap();
    }
    let grown = HELD_BY_PROCESS.load(Ordering::SeqCst) - before;
    assert!(grown < 100_000, "{grown} bytes");
}
