//! Intervals.

use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_timer::{Instant, Interval, MissedTickBehavior, interval, interval_at};

use crate::support::{TestTimers, ms};

/// The instant of the next tick, if it is due, in milliseconds after `start`.
fn tick(interval: &mut Interval, start: Instant) -> Option<u128> {
    match interval.poll_tick(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(due) => Some((due - start).as_millis()),
        Poll::Pending => None,
    }
}

/// Takes the first tick of an interval of 10 ms, and no other until 37 ms. Returns the ticks that
/// are due then, and those that are due a period later.
fn ticks_after_a_delay(behavior: MissedTickBehavior) -> (Vec<u128>, Vec<u128>) {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    driver.timers.fire_due();
    let start = Instant::now();
    let mut interval = interval(ms(10));
    interval.set_missed_tick_behavior(behavior);
    assert_eq!(interval.missed_tick_behavior(), behavior);
    let _ = tick(&mut interval, start);
    driver.timers.fire_due();
    let _ = tick(&mut interval, start);
    let mut take = |after| {
        driver.advance(after);
        let mut ticks = Vec::new();
        for _ in 0..10 {
            ticks.extend(tick(&mut interval, start));
            driver.timers.fire_due();
        }
        ticks
    };
    (take(ms(37)), take(ms(10)))
}

#[test]
fn the_first_tick_is_immediate_and_the_others_a_period_apart() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    let mut interval = interval(ms(10));
    assert_eq!(interval.period(), ms(10));
    let mut ticks = Vec::new();
    for _ in 0..=35 {
        ticks.extend(tick(&mut interval, start));
        driver.advance(ms(1));
    }
    assert_eq!(ticks, [0, 10, 20, 30]);
}

#[test]
fn missed_ticks_come_in_a_burst() {
    let (late, next) = ticks_after_a_delay(MissedTickBehavior::Burst);
    assert_eq!((late, next), (vec![10, 20, 30], vec![40]));
}

#[test]
fn missed_ticks_delay_the_next() {
    let (late, next) = ticks_after_a_delay(MissedTickBehavior::Delay);
    assert_eq!((late, next), (vec![10], vec![47]));
}

#[test]
fn missed_ticks_are_skipped() {
    let (late, next) = ticks_after_a_delay(MissedTickBehavior::Skip);
    assert_eq!((late, next), (vec![10], vec![40]));
}

#[test]
fn a_start_in_the_future_is_waited_for() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    let mut interval = interval_at(start + ms(100), ms(10));
    assert_eq!(tick(&mut interval, start), None);
    driver.advance(ms(99));
    assert_eq!(tick(&mut interval, start), None);
    driver.advance(ms(1));
    assert_eq!(tick(&mut interval, start), Some(100));
    assert_eq!(tick(&mut interval, start), None);
}

#[test]
fn resets_move_the_next_tick() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    let mut interval = interval_at(start + ms(10), ms(10));
    assert_eq!(tick(&mut interval, start), None);
    driver.advance(ms(5));
    interval.reset();
    driver.advance(ms(9));
    assert_eq!(tick(&mut interval, start), None);
    driver.advance(ms(1));
    assert_eq!(tick(&mut interval, start), Some(15));
    interval.reset_after(ms(3));
    driver.advance(ms(3));
    assert_eq!(tick(&mut interval, start), Some(18));
    interval.reset_at(start + ms(20));
    driver.advance(ms(2));
    assert_eq!(tick(&mut interval, start), Some(20));
    interval.reset_immediately();
    driver.advance(ms(0));
    assert_eq!(tick(&mut interval, start), Some(20));
}

#[test]
fn the_longest_period_ticks_once() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    for behavior in [
        MissedTickBehavior::Burst,
        MissedTickBehavior::Delay,
        MissedTickBehavior::Skip,
    ] {
        let mut interval = interval_at(Instant::now(), Duration::MAX);
        interval.set_missed_tick_behavior(behavior);
        driver.advance(ms(1_000));
        assert!(tick(&mut interval, start).is_some());
        assert_eq!(tick(&mut interval, start), None);
    }
}

#[test]
#[should_panic(expected = "period must be non-zero")]
fn a_period_of_zero_panics() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let _interval = interval(Duration::ZERO);
}

#[test]
fn ticks_can_be_awaited() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let start = Instant::now();
    let mut interval = interval_at(start + ms(4), ms(3));
    {
        let mut cancelled = std::pin::pin!(interval.tick());
        assert!(raddle_testing::poll_with(cancelled.as_mut(), Waker::noop()).is_pending());
        driver.advance(ms(4));
    }
    let mut ticking = std::pin::pin!(async {
        let first = interval.tick().await;
        (first, interval.tick().await)
    });
    assert!(raddle_testing::poll_with(ticking.as_mut(), Waker::noop()).is_pending());
    driver.advance(ms(3));
    assert_eq!(
        raddle_testing::poll_with(ticking, Waker::noop()),
        Poll::Ready((start + ms(4), start + ms(7)))
    );
}

#[test]
fn the_first_tick_is_there_at_once_whatever_the_period_is() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    // Between two ticks of the wheel.
    driver.advance(Duration::from_micros(1_300));
    let now = Instant::now();
    for period in [ms(10), Duration::MAX] {
        let mut interval = interval(period);
        assert_eq!(tick(&mut interval, now), Some(0));
        assert_eq!(tick(&mut interval, now), None);
    }
    let mut interval = interval_at(now - ms(1), ms(10));
    assert_eq!(tick(&mut interval, now - ms(1)), Some(0));
}

/// A tick is missed if it is taken more than 5 ms late.
#[test]
fn a_tick_that_is_a_little_late_was_not_missed() {
    for (late, next) in [(ms(5), 20), (ms(5) + Duration::from_nanos(1), 25)] {
        let mut driver = TestTimers::paused();
        let handle = driver.handle.clone();
        let _entered = handle.enter();
        let start = Instant::now();
        let mut interval = interval_at(start + ms(10), ms(10));
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        assert_eq!(tick(&mut interval, start), None);
        driver.advance(ms(10) + late);
        assert_eq!(tick(&mut interval, start), Some(10));
        driver.advance(ms(11));
        assert_eq!(tick(&mut interval, start), Some(next), "{late:?} late");
    }
}
