//! The order in which the current-thread scheduler runs tasks.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::{DropTracker, OnDrop, Signal, current_thread, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, CurrentThread, spawn, yield_now};

/// Tasks run first in, first out. This holds across yields, and for more tasks than the queue
/// holds.
#[test]
fn tasks_run_in_the_order_in_which_they_became_ready() {
    for tasks in [3, 256, 257, 300, 2000] {
        let order = Arc::new(Mutex::new(Vec::new()));
        current_thread().block_on(async {
            let handles: Vec<_> = (0..tasks)
                .map(|name| {
                    let order = order.clone();
                    spawn(async move {
                        for _ in 0..3 {
                            order.lock().push(name);
                            yield_now().await;
                        }
                    })
                })
                .collect();
            for handle in handles {
                handle.await.unwrap();
            }
        });
        let order = order.lock();
        assert_eq!(order.len(), 3 * tasks);
        for (place, &name) in order.iter().enumerate() {
            assert_eq!(name, place % tasks, "of {tasks} tasks, at {place}");
        }
    }
}

/// The same for tasks from outside, when there are more than one batch.
#[test]
fn tasks_from_outside_run_in_order() {
    let scheduler = current_thread();
    let order = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = (0..100)
        .map(|name| {
            let order = order.clone();
            scheduler
                .handle()
                .spawn(async move { order.lock().push(name) })
        })
        .collect();
    scheduler.block_on(async {
        for handle in handles {
            handle.await.unwrap();
        }
    });
    assert!(order.lock().is_sorted());
}

#[test]
fn the_future_is_polled_before_tasks_that_are_due() {
    let scheduler = current_thread();
    let task = scheduler.handle().spawn(async {});
    assert!(!scheduler.block_on(async { task.is_finished() }));
}

#[test]
fn a_thread_without_a_ready_task_parks() {
    let scheduler = current_thread();
    let (metrics, signal) = (scheduler.handle().metrics(), Signal::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until(|| metrics.worker(0).parks > 0);
            signal.set();
        });
        scheduler.block_on(signal.clone());
    });
}

/// Each poll takes longer than the time that may pass between two driver polls.
#[test]
fn slow_polls_shorten_the_interval_of_driver_polls() {
    const POLLS: usize = 16;
    let events = Events::new();
    let config = Config {
        event_interval: Some(4),
        ..Config::default()
    };
    let scheduler = CurrentThread::new(config, Some(Events::driver(&events)));
    let mut polls = 0;
    let task = scheduler.handle().spawn(poll_fn(move |cx| {
        polls += 1;
        std::thread::sleep(Duration::from_millis(4));
        // The task does not yield: after a yield the driver would be polled.
        cx.waker().wake_by_ref();
        match polls {
            POLLS => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }));
    scheduler.block_on(task).unwrap();
    let driver_polls = events.with(|state| state.parks);
    assert!(driver_polls >= POLLS - 6, "{driver_polls} driver polls");
}

#[test]
fn shutdown_drops_each_queued_task_once() {
    let tracker = DropTracker::default();
    let mut scheduler = current_thread();
    let spawn_all = || {
        for _ in 0..1000 {
            let tracked = tracker.tracked();
            drop(spawn(async move {
                let _tracked = tracked;
                std::future::pending::<()>().await;
            }));
        }
    };
    scheduler.block_on(async {
        spawn_all();
        yield_now().await;
        spawn_all();
    });
    assert_eq!(tracker.alive(), 2000);
    scheduler.shutdown();
    assert_eq!((tracker.alive(), tracker.dropped()), (0, 2000));
    // Without its worker the scheduler still blocks on futures.
    let cancelled = scheduler.block_on(async { spawn(async {}).await.unwrap_err().is_cancelled() });
    assert!(cancelled);
}

#[test]
#[should_panic(expected = "set Config::event_interval to None, or to 1 or more")]
fn an_interval_of_zero_is_refused() {
    let config = Config {
        event_interval: Some(0),
        ..Config::default()
    };
    drop(CurrentThread::new(config, None));
}

/// A drop at the shutdown finds its scheduler, as a poll does.
#[test]
fn a_future_that_shutdown_drops_may_spawn() {
    let scheduler = current_thread();
    let tracker = DropTracker::default();
    let tracked = tracker.tracked();
    let guard = OnDrop(move || {
        let _tracked = &tracked;
        assert!(spawn(async {}).is_finished());
    });
    let task = scheduler.handle().spawn(async move {
        let _guard = guard;
        std::future::pending::<()>().await;
    });
    let handle = scheduler.handle().clone();
    drop(scheduler);
    assert_eq!(tracker.dropped(), 1);
    // If the drop had panicked, the error would be that panic.
    assert!(handle.block_on(task).unwrap_err().is_cancelled());
}
