//! Tasks are spawned inside and outside, joined, detached and aborted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{DropTracker, Gate, POLICIES, Signal, current_thread, pool_of, wait_until};
use raddle_sched::{Handle, Policy, spawn, yield_now};

#[test]
fn a_task_spawned_from_outside_is_joined() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        let task = pool.handle().spawn(async { 7 });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    }
}

#[test]
fn a_task_spawned_inside_is_joined() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        let sum = pool.handle().block_on(async {
            spawn(async {
                let tasks: Vec<_> = (0..1000).map(|n| spawn(async move { n })).collect();
                let mut sum = 0;
                for task in tasks {
                    sum += task.await.unwrap();
                }
                sum
            })
            .await
        });
        assert_eq!(sum.unwrap(), 499_500);
    }
}

#[test]
fn a_worker_of_another_pool_may_spawn() {
    for policy in POLICIES {
        let (ours, theirs) = (pool_of(policy, 1), pool_of(policy, 1));
        let handle = theirs.handle().clone();
        let workers = ours.handle().block_on(spawn_on(ours.handle(), async move {
            let on_theirs = handle
                .spawn(async { std::thread::current().id() })
                .await
                .unwrap();
            let entered = {
                let _guard = handle.enter();
                spawn(async { std::thread::current().id() })
            };
            let on_ours = spawn(async { std::thread::current().id() }).await.unwrap();
            [
                on_theirs,
                entered.await.unwrap(),
                on_ours,
                std::thread::current().id(),
            ]
        }));
        assert_eq!(workers[0], workers[1]);
        assert_eq!(workers[2], workers[3]);
        assert_ne!(workers[0], workers[2]);
    }
}

async fn spawn_on<T: Send + 'static>(
    handle: &Handle,
    future: impl Future<Output = T> + Send + 'static,
) -> T {
    handle.spawn(future).await.unwrap()
}

#[test]
fn a_detached_task_runs_to_completion() {
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let (tracker, gate) = (DropTracker::default(), Gate::default());
        let (tracked, inside) = (tracker.tracked(), gate.clone());
        drop(pool.handle().spawn(async move {
            yield_now().await;
            drop(tracked);
            inside.open();
        }));
        gate.wait();
        assert_eq!((tracker.alive(), tracker.dropped()), (0, 1));
    }
}

#[test]
fn an_aborted_task_is_dropped_by_a_worker() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        let (tracker, signal) = (DropTracker::default(), Signal::default());
        let (tracked, waiting) = (tracker.tracked(), signal.clone());
        let task = pool.handle().spawn(async move {
            waiting.await;
            drop(tracked);
        });
        wait_until(|| signal.polls() == 1);
        task.abort();
        assert!(pool.handle().block_on(task).unwrap_err().is_cancelled());
        assert_eq!(tracker.dropped(), 1);
        assert_ne!(tracker.drop_threads()[0], std::thread::current().id());
    }
}

#[test]
fn a_panic_is_returned_by_the_join_handle_and_the_worker_continues() {
    for policy in POLICIES {
        let pool = pool_of(policy, 1);
        let task = pool.handle().spawn(async { panic!("on purpose") });
        let error = pool.handle().block_on(task).unwrap_err();
        assert_eq!(
            *error.into_panic().downcast::<&str>().unwrap(),
            "on purpose"
        );
        let task = pool.handle().spawn(async { 7 });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    }
}

#[test]
fn a_spawn_after_shutdown_is_cancelled_at_once() {
    for policy in POLICIES {
        let mut pool = pool_of(policy, 1);
        let handle = pool.handle().clone();
        assert!(pool.shutdown(None));
        let tracker = DropTracker::default();
        let tracked = tracker.tracked();
        let task = handle.spawn(async move { drop(tracked) });
        assert_eq!(tracker.dropped(), 1);
        assert!(handle.block_on(task).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_current_thread_spawns_inside_and_outside() {
    let scheduler = current_thread();
    let outside = scheduler.handle().spawn(async { 3 });
    let sum = scheduler.block_on(async {
        let inside = spawn(async { 4 });
        outside.await.unwrap() + inside.await.unwrap()
    });
    assert_eq!(sum, 7);
}

/// More tasks than the local queue holds overflow into the injection queue.
#[test]
fn more_tasks_than_the_queue_holds_all_run() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        let ran = Arc::new(AtomicUsize::new(0));
        let theirs = ran.clone();
        let outer = pool.handle().spawn(async move {
            let tasks: Vec<_> = (0..5000)
                .map(|_| {
                    let ran = theirs.clone();
                    spawn(async move {
                        yield_now().await;
                        ran.fetch_add(1, Ordering::Relaxed)
                    })
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
        pool.handle().block_on(outer).unwrap();
        assert_eq!(ran.load(Ordering::Relaxed), 5000);
    }
}

/// Bug: own. Without optimizations each function had a copy of the future in its frame. Here only
/// the caller has one, and the function that it calls.
#[test]
fn a_large_future_needs_a_small_stack() {
    const SIZE: usize = 256 << 10;
    async fn large() -> u8 {
        let mut content = [1; SIZE];
        yield_now().await;
        content[7] += 1;
        std::hint::black_box(&mut content)[7]
    }
    let on_small_stack = |name: &str, f: fn()| {
        let thread = std::thread::Builder::new().name(name.to_owned());
        let thread = thread.stack_size(5 * SIZE / 2);
        thread.spawn(f).unwrap().join().unwrap();
    };
    on_small_stack("Handle::spawn", || {
        drop(pool_of(Policy::WorkStealing, 1).handle().spawn(large()));
    });
    on_small_stack("Handle::spawn_on", || {
        let pool = pool_of(Policy::Sharded, 1);
        let task = pool.handle().spawn_on(0, large);
        assert_eq!(pool.handle().block_on(task).unwrap(), 2);
    });
    on_small_stack("spawn", || {
        let pool = pool_of(Policy::WorkStealing, 1);
        let _entered = pool.handle().enter();
        drop(spawn(large()));
    });
    on_small_stack("Handle::block_on", || {
        let pool = pool_of(Policy::WorkStealing, 1);
        assert_eq!(pool.handle().block_on(large()), 2);
    });
    on_small_stack("CurrentThread::block_on", || {
        assert_eq!(current_thread().block_on(large()), 2);
    });
    on_small_stack("spawn_local", || {
        let pool = pool_of(Policy::Sharded, 1);
        let task = || async { raddle_sched::spawn_local(large()).await.unwrap() };
        let task = pool.handle().spawn_on(0, task);
        assert_eq!(pool.handle().block_on(task).unwrap(), 2);
    });
}
