//! When a future that a thread blocks on is polled, and when the driver is, counted in polls of
//! tasks.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Instant;

use crate::common::driver::Events;
use crate::common::{SelfWaking, current_thread};
use raddle_sched::{Config, CurrentThread, count_nested_poll, spawn, yield_now};

/// Returns the largest number of polls of busy tasks between two polls of a future that yields.
fn max_polls_between(scheduler: &CurrentThread, tasks: usize) -> usize {
    let polls = Arc::new(AtomicUsize::new(0));
    scheduler.block_on(async {
        for _ in 0..tasks {
            drop(spawn(SelfWaking(polls.clone())));
        }
        let mut most = 0;
        for _ in 0..100 {
            let before = polls.load(Ordering::SeqCst);
            yield_now().await;
            most = most.max(polls.load(Ordering::SeqCst) - before);
        }
        most
    })
}

#[test]
fn a_future_that_yields_waits_for_each_ready_task_once() {
    for tasks in [0, 1, 2, 10, 60] {
        assert_eq!(max_polls_between(&current_thread(), tasks), tasks);
    }
}

/// Tokio also runs these tasks before the future, and the tests of bb8 expect it.
#[test]
fn tasks_that_tasks_spawn_run_before_a_woken_future() {
    fn spawn_chain(started: Arc<AtomicUsize>, rest: usize) {
        drop(spawn(async move {
            started.fetch_add(1, Ordering::SeqCst);
            if rest > 1 {
                spawn_chain(started, rest - 1);
            }
        }));
    }

    let started = Arc::new(AtomicUsize::new(0));
    let after_join = current_thread().block_on(async {
        let chain = started.clone();
        spawn(async move { spawn_chain(chain, 50) }).await.unwrap();
        started.swap(0, Ordering::SeqCst)
    });
    assert_eq!(after_join, 50);

    let after_yield = current_thread().block_on(async {
        spawn_chain(started.clone(), 50);
        yield_now().await;
        started.load(Ordering::SeqCst)
    });
    assert_eq!(after_yield, 50);
}

/// A task that has yielded is not counted among the tasks that other tasks spawn.
#[test]
fn tasks_that_tasks_spawn_beside_a_task_that_yields_run_before_a_woken_future() {
    for yields in [1, usize::MAX] {
        let has_run = Arc::new(AtomicUsize::new(0));
        let runs = has_run.clone();
        let seen = current_thread().block_on(async {
            drop(spawn(async move {
                for _ in 0..yields {
                    yield_now().await;
                }
            }));
            drop(spawn(async move {
                drop(spawn(async move {
                    drop(spawn(async move {
                        runs.store(1, Ordering::SeqCst);
                    }));
                }));
            }));
            yield_now().await;
            has_run.load(Ordering::SeqCst)
        });
        assert_eq!(seen, 1, "beside {yields} yields");
    }
}

#[test]
fn a_future_that_yields_waits_for_as_many_polls_as_the_event_interval_at_most() {
    for (event_interval, tasks) in [(61, 1000), (1, 3), (7, 300)] {
        let config = Config {
            event_interval: Some(event_interval),
            ..Config::default()
        };
        let scheduler = CurrentThread::new(config, None);
        let most = max_polls_between(&scheduler, tasks);
        assert_eq!(most, event_interval as usize, "beside {tasks} tasks");
    }
}

/// The driver is polled while only the future is busy, and while a task polls other futures by
/// itself.
#[test]
fn the_driver_is_polled_beside_a_future_and_beside_nested_polls() {
    let events = Events::new();
    let scheduler = CurrentThread::new(Config::default(), Some(Events::driver(&events)));
    let driver_polls = || events.with(|state| state.parks);
    scheduler.block_on(async {
        for _ in 0..61 * 10 {
            yield_now().await;
        }
    });
    assert!(
        driver_polls() >= 9,
        "{} driver polls beside a future",
        driver_polls()
    );

    let before = driver_polls();
    let start = Instant::now();
    let mut polls = 0;
    let mut polls_since = (0, 0);
    scheduler.block_on(poll_fn(|cx| {
        if polls > 61 * 100 {
            return Poll::Ready(());
        }
        loop {
            polls += 1;
            if polls_since.0 == driver_polls() {
                polls_since.1 += 1;
                assert!(polls_since.1 <= 61, "the driver was not polled in 61 polls");
            } else {
                polls_since = (driver_polls(), 1);
            }
            if !count_nested_poll() {
                break;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }));
    assert!((driver_polls() - before) * 61 >= polls - 61);
    // A slow machine adds at most one driver poll every millisecond.
    let by_time = usize::try_from(start.elapsed().as_millis()).unwrap();
    let most = polls / 55 + by_time;
    assert!(
        driver_polls() - before <= most,
        "more driver polls than are due"
    );
}

#[test]
fn nested_polls_are_counted_until_a_tick_is_due() {
    let mut most = 0;
    current_thread().block_on(async {
        // The worker counts fewer steps at first, and after it was interrupted.
        for _ in 0..10_000 {
            most = most.max((0..1000).take_while(|_| count_nested_poll()).count());
            if most == 30 {
                break;
            }
            yield_now().await;
        }
    });
    // The injection queue is checked every 31 steps.
    assert!((20..31).contains(&most), "{most} polls");
}

#[test]
fn nested_polls_outside_a_worker_are_not_counted() {
    assert!((0..1000).all(|_| count_nested_poll()));
}
