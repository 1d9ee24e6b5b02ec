//! No task waits behind a running one: while a poll does not return, idle workers run the tasks
//! that its worker has queued.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use crate::common::driver::Events;
use crate::common::sleeper::Sleeper;
use crate::common::{SHARING, config_of, pool_of, wait_until};
use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Policy, Pool, spawn};

const ROUNDS: usize = 20;

/// Runs `stuck` inside a poll of one of the pool's workers.
fn run_in_a_poll(pool: &Pool, stuck: impl FnOnce() + Send + 'static) {
    let task = pool.handle().spawn(async move { stuck() });
    pool.handle().block_on(task).unwrap();
}

/// Without a monitor, only a searching worker can take the task in the next-task slot of a worker
/// whose poll does not return.
#[test]
fn a_searching_worker_takes_the_next_task_of_a_long_poll_without_a_monitor() {
    let config = Config {
        has_monitor: false,
        ..config_of(Policy::WorkStealing, 2)
    };
    let pool = Pool::start(config, None).unwrap();
    for _ in 0..ROUNDS {
        run_in_a_poll(&pool, || {
            let next = spawn(async {});
            // The slot is full, so this task goes to the queue and wakes the other worker.
            drop(spawn(async {}));
            wait_until(|| next.is_finished());
        });
    }
}

/// tokio 4941.
#[test]
fn a_task_that_the_stuck_worker_woke_runs() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        let sleeper = Sleeper::on(pool.handle());
        run_in_a_poll(&pool, move || {
            sleeper.wake_and_wait_for_polls(ROUNDS, Waker::wake)
        });
    }
}

#[test]
fn a_task_that_the_stuck_worker_spawned_runs() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        run_in_a_poll(&pool, || {
            for _ in 0..ROUNDS {
                let task = spawn(async {});
                wait_until(|| task.is_finished());
            }
        });
    }
}

#[test]
fn tasks_in_the_queue_of_the_stuck_worker_run() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        run_in_a_poll(&pool, || {
            for _ in 0..ROUNDS {
                let tasks: Vec<_> = (0..10).map(|_| spawn(async {})).collect();
                wait_until(|| tasks.iter().all(|task| task.is_finished()));
            }
        });
    }
}

#[test]
fn a_task_that_yields_to_the_stuck_worker_runs() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        let polls = Arc::new(AtomicUsize::new(0));
        let theirs = polls.clone();
        drop(pool.handle().spawn(async move {
            loop {
                polls.fetch_add(1, Ordering::SeqCst);
                raddle_sched::yield_now().await;
            }
        }));
        run_in_a_poll(&pool, move || {
            for _ in 0..ROUNDS {
                let before = theirs.load(Ordering::SeqCst);
                wait_until(|| theirs.load(Ordering::SeqCst) > before);
            }
        });
    }
}

#[test]
fn a_task_spawned_from_outside_runs() {
    for policy in SHARING {
        let pool = pool_of(policy, 2);
        let handle = pool.handle().clone();
        run_in_a_poll(&pool, move || {
            for _ in 0..ROUNDS {
                let outside = std::thread::spawn({
                    let handle = handle.clone();
                    move || handle.spawn(async {})
                });
                let task = outside.join().unwrap();
                wait_until(|| task.is_finished());
            }
        });
    }
}

/// tokio 4730, 6315.
#[test]
fn events_of_the_driver_are_dispatched() {
    for policy in SHARING {
        for workers in [2, 4] {
            let events = Events::new();
            let driver = Events::driver(&events);
            let pool = Pool::start(config_of(policy, workers), Some(driver)).unwrap();
            let (first, second) = (Sleeper::on(pool.handle()), Sleeper::on(pool.handle()));
            // The worker that waits in the driver becomes the stuck worker.
            let entered = Arc::new(AtomicUsize::new(0));
            let ended = Arc::new(AtomicUsize::new(0));
            let marks = (entered.clone(), ended.clone());
            let raised = events.clone();
            let waker = Arc::new(Mutex::new(None::<Waker>));
            let theirs = waker.clone();
            drop(pool.handle().spawn(poll_fn(move |cx| {
                if theirs.lock().replace(cx.waker().clone()).is_none() {
                    return Poll::Pending;
                }
                marks.0.fetch_add(1, Ordering::SeqCst);
                first.wake_and_wait_for_polls(ROUNDS, |waker| raised.raise([waker]));
                second.wake_and_wait_for_polls(ROUNDS, |waker| raised.raise([waker]));
                marks.1.fetch_add(1, Ordering::SeqCst);
                Poll::Ready(())
            })));
            wait_until(|| waker.lock().is_some());
            let waker = waker.lock().clone().unwrap();
            events.raise([waker]);
            wait_until(|| ended.load(Ordering::SeqCst) == 1);
            assert_eq!(entered.load(Ordering::SeqCst), 1);
        }
    }
}

#[test]
fn without_a_monitor_the_task_waits_for_the_stuck_worker() {
    // This shows that the tests above depend on the monitor.
    let pool = Pool::start(
        raddle_sched::Config {
            has_monitor: false,
            ..config_of(Policy::default(), 2)
        },
        None,
    )
    .unwrap();
    // A searching worker would take the task, so wait until both workers are parked.
    let metrics = pool.handle().metrics();
    wait_until(|| (0..2).all(|worker| metrics.worker(worker).parks > 0));
    run_in_a_poll(&pool, || {
        let task = spawn(async {});
        thread::sleep(Duration::from_millis(50));
        assert!(!task.is_finished());
    });
}
