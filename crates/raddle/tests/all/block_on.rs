//! `block_on` on one thread, on several threads, and where it is refused.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::common::{each_flavor, panic_message};
use raddle::runtime::Handle;
use raddle::task;

#[test]
fn the_future_may_borrow_local_variables() {
    each_flavor(|runtime| {
        let mut text = String::from("borrowed");
        runtime.block_on(async { text.push('!') });
        assert_eq!(text, "borrowed!");
    });
}

#[test]
fn several_threads_block_on_one_runtime() {
    each_flavor(|runtime| {
        let runtime = Arc::new(runtime);
        let threads: Vec<_> = (0..4)
            .map(|i| {
                let runtime = Arc::clone(&runtime);
                thread::spawn(move || {
                    for _ in 0..20 {
                        let output = runtime.block_on(async move {
                            raddle::time::sleep(Duration::from_millis(1)).await;
                            raddle::spawn(async move { i }).await.unwrap()
                        });
                        assert_eq!(output, i);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn a_nested_block_on_panics_and_names_the_remedy() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        let message = runtime.block_on(async { panic_message(|| handle.block_on(async {})) });
        assert!(message.contains("inside a runtime"), "{message}");

        let inner = runtime.handle().clone();
        let task = runtime.spawn(async move { panic_message(|| inner.block_on(async {})) });
        let message = runtime.block_on(task).unwrap();
        assert!(message.contains("inside a runtime"), "{message}");

        let message = runtime.block_on(async { panic_message(|| runtime.block_on(async {})) });
        assert!(message.contains("inside a runtime"), "{message}");

        // The runtime still works after the refused calls.
        runtime.block_on(async { task::yield_now().await });
    });
}

#[test]
fn blocking_work_may_block_on_a_future() {
    each_flavor(|runtime| {
        let output = runtime.block_on(async {
            task::spawn_blocking(|| {
                Handle::current().block_on(async {
                    raddle::time::sleep(Duration::from_millis(1)).await;
                    raddle::spawn(async { 5 }).await.unwrap()
                })
            })
            .await
            .unwrap()
        });
        assert_eq!(output, 5);
    });
}

#[test]
fn block_on_of_a_handle_waits_while_workers_drive_the_timers() {
    let runtime = crate::common::multi_thread().build().unwrap();
    let handle = runtime.handle().clone();
    let output = thread::spawn(move || {
        handle.block_on(async {
            raddle::time::sleep(Duration::from_millis(1)).await;
            8
        })
    });
    assert_eq!(output.join().unwrap(), 8);
}

#[test]
fn a_panic_of_the_future_propagates() {
    each_flavor(|runtime| {
        let message = panic_message(|| runtime.block_on(async { panic!("expected by this test") }));
        assert_eq!(message, "expected by this test");
        assert_eq!(runtime.block_on(async { 1 }), 1);
    });
}
