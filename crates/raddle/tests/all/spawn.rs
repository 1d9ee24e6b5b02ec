//! Tasks: spawning, joining, aborting, panicking, yielding.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use crate::common::{Live, each_flavor, eventually, panic_message};
use raddle::runtime::{Builder, Handle, worker_index};
use raddle::task;

#[test]
fn joining_a_task_returns_its_output() {
    each_flavor(|runtime| {
        let output = runtime.block_on(async { raddle::spawn(async { 6 * 7 }).await.unwrap() });
        assert_eq!(output, 42);
        let handle = runtime.spawn(async { "from outside" });
        assert_eq!(runtime.block_on(handle).unwrap(), "from outside");
    });
}

#[test]
fn many_tasks_are_spawned_inside_and_outside() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let handles: Vec<_> = (0..1000)
            .map(|_| {
                let count = Arc::clone(&count);
                runtime.spawn(async move {
                    let inner = Arc::clone(&count);
                    let task = raddle::spawn(async move { inner.fetch_add(1, SeqCst) });
                    task.await.unwrap();
                    count.fetch_add(1, SeqCst);
                })
            })
            .collect();
        runtime.block_on(async {
            for handle in handles {
                handle.await.unwrap();
            }
        });
        assert_eq!(count.load(SeqCst), 2000);
    });
}

#[test]
fn a_detached_task_runs_on() {
    each_flavor(|runtime| {
        let (sender, receiver) = std::sync::mpsc::channel();
        drop(runtime.spawn(async move {
            task::yield_now().await;
            sender.send(()).unwrap();
        }));
        runtime.block_on(async {
            while receiver.try_recv().is_err() {
                task::yield_now().await;
            }
        });
    });
}

#[test]
fn abort_drops_the_future_and_joining_returns_cancelled() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let live = Live::new(&count);
        let handle = runtime.spawn(async move {
            let _live = live;
            pending::<()>().await;
        });
        let (id, abort) = (handle.id(), handle.abort_handle());
        runtime.block_on(async {
            task::yield_now().await;
            assert!(!handle.is_finished());
            abort.abort();
            let error = handle.await.unwrap_err();
            assert!(error.is_cancelled());
            assert_eq!(error.id(), id);
        });
        assert_eq!(count.load(SeqCst), 0);
        assert!(abort.is_finished());
    });
}

#[test]
fn a_panic_is_in_the_join_error() {
    each_flavor(|runtime| {
        let error = runtime.block_on(async {
            raddle::spawn(async { panic!("expected by this test") })
                .await
                .unwrap_err()
        });
        assert!(error.is_panic());
        let payload = error.into_panic();
        assert_eq!(payload.downcast_ref(), Some(&"expected by this test"));
        // The runtime still works.
        assert_eq!(
            runtime.block_on(async { raddle::spawn(async { 1 }).await.unwrap() }),
            1
        );
    });
}

#[test]
fn yield_now_lets_others_run() {
    each_flavor(|runtime| {
        let turns = Arc::new(AtomicUsize::new(0));
        let other = Arc::clone(&turns);
        runtime.block_on(async move {
            // On a current-thread runtime, only another task could end this loop.
            let counter = raddle::spawn(async move {
                for _ in 0..100 {
                    other.fetch_add(1, SeqCst);
                    task::yield_now().await;
                }
            });
            while turns.load(SeqCst) < 100 {
                task::yield_now().await;
            }
            counter.await.unwrap();
        });
    });
}

#[test]
fn a_task_has_its_id_and_its_runtime() {
    each_flavor(|runtime| {
        assert!(task::try_id().is_none());
        let flavor = runtime.handle().runtime_flavor();
        let handle = runtime.spawn(async move {
            assert_eq!(Handle::current().runtime_flavor(), flavor);
            task::id()
        });
        let id = handle.id();
        assert_eq!(runtime.block_on(handle).unwrap(), id);
    });
}

#[test]
fn the_error_outside_a_runtime_says_that_there_is_none() {
    let error = Handle::try_current().unwrap_err();
    assert!(error.is_missing_context());
    assert!(!error.is_thread_local_destroyed());
}

#[test]
fn enter_makes_the_runtime_current() {
    each_flavor(|runtime| {
        let handle = {
            let _guard = runtime.enter();
            let sleep = raddle::time::sleep(Duration::from_millis(1));
            raddle::spawn(async move {
                sleep.await;
                7
            })
        };
        assert!(Handle::try_current().is_err());
        assert_eq!(runtime.block_on(handle).unwrap(), 7);
    });
}

#[test]
fn entered_runtimes_nest() {
    let (outer, inner) = (
        crate::common::multi_thread().build().unwrap(),
        crate::common::current_thread().build().unwrap(),
    );
    let flavor = || Handle::current().runtime_flavor();
    let _outer = outer.enter();
    let of_outer = flavor();
    {
        let _inner = inner.enter();
        assert_ne!(flavor(), of_outer);
    }
    assert_eq!(flavor(), of_outer);
}

#[test]
fn a_runtime_without_sockets_and_timers_hides_those_of_an_outer_one() {
    let sleep = || raddle::time::sleep(Duration::ZERO);
    let bind = || {
        let mut bind = std::pin::pin!(raddle::net::TcpListener::bind("127.0.0.1:0"));
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        drop(std::future::Future::poll(bind.as_mut(), &mut cx));
    };
    let bare = Builder::new_current_thread().build().unwrap();
    each_flavor(|outer| {
        let _outer = outer.enter();
        {
            let _bare = bare.enter();
            let message = panic_message(sleep);
            assert!(message.contains("enable_time"), "{message}");
            let message = panic_message(bind);
            assert!(message.contains("enable_io"), "{message}");
            // A runtime with drivers inside a runtime without.
            let _inner = outer.enter();
            drop(sleep());
            bind();
        }
        drop(sleep());
        bind();
    });
}

/// tokio 6505.
#[test]
fn two_tasks_that_await_each_other_do_not_leak() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let (to_first, for_first) = std::sync::mpsc::channel::<task::JoinHandle<()>>();
        let live = Live::new(&count);
        let first = runtime.spawn(async move {
            let _live = live;
            let other = loop {
                match for_first.try_recv() {
                    Ok(other) => break other,
                    Err(_) => task::yield_now().await,
                }
            };
            let _ = other.await;
        });
        let live = Live::new(&count);
        let second = runtime.spawn(async move {
            let _live = live;
            let _ = first.await;
        });
        to_first.send(second).unwrap();
        runtime.block_on(async {
            for _ in 0..10 {
                task::yield_now().await;
            }
        });
        drop(runtime);
        eventually("both tasks are dropped", || count.load(SeqCst) == 0);
    });
}

#[test]
fn a_task_has_the_index_of_its_worker() {
    assert_eq!(worker_index(), None);
    each_flavor(|runtime| {
        let workers = runtime.metrics().num_workers();
        runtime.block_on(async {
            let index = task::spawn(async { worker_index() }).await.unwrap();
            assert!(index.unwrap() < workers);
            let index = task::spawn_blocking(worker_index).await.unwrap();
            assert_eq!(index, None);
        });
    });
}
