//! Blocking threads on futures: alone, several at once, nested, panicking.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::common::{
    Gate, OnDrop, POLICIES, SelfWaking, Signal, current_thread, message_of, pool_of, wait_until,
};
use raddle_sched::{CurrentThread, spawn, yield_now};

#[test]
fn several_threads_block_on_one_pool() {
    for policy in POLICIES {
        let pool = pool_of(policy, 2);
        thread::scope(|scope| {
            for thread in 0..4 {
                let handle = pool.handle();
                scope.spawn(move || {
                    for round in 0..100 {
                        let sum = handle.block_on(async {
                            yield_now().await;
                            spawn(async move { thread + round }).await.unwrap()
                        });
                        assert_eq!(sum, thread + round);
                    }
                });
            }
        });
    }
}

#[test]
fn several_threads_block_on_one_current_thread() {
    let scheduler = current_thread();
    thread::scope(|scope| {
        for thread in 0..4 {
            let scheduler = &scheduler;
            scope.spawn(move || {
                for round in 0..100 {
                    let sum = scheduler.block_on(async {
                        yield_now().await;
                        spawn(async move {
                            yield_now().await;
                            thread + round
                        })
                        .await
                        .unwrap()
                    });
                    assert_eq!(sum, thread + round);
                }
            });
        }
    });
}

/// When the thread that drives the tasks leaves, a thread that waits for a task takes over.
/// Otherwise it would wait forever.
#[test]
fn the_worker_is_passed_to_a_waiting_thread() {
    let scheduler = current_thread();
    let (first, task_signal) = (Signal::default(), Signal::default());
    let task = scheduler.handle().spawn(task_signal.clone());
    thread::scope(|scope| {
        let driving = scope.spawn(|| scheduler.block_on(first.clone()));
        // The thread drives the worker once it has polled the task.
        wait_until(|| task_signal.polls() == 1);
        let waiting = Signal::default();
        let polled = waiting.clone();
        let other = scope.spawn(|| {
            scheduler.block_on(async move {
                waiting.await;
                task.await.unwrap();
                thread::current().id()
            })
        });
        wait_until(|| polled.polls() == 1);
        first.set();
        driving.join().unwrap();
        polled.set();
        task_signal.set();
        other.join().unwrap();
    });
}

/// Three threads block on one scheduler. The first drives the tasks, the others wait for the worker
/// in the order of their signals. Each signal ends the `block_on` of one thread.
fn with_waiting_threads(body: impl FnOnce(&CurrentThread, &[Signal; 3])) {
    let scheduler = current_thread();
    let task = Signal::default();
    drop(scheduler.handle().spawn(task.clone()));
    let signals = [(); 3].map(|()| Signal::default());
    thread::scope(|scope| {
        for signal in &signals {
            let scheduler = &scheduler;
            scope.spawn(move || scheduler.block_on(signal.clone()));
            wait_until(|| signal.polls() == 1 && task.polls() == 1);
        }
        body(&scheduler, &signals);
    });
}

/// Waits until some thread has run a new task.
fn wait_until_driven(scheduler: &CurrentThread) {
    let task = scheduler.handle().spawn(async {});
    wait_until(|| task.is_finished());
}

#[test]
fn waiting_threads_drive_the_worker_in_turn() {
    with_waiting_threads(|scheduler, signals| {
        for signal in signals {
            wait_until_driven(scheduler);
            signal.set();
        }
    });
}

#[test]
fn the_worker_is_not_passed_to_a_thread_that_has_stopped_waiting() {
    with_waiting_threads(|scheduler, [driving, gone, waiting]| {
        gone.set();
        wait_until(|| gone.polls() == 2);
        wait_until_driven(scheduler);
        driving.set();
        wait_until(|| driving.polls() == 2);
        wait_until_driven(scheduler);
        waiting.set();
    });
}

#[test]
fn the_worker_survives_a_panic() {
    let scheduler = current_thread();
    for _ in 0..3 {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            scheduler.block_on(async {
                yield_now().await;
                panic!("on purpose")
            })
        }));
        assert!(panicked.is_err());
        let value = scheduler.block_on(async { spawn(async { 7 }).await.unwrap() });
        assert_eq!(value, 7);
    }
}

/// One thread waits for the worker while the thread that drives it panics.
#[test]
fn a_panic_passes_the_worker_on() {
    let scheduler = current_thread();
    let (gate, task_signal) = (Signal::default(), Signal::default());
    let task = scheduler.handle().spawn(task_signal.clone());
    thread::scope(|scope| {
        let panicking = scope.spawn(|| {
            scheduler.block_on(async {
                gate.clone().await;
                panic!("on purpose")
            })
        });
        wait_until(|| task_signal.polls() == 1);
        let other = scope.spawn(|| scheduler.block_on(task).unwrap());
        gate.set();
        assert!(panicking.join().is_err());
        task_signal.set();
        other.join().unwrap();
    });
}

#[test]
fn nested_block_on_panics_and_names_the_remedy() {
    for policy in POLICIES {
        let expected = "block_on was called inside a runtime, where it would block a thread that \
                    drives tasks; use .await here, or move the call to spawn_blocking";
        let pool = pool_of(policy, 1);
        let handle = pool.handle().clone();
        pool.handle().block_on(async {
            assert_eq!(message_of(|| handle.block_on(async {})), expected);
            // The thread is still marked as inside the outer `block_on` after the failed attempt.
            assert_eq!(message_of(|| handle.block_on(async {})), expected);
            assert_eq!(message_of(|| current_thread().block_on(async {})), expected);
            let theirs = handle.clone();
            let in_task = spawn(async move { message_of(|| theirs.block_on(async {})) });
            assert_eq!(in_task.await.unwrap(), expected);
        });
        let scheduler = current_thread();
        scheduler.block_on(async {
            assert_eq!(message_of(|| handle.block_on(async {})), expected);
        });
        handle.block_on(async {});
    }
}

/// A future that is always ready leaves the tasks their turns.
#[test]
fn the_blocked_on_future_does_not_starve_tasks() {
    let scheduler = current_thread();
    let polls = Arc::new(AtomicUsize::new(0));
    drop(scheduler.handle().spawn(SelfWaking(polls.clone())));
    let counted = polls.clone();
    scheduler.block_on(async move {
        while counted.load(Ordering::SeqCst) < 100 {
            yield_now().await;
        }
    });
    assert!(polls.load(Ordering::SeqCst) >= 100);
}

/// Tasks that are always ready leave the future its turns.
#[test]
fn tasks_do_not_starve_the_blocked_on_future() {
    let scheduler = current_thread();
    for _ in 0..3 {
        drop(scheduler.handle().spawn(SelfWaking(Arc::default())));
    }
    scheduler.block_on(async {
        for _ in 0..100 {
            yield_now().await;
        }
    });
}

/// rayon 739: a wake after the shutdown is harmless.
#[test]
fn a_waker_may_be_used_after_the_shutdown() {
    let signal = Signal::default();
    let scheduler = current_thread();
    scheduler.block_on(async {
        let mut waiting = std::pin::pin!(signal.clone());
        std::future::poll_fn(|cx| {
            assert!(waiting.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        })
        .await;
    });
    let waker = signal.waker().unwrap();
    drop(scheduler);
    waker.wake_by_ref();
    waker.wake();
}

/// Dropping a pool inside the block_on of another waits for the running polls of its tasks, and for
/// nothing else.
#[test]
fn a_pool_is_dropped_inside_block_on_of_another() {
    for policy in POLICIES {
        let (outer, inner) = (pool_of(policy, 1), pool_of(policy, 1));
        let signal = Signal::default();
        let task = inner.handle().spawn(signal.clone());
        wait_until(|| signal.polls() == 1);
        let cancelled = outer.handle().block_on(async move {
            drop(inner);
            task.await.unwrap_err().is_cancelled()
        });
        assert!(cancelled);
    }
}

#[test]
fn a_current_thread_is_dropped_inside_block_on_of_another() {
    let outer = current_thread();
    let gate = Gate::default();
    outer.block_on(async {
        let inner = current_thread();
        let opened = gate.clone();
        let guard = OnDrop(move || opened.open());
        drop(inner.handle().spawn(async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }));
        drop(inner);
        // The outer worker is current again.
        assert_eq!(spawn(async { 7 }).await.unwrap(), 7);
    });
    gate.wait();
}

/// As in Tokio, all other ready tasks run when the future yields.
#[test]
fn a_future_that_yields_lets_the_tasks_run() {
    let scheduler = current_thread();
    let done = scheduler.block_on(async {
        let tasks: Vec<_> = (0..40).map(|_| spawn(async {})).collect();
        yield_now().await;
        tasks.iter().filter(|task| task.is_finished()).count()
    });
    assert_eq!(done, 40);
}

/// The future is polled although these tasks are always ready.
#[test]
fn tasks_do_not_starve_the_future() {
    let scheduler = current_thread();
    scheduler.block_on(async {
        for _ in 0..3 {
            drop(spawn(SelfWaking(Arc::default())));
        }
        for _ in 0..100 {
            yield_now().await;
        }
    });
}
