//! Where a runtime may be kept, and where it may be dropped.

use std::future::{Future, pending};
use std::panic::{catch_unwind, resume_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use crate::common::{Live, current_thread, each_flavor, eventually, multi_thread, panic_message};
use raddle::net::TcpListener;
use raddle::runtime::{Handle, Runtime, is_rt_shutdown_err};
use raddle::time::sleep;

static MULTI_THREAD: LazyLock<Runtime> = LazyLock::new(|| multi_thread().build().unwrap());
static CURRENT_THREAD: LazyLock<Runtime> = LazyLock::new(|| current_thread().build().unwrap());

async fn sleep_a_little() {
    sleep(Duration::from_millis(1)).await;
}

#[test]
fn a_runtime_may_be_in_a_static() {
    for runtime in [&MULTI_THREAD, &CURRENT_THREAD] {
        let threads = [(); 3].map(|()| {
            thread::spawn(|| {
                runtime.block_on(async {
                    sleep_a_little().await;
                    let task = raddle::spawn(async { 1 });
                    task.await.unwrap() + runtime.spawn_blocking(|| 1).await.unwrap()
                })
            })
        });
        for thread in threads {
            assert_eq!(thread.join().unwrap(), 2);
        }
        // Tasks may be pending when the process exits.
        runtime.spawn(pending::<()>());
    }
}

/// Spawns a task that ends only when the runtime is dropped.
fn with_a_task(runtime: Runtime, count: &Arc<AtomicUsize>) -> Runtime {
    let live = Live::new(count);
    runtime.spawn(async move {
        let _live = live;
        pending::<()>().await;
    });
    runtime
}

#[test]
fn a_runtime_may_be_dropped_in_a_task_of_another() {
    let count = Arc::new(AtomicUsize::new(0));
    each_flavor(|outer| {
        each_flavor(|inner| {
            let inner = with_a_task(inner, &count);
            // The task itself drops the runtime, and then completes.
            outer
                .block_on(outer.spawn(async move {
                    sleep_a_little().await;
                    drop(inner);
                    sleep_a_little().await;
                }))
                .unwrap();
        });
        each_flavor(|inner| {
            let inner = with_a_task(inner, &count);
            // The runtime is dropped with the task, when the outer runtime shuts down.
            outer.spawn(async move {
                let _inner = inner;
                pending::<()>().await;
            });
        });
        // Lets the tasks run once.
        outer.block_on(sleep_a_little());
    });
    eventually("all tasks are dropped", || count.load(SeqCst) == 0);
}

#[test]
fn a_runtime_may_be_dropped_in_its_own_block_on() {
    let count = Arc::new(AtomicUsize::new(0));
    each_flavor(|runtime| {
        let runtime = with_a_task(runtime, &count);
        let handle = runtime.handle().clone();
        let message = handle.block_on(async {
            drop(runtime);
            eventually("the task is dropped", || count.load(SeqCst) == 0);
            let late = raddle::spawn(async {}).await;
            assert!(late.unwrap_err().is_cancelled());
            let polls_a_sleep = || {
                let mut sleep = pin!(sleep_a_little());
                let _ = sleep.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            };
            // A worker may not have shut its timers down yet, and each sleep may use the timers of
            // another worker.
            let mut panic = None;
            eventually("timers are shut down", || {
                panic = catch_unwind(polls_a_sleep).err();
                panic.is_some()
            });
            panic_message(|| {
                if let Some(panic) = panic {
                    resume_unwind(panic);
                }
            })
        });
        assert!(message.contains("shut down"), "{message}");
    });
}

#[test]
fn a_runtime_may_be_dropped_while_it_is_entered() {
    let count = Arc::new(AtomicUsize::new(0));
    each_flavor(|outer| {
        each_flavor(|inner| {
            let inner = with_a_task(inner, &count);
            let (outer_id, inner_handle) = (outer.handle().clone(), inner.handle().clone());
            let _outer = outer.enter();
            {
                let _inner = inner_handle.enter();
                drop(inner);
                // The dropped runtime is still the current one on this thread.
                let late = raddle::spawn(async {});
                let other = current_thread().build().unwrap();
                assert!(other.block_on(late).unwrap_err().is_cancelled());
            }
            let flavor = Handle::current().runtime_flavor();
            assert_eq!(flavor, outer_id.runtime_flavor());
            drop(raddle::spawn(async {}));
        });
    });
    eventually("all tasks are dropped", || count.load(SeqCst) == 0);
}

#[test]
fn a_handle_is_usable_after_the_shutdown() {
    each_flavor(|runtime| {
        let handle = runtime.handle().clone();
        runtime.shutdown_background();
        // Futures that need no driver run.
        assert_eq!(handle.block_on(async { 3 }), 3);
        let task = handle.spawn(async {});
        assert!(handle.block_on(task).unwrap_err().is_cancelled());
        let work = handle.spawn_blocking(|| ());
        assert!(handle.block_on(work).unwrap_err().is_cancelled());
        // A worker may not have shut the driver down yet.
        eventually("the driver is shut down", || {
            let bind = handle.block_on(TcpListener::bind("127.0.0.1:0"));
            bind.is_err_and(|error| is_rt_shutdown_err(&error))
        });
        assert!(handle.metrics().num_alive_tasks() == 0);
    });
}
