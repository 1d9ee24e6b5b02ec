//! A clock that jumps: what is due fires once, what is not waits.
#![cfg(not(raddle_loom))]

use std::time::Duration;

use raddle::runtime::{Builder, Runtime};
use raddle::task::yield_now;
use raddle::time::{Instant, MissedTickBehavior, advance, interval, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap()
}

/// Ten years at once, and again: each deadline in between has come, none twice.
#[test]
fn by_years() {
    paused().block_on(async {
        let start = Instant::now();
        let spans = [SECOND / 1000, SECOND, SECOND * 3600, YEAR, 9 * YEAR];
        let tasks: Vec<_> = spans
            .into_iter()
            .map(|span| {
                raddle::spawn(async move {
                    sleep(span).await;
                    start.elapsed()
                })
            })
            .collect();
        let later = raddle::spawn(async move {
            sleep(11 * YEAR).await;
            start.elapsed()
        });
        yield_now().await;
        advance(10 * YEAR).await;
        for task in tasks {
            assert!(task.await.unwrap() >= 10 * YEAR);
        }
        assert!(!later.is_finished());
        advance(10 * YEAR).await;
        assert!(later.await.unwrap() >= 20 * YEAR);
    });
}

#[test]
fn ticks_that_were_missed() {
    paused().block_on(async {
        for (behavior, at_once) in [
            (MissedTickBehavior::Burst, 10),
            (MissedTickBehavior::Delay, 1),
            (MissedTickBehavior::Skip, 1),
        ] {
            let mut ticks = interval(SECOND);
            ticks.set_missed_tick_behavior(behavior);
            ticks.tick().await;
            advance(10 * SECOND + SECOND / 2).await;
            let now = Instant::now();
            let mut count = 0;
            while timeout(Duration::ZERO, ticks.tick()).await.is_ok() {
                count += 1;
            }
            assert_eq!((count, Instant::now()), (at_once, now), "{behavior:?}");
        }
    });
}

/// A limit that is passed by a jump has elapsed, unless what it limits is ready.
#[test]
fn past_a_limit() {
    paused().block_on(async {
        let late = raddle::spawn(timeout(SECOND, sleep(2 * SECOND)));
        let both = raddle::spawn(timeout(SECOND, sleep(SECOND)));
        yield_now().await;
        advance(YEAR).await;
        // The future has its turn first, and has come to its end by now.
        assert!(late.await.unwrap().is_ok());
        assert!(both.await.unwrap().is_ok());
        let never = raddle::spawn(timeout(SECOND, std::future::pending::<()>()));
        yield_now().await;
        advance(YEAR).await;
        assert!(never.await.unwrap().is_err());
    });
}
