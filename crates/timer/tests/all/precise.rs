//! Timers with a finer resolution than a millisecond.

use std::pin::pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use raddle_testing::{poll_once, poll_with};
use raddle_timer::driver::TimerDriver;
use raddle_timer::{Config, Timers};

use crate::support::{ms, us};
use crate::timer_driver::{FakeSource, handle, waits};

fn paused(resolution: Duration) -> Timers {
    let config = Config::new().resolution(resolution);
    let timers = Timers::with_config(config, Arc::new(|| {}));
    timers.handle().pause();
    timers
}

#[test]
fn a_sleep_fires_at_the_first_tick_after_its_deadline() {
    for resolution in [1, 10, 250, 500, 1_000] {
        let mut timers = paused(us(resolution));
        let handle = timers.handle();
        for ticks in [1, 2, 63, 64, 65, 4_095, 4_096, 1_000_000] {
            let length = us(resolution * ticks);
            for early in [Duration::ZERO, Duration::from_nanos(1)] {
                let mut sleep = pin!(handle.sleep(length - early));
                assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
                handle.advance(length - us(resolution));
                assert_eq!(timers.fire_due(), 0, "{ticks} of {resolution}");
                handle.advance(us(resolution));
                assert_eq!(timers.fire_due(), 1, "{ticks} of {resolution}");
            }
        }
    }
}

/// The wheel of milliseconds puts both at the same tick.
#[test]
fn timers_within_a_millisecond_fire_one_after_the_other() {
    let mut timers = paused(us(1));
    let handle = timers.handle();
    let mut second = pin!(handle.sleep(us(200)));
    let mut first = pin!(handle.sleep(us(100)));
    assert!(poll_with(second.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(first.as_mut(), Waker::noop()).is_pending());
    let start = handle.now();
    assert_eq!(timers.auto_advance(), 1);
    assert!(first.is_elapsed() && !second.is_elapsed());
    assert_eq!(handle.now() - start, us(100));
    assert_eq!(timers.auto_advance(), 1);
    assert_eq!(handle.now() - start, us(200));
}

#[test]
fn the_last_tick_comes_after_eight_years_of_microseconds() {
    let mut timers = paused(us(1));
    let handle = timers.handle();
    let mut never = pin!(handle.sleep(Duration::MAX));
    assert!(poll_with(never.as_mut(), Waker::noop()).is_pending());
    handle.advance(Duration::from_secs(8 * 365 * 24 * 3_600));
    assert_eq!(timers.fire_due(), 0);
    handle.advance(Duration::from_secs(365 * 24 * 3_600));
    assert_eq!(timers.fire_due(), 1);
    // Every later deadline counts as reached.
    assert!(poll_once(handle.sleep(ms(1))).is_ready());
}

/// The default rounds it up to milliseconds.
#[test]
fn the_event_source_waits_for_the_exact_time() {
    // Within a quarter of a millisecond one of 100 waits begins, on a machine that is busy, too.
    let is_precise = (0..100).any(|_| {
        let config = Config::new().resolution(us(1));
        let mut driver = TimerDriver::with_config(FakeSource::default(), config, false);
        let timers = handle(&driver);
        let mut sleep = pin!(timers.sleep(us(500)));
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
        driver.park(None, 1);
        let (timeout, _) = waits(&mut driver)[0];
        timeout.is_some_and(|timeout| us(250) < timeout && timeout <= us(500))
    });
    assert!(is_precise);
}
