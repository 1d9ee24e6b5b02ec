//! Scopes on real runtimes: `task::scope`, `Runtime::scope` and `Handle::scope`.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use raddle::runtime::{Builder, Handle, Runtime, UnhandledPanic};
use raddle::task::{self, block_in_place};
use raddle::time::{sleep, timeout};
use raddle_primitives::sync::Mutex;

const MS: Duration = Duration::from_millis(1);

fn runtimes() -> [Runtime; 2] {
    [
        Builder::new_current_thread().enable_all().build().unwrap(),
        Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap(),
    ]
}

#[test]
fn tasks_of_a_scope_wait_for_timers_and_each_other() {
    for runtime in runtimes() {
        let log = Mutex::new(Vec::new());
        runtime.block_on(task::scope(async |scope| {
            let first = scope.spawn(async {
                sleep(20 * MS).await;
                log.lock().push("first");
                1
            });
            scope.spawn(async {
                log.lock().push("second");
                assert_eq!(first.await, 1);
                log.lock().push("third");
            });
        }));
        assert_eq!(*log.lock(), ["second", "first", "third"]);
    }
}

#[test]
fn a_scope_runs_in_a_spawned_task_and_ends_with_it() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let sum = raddle::spawn(async {
                let numbers = [1, 2, 3];
                task::scope(async |scope| {
                    let tasks = numbers.each_ref().map(|number| {
                        scope.spawn(async move {
                            task::yield_now().await;
                            *number
                        })
                    });
                    let mut sum = 0;
                    for task in tasks {
                        sum += task.await;
                    }
                    sum
                })
                .await
            });
            assert_eq!(sum.await.unwrap(), 6);

            let dropped = AtomicUsize::new(0);
            struct Drops<'a>(&'a AtomicUsize);
            impl Drop for Drops<'_> {
                fn drop(&mut self) {
                    self.0.fetch_add(1, Ordering::Relaxed);
                }
            }
            let endless = task::scope(async |scope| {
                let drops = Drops(&dropped);
                scope.spawn(async move {
                    let _drops = drops;
                    pending::<()>().await;
                });
            });
            assert!(timeout(5 * MS, endless).await.is_err());
            assert_eq!(dropped.into_inner(), 1);
        });
    }
}

#[test]
fn a_yielding_member_lets_other_tasks_of_the_runtime_run() {
    let runtime = Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let other = raddle::spawn(async {});
        task::scope(async |scope| {
            scope.spawn(async {
                let mut yields = 0;
                while !other.is_finished() {
                    task::yield_now().await;
                    yields += 1;
                    assert!(yields < 10);
                }
            });
        })
        .await;
    });
}

#[test]
fn a_parallel_scope_runs_on_the_workers_and_waits() {
    for runtime in runtimes() {
        let done = AtomicUsize::new(0);
        let output = runtime.scope(async |scope| {
            for _ in 0..100 {
                scope.spawn(async {
                    sleep(5 * MS).await;
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            scope
                .spawn(async { done.load(Ordering::Relaxed) < 100 })
                .await
        });
        assert_eq!((output, done.into_inner()), (true, 100));
    }
}

#[test]
fn parallel_tasks_run_at_the_same_time() {
    let [_, runtime] = runtimes();
    let barrier = std::sync::Barrier::new(2);
    // With one worker this would not return.
    runtime.scope(async |scope| {
        for _ in 0..2 {
            scope.spawn(async {
                barrier.wait();
            });
        }
    });
}

#[test]
fn a_task_opens_a_parallel_scope_in_place() {
    let [_, runtime] = runtimes();
    let sum = runtime.block_on(async {
        raddle::spawn(async {
            let numbers = [1, 2, 3, 4];
            let (first, second) = numbers.split_at(2);
            block_in_place(|| {
                Handle::current().scope(async |scope| {
                    let first = scope.spawn(async { first.iter().sum::<i32>() });
                    let second = scope.spawn(async { second.iter().sum::<i32>() });
                    first.await + second.await
                })
            })
        })
        .await
        .unwrap()
    });
    assert_eq!(sum, 10);
}

#[test]
fn a_parallel_scope_in_async_code_is_a_panic_before_its_body_runs() {
    for runtime in runtimes() {
        let handle = runtime.handle().clone();
        let panics = runtime.block_on(async {
            catch_unwind(AssertUnwindSafe(|| {
                handle.scope(async |_| unreachable!("the body runs"));
            }))
        });
        let payload = panics.unwrap_err();
        let message = payload.downcast_ref::<String>().map(String::as_str);
        let message = message.or(payload.downcast_ref::<&str>().copied()).unwrap();
        assert!(
            message.contains("scope was called inside a runtime"),
            "{message}"
        );
    }
}

#[test]
fn a_panic_of_a_parallel_task_ends_the_scope_and_not_the_runtime() {
    for runtime in runtimes() {
        let panics = catch_unwind(AssertUnwindSafe(|| {
            runtime.scope(async |scope| {
                scope.spawn(async { panic!("the task's own message") });
            });
        }));
        let payload = panics.unwrap_err();
        assert_eq!(
            payload.downcast_ref::<&str>(),
            Some(&"the task's own message")
        );
        assert_eq!(
            runtime.scope(async |scope| scope.spawn(async { 7 }).await),
            7
        );
    }
}

/// The shutdown drops the tasks, so that the scope does not wait for them forever.
#[test]
fn a_runtime_that_shuts_down_during_a_parallel_scope_ends_it() {
    let runtime = Builder::new_current_thread()
        .unhandled_panic(UnhandledPanic::ShutdownRuntime)
        .build()
        .unwrap();
    let borrowed = AtomicUsize::new(0);
    let panics = catch_unwind(AssertUnwindSafe(|| {
        runtime.scope(async |scope| {
            scope.spawn(async {
                borrowed.fetch_add(1, Ordering::Relaxed);
                pending::<()>().await;
            });
            raddle::spawn(async { panic!("another task") });
        });
    }));
    assert!(panics.is_err());
    assert_eq!(borrowed.into_inner(), 1);

    let runtime = Builder::new_multi_thread()
        .worker_threads(1)
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    let (sender, receiver) = std::sync::mpsc::channel();
    let blocked = std::thread::spawn(move || {
        handle.scope(async |scope| {
            scope.spawn(async {
                sender.send(()).unwrap();
                pending::<()>().await;
            });
        });
    });
    receiver.recv().unwrap();
    runtime.shutdown_background();
    assert!(blocked.join().is_err());
}
