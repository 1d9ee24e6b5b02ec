//! Yields, joins and timers inside every nesting of blocking functions and runtimes.

use std::sync::mpsc::channel;
use std::time::Duration;

use crate::common::{current_thread, each_flavor, multi_thread};
use raddle::runtime::{Handle, Policy, Runtime};
use raddle::sync::oneshot;
use raddle::task::{LocalSet, block_in_place, spawn_blocking, spawn_local, yield_now};
use raddle::time::{sleep, timeout};

/// Work that does not complete if a wake is lost. A timeout detects this in a runtime; for nestings
/// that block, `within_limit` does.
async fn works() -> usize {
    let limit = Duration::from_secs(30);
    let work = async {
        yield_now().await;
        let task = raddle::spawn(async {
            yield_now().await;
            1
        });
        let joined = task.await.unwrap();
        sleep(Duration::from_millis(1)).await;
        yield_now().await;
        joined
    };
    timeout(limit, work).await.expect("a wake was lost")
}

/// Runs `test` on a thread of its own, and panics if it does not return in time.
fn within_limit(test: impl FnOnce() -> usize + Send + 'static) {
    let (sender, receiver) = channel();
    let thread = std::thread::spawn(move || sender.send(test()).unwrap());
    let expected = receiver.recv_timeout(Duration::from_secs(60));
    assert_eq!(expected, Ok(1), "the test hangs or panicked");
    thread.join().unwrap();
}

fn in_place(inner: impl Future<Output = usize>) -> usize {
    block_in_place(|| Handle::current().block_on(inner))
}

/// tokio 6996, 7210, 7877: a future that yields in `block_on` inside `block_in_place` is polled
/// again.
#[test]
fn a_runtime_may_be_used_inside_block_in_place() {
    for policy in [Policy::WorkStealing, Policy::Shared] {
        for workers in [1, 2] {
            let build = move || -> Runtime {
                let mut builder = multi_thread();
                builder.worker_threads(workers).scheduler(policy);
                builder.build().unwrap()
            };
            within_limit(move || {
                let runtime = build();
                let task = runtime.spawn(async { in_place(works()) });
                runtime.block_on(task).unwrap()
            });
            within_limit(move || build().block_on(async { in_place(works()) }));
            within_limit(move || {
                let runtime = build();
                let task = runtime.spawn(async { in_place(async { in_place(works()) }) });
                runtime.block_on(task).unwrap()
            });
            within_limit(move || {
                let runtime = build();
                let task = runtime.spawn(async {
                    block_in_place(|| {
                        let set = LocalSet::new();
                        Handle::current()
                            .block_on(set.run_until(async { spawn_local(works()).await.unwrap() }))
                    })
                });
                runtime.block_on(task).unwrap()
            });
            within_limit(move || {
                let runtime = build();
                let task = runtime.spawn(async {
                    block_in_place(|| current_thread().build().unwrap().block_on(works()))
                });
                runtime.block_on(task).unwrap()
            });
        }
    }
}

#[test]
fn a_runtime_may_be_used_inside_blocking_work() {
    each_flavor(|runtime| {
        within_limit(move || {
            runtime.block_on(async {
                let work = spawn_blocking(|| Handle::current().block_on(works()));
                work.await.unwrap()
            })
        });
    });
    each_flavor(|runtime| {
        within_limit(move || {
            runtime.block_on(async {
                let work = spawn_blocking(|| {
                    let inner = multi_thread().build().unwrap();
                    inner.block_on(async { in_place(works()) })
                });
                work.await.unwrap()
            })
        });
    });
}

#[test]
fn a_runtime_may_be_used_inside_a_local_set() {
    each_flavor(|runtime| {
        within_limit(move || {
            let set = LocalSet::new();
            runtime.block_on(set.run_until(async {
                let inner = LocalSet::new();
                inner
                    .run_until(async { spawn_local(works()).await.unwrap() })
                    .await
            }))
        });
    });
}

/// 1923, 6463: the drop of a runtime does not wait for a thread that blocks on its handle.
#[test]
fn dropping_a_runtime_does_not_wait_for_a_blocked_thread() {
    each_flavor(|runtime| {
        within_limit(move || {
            let (open, gate) = oneshot::channel();
            let (entered, is_entered) = channel();
            let handle = runtime.handle().clone();
            let blocked = std::thread::spawn(move || {
                handle.block_on(async move {
                    entered.send(()).unwrap();
                    gate.await.unwrap()
                })
            });
            is_entered.recv().unwrap();
            drop(runtime);
            open.send(1).unwrap();
            blocked.join().unwrap()
        });
    });
}
