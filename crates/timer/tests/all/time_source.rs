//! Timers whose clock is not the system's: it also counts the time during which the system was
//! suspended.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Waker;
use std::time::Duration;

use raddle_testing::poll_with;
use raddle_timer::driver::TimerDriver;
use raddle_timer::{Config, Instant, TimeSource, Timers};

use crate::support::ms;
use crate::timer_driver::{FakeSource, handle, waits};

const HOUR: Duration = Duration::from_secs(3_600);
const SECOND: Duration = Duration::from_secs(1);

/// A clock in milliseconds that the test sets. It does not start at zero.
fn source() -> (Arc<AtomicU64>, TimeSource) {
    let millis = Arc::new(AtomicU64::new(5_000));
    let read = Arc::clone(&millis);
    (millis, Arc::new(move || ms(read.load(SeqCst))))
}

fn suspend(clock: &AtomicU64, duration: Duration) {
    clock.fetch_add(u64::try_from(duration.as_millis()).unwrap(), SeqCst);
}

#[test]
fn a_timer_that_was_due_during_a_suspension_fires_after_it() {
    let (clock, source) = source();
    let mut driver = TimerDriver::with_config(
        FakeSource::default(),
        Config::new().time_source(source),
        false,
    );
    let timers = handle(&driver);
    let start = timers.now();
    let (mut due, mut late) = (pin!(timers.sleep(HOUR)), pin!(timers.sleep(2 * HOUR)));
    assert!(poll_with(due.as_mut(), Waker::noop()).is_pending());
    assert!(poll_with(late.as_mut(), Waker::noop()).is_pending());
    assert_eq!(driver.park(None, 1).timers, 0);
    suspend(&clock, HOUR + ms(7));
    assert_eq!(timers.now() - start, HOUR + ms(7));
    assert_eq!(driver.park(None, 1).timers, 1);
    assert!(due.is_elapsed() && !late.is_elapsed());
    suspend(&clock, HOUR);
    assert_eq!(driver.park(None, 1).timers, 1);
}

#[test]
fn a_wait_that_does_not_count_suspended_time_is_short() {
    for (counts, expected) in [(false, SECOND), (true, HOUR)] {
        let (clock, source) = source();
        let mut event_source = FakeSource::default();
        event_source.counts_suspended_time = counts;
        let config = Config::new().time_source(source);
        let mut driver = TimerDriver::with_config(event_source, config, false);
        let timers = handle(&driver);
        driver.park(None, 1);
        let mut sleep = pin!(timers.sleep(HOUR));
        assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
        // At the start of a slot, the driver moves the timer within the wheel.
        let until = timers.next_deadline().unwrap() - timers.now();
        driver.park(None, 1);
        driver.park(Some(ms(3)), 1);
        suspend(&clock, HOUR - ms(400));
        while timers.next_deadline().unwrap() <= timers.now() {
            driver.park(Some(Duration::ZERO), 1);
        }
        driver.park(None, 1);
        let waits = waits(&mut driver);
        assert_eq!(waits[0].0, None, "without timers it waits for events");
        assert_eq!(waits[1].0, Some(until.min(expected)));
        assert_eq!(waits[2].0, Some(ms(3)));
        let last = waits.last().unwrap().0.unwrap();
        assert!(last <= ms(400), "{last:?}");
    }
}

#[test]
fn a_clock_with_a_source_can_be_paused_advanced_and_resumed() {
    let (clock, source) = source();
    let timers = Timers::with_config(Config::new().time_source(source), Arc::new(|| {}));
    let timers = timers.handle();
    let start = timers.now();
    suspend(&clock, ms(20));
    assert_eq!(timers.now() - start, ms(20));
    timers.pause();
    suspend(&clock, HOUR);
    assert_eq!(timers.now() - start, ms(20));
    timers.advance(ms(5));
    assert_eq!(timers.now() - start, ms(25));
    timers.resume();
    suspend(&clock, ms(3));
    assert_eq!(timers.now() - start, ms(28));
    let _entered = timers.enter();
    assert_eq!(Instant::now(), start + ms(28));
}

#[test]
fn a_source_that_goes_back_or_too_far_does_not_panic() {
    let (clock, source) = source();
    let timers = Timers::with_config(Config::new().time_source(source), Arc::new(|| {}));
    let start = timers.now();
    clock.store(0, SeqCst);
    assert_eq!(timers.now(), start);
    clock.store(u64::MAX, SeqCst);
    assert!(timers.now() > start + HOUR);
}

/// Reads the real clock: it runs on, and no slower than the system's.
#[test]
fn a_clock_that_counts_suspended_time_passes() {
    let timers = Timers::with_config(Config::new().include_suspended_time(), Arc::new(|| {}));
    let (start, system) = (timers.now(), std::time::Instant::now());
    std::thread::sleep(ms(5));
    let passed = system.elapsed();
    assert!(timers.now() - start >= passed);
}
