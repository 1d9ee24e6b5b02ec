//! `spawn_blocking`.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use crate::common::{builders, current_thread, each_flavor, eventually, multi_thread};
use raddle::task;

#[test]
fn blocking_work_runs_on_another_thread_and_has_an_id() {
    each_flavor(|runtime| {
        let (its_thread, its_id, id) = runtime.block_on(async {
            let work = || (thread::current().id(), task::id());
            let handle = task::spawn_blocking(work);
            let id = handle.id();
            let (its_thread, its_id) = handle.await.unwrap();
            (its_thread, its_id, id)
        });
        assert_ne!(its_thread, thread::current().id());
        assert_eq!(its_id, id);
        assert_eq!(runtime.block_on(runtime.spawn_blocking(|| 9)).unwrap(), 9);
    });
}

#[test]
fn tasks_run_while_blocking_work_blocks() {
    each_flavor(|runtime| {
        let (sender, receiver) = channel();
        runtime.block_on(async {
            let blocked: Vec<_> = (0..3)
                .map(|_| {
                    let receiver = Arc::new(Barrier::new(1));
                    task::spawn_blocking(move || receiver.wait().is_leader())
                })
                .collect();
            let waits = task::spawn_blocking(move || receiver.recv().unwrap());
            raddle::spawn(async move { sender.send(6).unwrap() })
                .await
                .unwrap();
            assert_eq!(waits.await.unwrap(), 6);
            for handle in blocked {
                assert!(handle.await.unwrap());
            }
        });
    });
}

#[test]
fn aborting_a_queued_blocking_task_drops_its_closure() {
    for mut builder in builders() {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let ran = Arc::new(AtomicUsize::new(0));
        let (open, gate) = channel::<()>();
        let first = runtime.spawn_blocking(move || gate.recv().is_err());
        let count = Arc::clone(&ran);
        let second = runtime.spawn_blocking(move || count.fetch_add(1, SeqCst));
        second.abort();
        drop(open);
        runtime.block_on(async {
            first.await.unwrap();
            assert!(second.await.unwrap_err().is_cancelled());
        });
        assert_eq!(ran.load(SeqCst), 0);
        assert_eq!(Arc::strong_count(&ran), 1, "the closure is dropped");
    }
}

#[test]
fn aborting_a_running_blocking_task_does_nothing() {
    each_flavor(|runtime| {
        let (begun, has_begun) = channel();
        let (open, gate) = channel::<()>();
        let work = runtime.spawn_blocking(move || {
            begun.send(()).unwrap();
            let _ = gate.recv();
            3
        });
        has_begun.recv().unwrap();
        work.abort();
        drop(open);
        assert_eq!(runtime.block_on(work).unwrap(), 3);
    });
}

#[test]
fn a_panic_is_in_the_join_error() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let error = task::spawn_blocking(|| panic!("expected by this test"))
                .await
                .unwrap_err();
            assert!(error.is_panic());
            assert_eq!(task::spawn_blocking(|| 1).await.unwrap(), 1);
        });
    });
}

#[test]
fn a_cap_of_one_runs_one_job_at_a_time() {
    for mut builder in builders() {
        let runtime = builder.max_blocking_threads(1).build().unwrap();
        let running = Arc::new(AtomicUsize::new(0));
        let works: Vec<_> = (0..200)
            .map(|_| {
                let running = Arc::clone(&running);
                runtime.spawn_blocking(move || {
                    assert_eq!(running.fetch_add(1, SeqCst), 0);
                    thread::yield_now();
                    running.fetch_sub(1, SeqCst);
                })
            })
            .collect();
        runtime.block_on(async {
            for work in works {
                work.await.unwrap();
            }
        });
    }
}

#[test]
fn idle_threads_end() {
    let stopped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&stopped);
    let runtime = current_thread()
        .thread_keep_alive(Duration::from_millis(1))
        .on_thread_stop(move || {
            count.fetch_add(1, SeqCst);
        })
        .build()
        .unwrap();
    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    eventually("the thread ends", || stopped.load(SeqCst) == 1);
}

/// A stack larger than any address space.
const NO_STACK: usize = usize::MAX / 16 * 15;

/// tokio 2309, 8406.
#[test]
fn joining_a_job_that_got_no_thread_returns_an_error() {
    let runtime = current_thread()
        .thread_stack_size(NO_STACK)
        .build()
        .unwrap();
    let held = Arc::new(());
    let its = Arc::clone(&held);
    let work = runtime.spawn_blocking(move || drop(its));
    assert_eq!(Arc::strong_count(&held), 1, "the closure is dropped");
    let error = runtime.block_on(work).unwrap_err();
    assert!(error.is_panic());
    let text = error.to_string();
    assert!(text.contains("no thread could be started"), "{text}");
    // The runtime still works.
    assert_eq!(runtime.block_on(runtime.spawn(async { 1 })).unwrap(), 1);
}

#[test]
fn building_without_workers_returns_an_error() {
    let error = multi_thread()
        .thread_stack_size(NO_STACK)
        .build()
        .map(drop)
        .unwrap_err();
    assert!(error.to_string().contains("worker thread"), "{error}");
}

#[test]
fn blocking_work_after_shutdown_is_cancelled() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        drop(runtime);
        let work = handle.spawn_blocking(|| -> () { unreachable!("the runtime has ended") });
        let error = handle.block_on(work).unwrap_err();
        assert!(error.is_cancelled());
        let task = handle.spawn(async { unreachable!("the runtime has ended") });
        let error = handle.block_on(task).unwrap_err();
        assert!(error.is_cancelled());
    });
}
