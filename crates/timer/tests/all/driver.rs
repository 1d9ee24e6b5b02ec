//! The owner: how long it may park, and when it is unparked.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Waker;

use raddle_primitives::sync::Mutex;
use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Handle, Instant, Sleep, Timers, sleep, sleep_until};

use crate::support::{TestTimers, ms};

fn armed(millis: u64) -> Pin<Box<Sleep>> {
    let mut sleep = Box::pin(sleep(ms(millis)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    sleep
}

#[test]
fn only_an_earlier_timer_unparks() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();

    // No thread is parked yet.
    let _first = armed(50);
    assert_eq!(driver.unparks(), 0);

    assert_eq!(driver.timers.next_deadline(), Some(Instant::now() + ms(50)));
    let _later = armed(51);
    let _same = armed(50);
    assert_eq!(driver.unparks(), 0);
    let _earlier = armed(20);
    assert_eq!(driver.unparks(), 1);
    let _not_earlier_still = armed(20);
    assert_eq!(driver.unparks(), 0);
    let _earlier_still = armed(10);
    assert_eq!(driver.unparks(), 1);

    // The driver is awake, and will check the timers before it parks.
    driver.timers.fire_due();
    let _while_awake = armed(1);
    assert_eq!(driver.unparks(), 0);
    assert_eq!(driver.timers.next_deadline(), Some(Instant::now() + ms(1)));
}

#[test]
fn any_timer_unparks_an_owner_that_waits_for_ever() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    assert_eq!(driver.timers.next_deadline(), None);
    let _sleep = armed(1_000_000);
    assert_eq!(driver.unparks(), 1);
}

#[test]
fn a_reset_to_sooner_unparks_and_one_to_later_does_not() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let mut sleep = armed(50);
    assert!(driver.timers.next_deadline().is_some());
    sleep.as_mut().reset(Instant::now() + ms(80));
    assert_eq!(driver.unparks(), 0);
    sleep.as_mut().reset(Instant::now() + ms(30));
    assert_eq!(driver.unparks(), 1);
}

#[test]
fn moving_the_clock_unparks() {
    let driver = TestTimers::paused();
    driver.handle.advance(ms(1));
    assert_eq!(driver.unparks(), 1);
    driver.handle.resume();
    assert_eq!(driver.unparks(), 1);
}

#[test]
fn a_cancelled_timer_is_not_waited_for() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let first = armed(10);
    let _second = armed(20);
    assert_eq!(driver.timers.next_deadline(), Some(Instant::now() + ms(10)));
    drop(first);
    assert_eq!(driver.timers.next_deadline(), Some(Instant::now() + ms(20)));
}

/// The owner checks again when it wakes up, and then waits for the timer.
#[test]
fn a_timer_later_than_a_cancelled_one_unparks_no_owner_that_waits_for_that() {
    let driver = TestTimers::paused();
    let _entered = driver.handle.enter();
    let first = armed(10);
    assert!(driver.timers.next_deadline().is_some());
    drop(first);
    let _second = armed(20);
    assert_eq!(driver.unparks(), 0);
    let _third = armed(9);
    assert_eq!(driver.unparks(), 1);
}

#[test]
fn the_unpark_function_may_use_the_timers() {
    let current = Arc::new(Mutex::new(None::<Handle>));
    let (unparks, counter) = Wakes::new();
    let timers = Timers::new({
        let current = Arc::clone(&current);
        Arc::new(move || {
            counter.wake_by_ref();
            if let Some(handle) = current.lock().take() {
                let _entered = handle.enter();
                drop(armed(1_000));
            }
        })
    });
    let handle = timers.handle();
    handle.pause();
    let _entered = handle.enter();
    assert_eq!(timers.next_deadline(), None);
    *current.lock() = Some(handle.clone());
    let mut sleep = armed(50);
    assert_eq!(unparks.get(), 1);
    *current.lock() = Some(handle.clone());
    sleep.as_mut().reset(Instant::now() + ms(20));
    assert_eq!(unparks.get(), 2);
    assert_eq!(timers.next_deadline(), Some(Instant::now() + ms(20)));
}

/// It does not advance a paused clock automatically either, if there is no other timer.
#[test]
fn a_timer_that_is_reset_to_the_past_is_not_waited_for() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    driver.advance(ms(100));
    let now = Instant::now();
    let mut sleep = armed(10);
    sleep.as_mut().reset(now - ms(50));
    assert!(sleep.is_elapsed());
    assert_eq!(driver.timers.next_deadline(), None);
    assert_eq!(driver.timers.auto_advance(), 0);
    assert_eq!(Instant::now(), now);
}

/// The number of repetitions of a cheap operation: fewer under a sanitizer, which needs no more on
/// one thread. In so many milliseconds the clock passes a slot of the wheel's fourth level.
const OFTEN: usize = if cfg!(raddle_sanitize) {
    100_000
} else {
    500_000
};

/// tokio 3190, 6682.
#[test]
fn short_sleeps_beside_a_long_one() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (long, long_waker) = Wakes::new();
    let mut long_sleep = pin!(sleep(ms(10_000)));
    assert!(poll_with(long_sleep.as_mut(), &long_waker).is_pending());
    let mut longs = 0;
    for _ in 0..OFTEN {
        let mut short = pin!(sleep(ms(1)));
        assert!(poll_with(short.as_mut(), Waker::noop()).is_pending());
        while !short.is_elapsed() {
            let next = driver.timers.next_deadline().expect("two timers are set");
            let now = handle.now();
            assert!(next <= now + ms(1), "parks past the short sleep");
            driver.advance(next - now);
        }
        if long.get() > longs {
            longs += 1;
            assert!(long_sleep.is_elapsed());
            let next = long_sleep.deadline() + ms(10_000);
            long_sleep.as_mut().reset(next);
            assert!(poll_with(long_sleep.as_mut(), &long_waker).is_pending());
        }
    }
    assert_eq!(longs, OFTEN / 10_000);
}

/// golang 51654.
#[test]
fn pushing_a_deadline_back_costs_no_parks() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleep = armed(100);
    let mut parks = 0;
    let mut parked_until = driver.timers.next_deadline();
    // A time-out of 100 ms that is pushed back every 10 us for seconds.
    for _ in 0..OFTEN {
        sleep.as_mut().reset(Instant::now() + ms(100));
        handle.advance(std::time::Duration::from_micros(10));
        if parked_until <= Some(handle.now()) {
            assert_eq!(driver.timers.fire_due(), 0);
            parked_until = driver.timers.next_deadline();
            parks += 1;
        }
    }
    // About one per hundred milliseconds, and one more for each change of level.
    let hundreds = OFTEN / 10_000;
    assert!(
        (hundreds * 9 / 10..=hundreds * 4).contains(&parks),
        "{parks} parks"
    );
}

#[test]
fn a_long_sleep_costs_a_park_a_level() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let deadline = Instant::now() + ms(0x0FFF_FFFF_FFFF);
    let mut sleep = pin!(sleep_until(deadline));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    let parks = driver.advance_until_fired();
    assert_eq!(handle.now(), deadline);
    assert!(parks <= 8, "{parks} parks");
}
