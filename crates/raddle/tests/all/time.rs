//! Timers of a runtime.

use std::time::Duration;

use crate::common::each_flavor;
use raddle::runtime::Builder;
use raddle::time::{Instant, interval, sleep, sleep_until, timeout};

const MILLISECOND: Duration = Duration::from_millis(1);

#[test]
fn sleeps_never_end_early() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let start = Instant::now();
            sleep(5 * MILLISECOND).await;
            assert!(start.elapsed() >= 5 * MILLISECOND);
            sleep_until(start + 8 * MILLISECOND).await;
            assert!(start.elapsed() >= 8 * MILLISECOND);
            sleep(Duration::ZERO).await;
        });
    });
}

/// Issue 31.
#[test]
fn other_tasks_run_during_a_sleep_of_zero() {
    let runtime = crate::common::current_thread().build().unwrap();
    runtime.block_on(async {
        for _ in 0..3 {
            let other = raddle::spawn(async {});
            sleep(Duration::ZERO).await;
            assert!(other.is_finished(), "the sleep did not yield");
            // It is polled once more while the time-out waits for the next tick.
            let other = raddle::spawn(async {});
            timeout(Duration::ZERO, other).await.unwrap().unwrap();
        }
    });
}

/// It never waits if the clock stands at a tick, so it must use up the budget.
#[raddle::test(start_paused = true)]
async fn a_loop_of_sleeps_of_zero_lets_other_tasks_run() {
    let other = raddle::spawn(async {});
    let start = std::time::Instant::now();
    while !other.is_finished() && start.elapsed() < Duration::from_secs(10) {
        sleep(Duration::ZERO).await;
    }
    assert!(other.is_finished());
}

#[test]
fn an_earlier_timer_cuts_a_long_wait_short() {
    each_flavor(|runtime| {
        let long = runtime.spawn(async { sleep(Duration::from_secs(3600)).await });
        runtime.block_on(async {
            for _ in 0..50 {
                raddle::spawn(sleep(MILLISECOND)).await.unwrap();
            }
        });
        long.abort();
    });
}

#[test]
fn many_sleeps_complete_at_once() {
    each_flavor(|runtime| {
        let tasks: Vec<_> = (0..1000)
            .map(|i| runtime.spawn(async move { sleep(i % 20 * MILLISECOND).await }))
            .collect();
        runtime.block_on(async {
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
}

#[test]
fn a_timeout_ends_a_future_that_does_not_complete() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let never = std::future::pending::<()>();
            assert!(timeout(2 * MILLISECOND, never).await.is_err());
            let at_once = async { 3 };
            assert_eq!(timeout(Duration::from_secs(3600), at_once).await, Ok(3));
        });
    });
}

#[test]
fn an_interval_ticks() {
    each_flavor(|runtime| {
        runtime.block_on(async {
            let start = Instant::now();
            let mut interval = interval(2 * MILLISECOND);
            for _ in 0..5 {
                interval.tick().await;
            }
            assert!(start.elapsed() >= 8 * MILLISECOND);
        });
    });
}

#[test]
fn timers_work_without_sockets() {
    for mut builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let runtime = builder.worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(async {
            sleep(MILLISECOND).await;
            raddle::spawn(sleep(MILLISECOND)).await.unwrap();
        });
    }
}
