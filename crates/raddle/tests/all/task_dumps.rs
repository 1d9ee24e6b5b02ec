//! Dumps of the tasks of a runtime.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use raddle::runtime::dump::{TaskState, WokenBy};
use raddle::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    // A task behind a poll that blocks stays in its queue.
    builder.worker_threads(1).max_spare_workers(0);
    builder.enable_all().enable_task_dumps().build().unwrap()
}

#[test]
fn a_dump_without_enable_task_dumps_is_an_error_that_names_it() {
    let runtime = Runtime::new().unwrap();
    let error = runtime.handle().dump().unwrap_err();
    assert!(error.to_string().contains("Builder::enable_task_dumps"));
}

#[test]
fn a_dump_is_taken_while_the_only_worker_is_stuck_in_a_poll() {
    let runtime = runtime();
    let is_over = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    let stuck = runtime.spawn({
        let is_over = Arc::clone(&is_over);
        async move {
            sender.send(()).unwrap();
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
    receiver.recv().unwrap();
    let behind = runtime.spawn(async {});
    thread::sleep(Duration::from_millis(10));
    let dump = runtime.handle().dump().unwrap();
    is_over.store(true, Ordering::Relaxed);
    runtime.block_on(async {
        stuck.await.unwrap();
        behind.await.unwrap();
    });

    assert_eq!(dump.tasks().len(), 2, "{dump}");
    assert_eq!(dump.tasks()[0].state(), TaskState::Running);
    assert!(dump.tasks()[0].longest_poll() >= Duration::from_millis(10));
    assert_eq!(dump.tasks()[1].state(), TaskState::Queued);
    assert!(dump.to_string().contains("running for"));
}

#[cfg(feature = "time")]
#[test]
fn a_timer_is_the_driver_that_woke_a_task() {
    let runtime = runtime();
    let task = runtime.spawn(async {
        raddle::time::sleep(Duration::from_millis(1)).await;
        std::future::pending::<()>().await;
    });
    let by = loop {
        let dump = runtime.handle().dump().unwrap();
        match dump.tasks().first().and_then(|task| task.last_wake()) {
            Some(wake) => break wake.by(),
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    assert_eq!(by, WokenBy::Driver);
    task.abort();
}
