//! A virtual clock that advances by large steps: each timer that is due fires once, no other timer
//! fires.

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

/// Advances ten years at once, twice: each deadline in between fires, none fires twice.
#[test]
fn time_advances_by_years() {
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
fn missed_ticks_follow_the_configured_behavior() {
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

/// A timeout whose deadline the clock passes has elapsed, unless its future is ready.
#[test]
fn a_timeout_passed_by_a_jump_elapses_unless_its_future_is_ready() {
    paused().block_on(async {
        let late = raddle::spawn(timeout(SECOND, sleep(2 * SECOND)));
        let both = raddle::spawn(timeout(SECOND, sleep(SECOND)));
        yield_now().await;
        advance(YEAR).await;
        // The future is polled before the deadline is checked, and is ready by now.
        assert!(late.await.unwrap().is_ok());
        assert!(both.await.unwrap().is_ok());
        let never = raddle::spawn(timeout(SECOND, std::future::pending::<()>()));
        yield_now().await;
        advance(YEAR).await;
        assert!(never.await.unwrap().is_err());
    });
}

/// A year of uptime: every hour an interval ticks, a request times out and a sleep ends, each at
/// its millisecond.
#[test]
fn a_year_of_uptime_loses_no_millisecond() {
    const HOURS: u32 = 365 * 24;
    let hour = 3600 * SECOND;
    paused().block_on(async {
        let start = Instant::now();
        let ticks = raddle::spawn(async move {
            let mut ticks = interval(hour);
            for passed in 0..HOURS {
                assert_eq!(ticks.tick().await, start + passed * hour);
                assert_eq!(start.elapsed(), passed * hour);
            }
        });
        let time_outs = raddle::spawn(async move {
            for passed in 1..=HOURS {
                timeout(hour, std::future::pending::<()>())
                    .await
                    .unwrap_err();
                assert_eq!(start.elapsed(), passed * hour);
            }
        });
        sleep(YEAR).await;
        assert_eq!(start.elapsed(), YEAR);
        ticks.await.unwrap();
        time_outs.await.unwrap();
        assert_eq!(start.elapsed(), YEAR);
    });
}

/// 2^32 milliseconds are 49.7 days; the wheel tells ticks apart up to 2^48, 8,900 years.
#[test]
fn sleeps_across_powers_of_two_of_milliseconds_are_exact() {
    for bits in [31, 32, 33, 40, 47] {
        paused().block_on(async {
            let start = Instant::now();
            let near = Duration::from_millis((1 << bits) - 3);
            let across = raddle::spawn(async move {
                sleep(near + Duration::from_millis(5)).await;
                start.elapsed()
            });
            yield_now().await;
            advance(near).await;
            for millis in 1..=8 {
                sleep(Duration::from_millis(1)).await;
                assert_eq!(
                    start.elapsed(),
                    near + Duration::from_millis(millis),
                    "2^{bits}"
                );
            }
            assert_eq!(across.await.unwrap(), near + Duration::from_millis(5));
        });
    }
}

/// Beyond the last tick, every deadline counts as reached: timers fire at once, and none is lost.
#[test]
fn after_the_last_tick_timers_fire_at_once() {
    for millis in [1 << 48, 1 << 53, u64::MAX] {
        paused().block_on(async {
            let waiting = raddle::spawn(sleep(YEAR));
            yield_now().await;
            advance(Duration::from_millis(millis)).await;
            waiting.await.unwrap();
            sleep(SECOND).await;
            let mut ticks = interval(SECOND);
            ticks.tick().await;
            ticks.tick().await;
            let limited = timeout(SECOND, std::future::pending::<()>());
            assert!(limited.await.is_err());
        });
    }
}
