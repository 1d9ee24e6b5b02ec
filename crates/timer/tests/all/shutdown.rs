//! Timers that are shut down before their futures are dropped.

use std::pin::pin;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use raddle_testing::{Wakes, poll_with};
use raddle_timer::{Handle, Instant, sleep};

use crate::support::{TestTimers, ms};

#[test]
fn pending_sleeps_are_woken_once() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let mut sleeps: Vec<_> = (1..=100).map(|i| Box::pin(sleep(ms(i * i)))).collect();
    for sleep in &mut sleeps {
        assert!(poll_with(sleep.as_mut(), &waker).is_pending());
    }
    driver.timers.shutdown();
    driver.timers.shutdown();
    assert_eq!(count.get(), 100);
    assert_eq!(Arc::strong_count(&count), 2);
    assert_eq!(driver.timers.next_deadline(), None);
    drop(sleeps);
}

/// Panics when it is woken.
struct Panics;

impl std::task::Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("a waker's panic");
    }
}

/// A batch holds 32 wakers.
#[test]
fn a_waker_that_panics_does_not_prevent_the_wakes_of_a_shutdown() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let (count, waker) = Wakes::new();
    let panics = Waker::from(Arc::new(Panics));
    let mut sleeps: Vec<_> = (1..=100).map(|i| Box::pin(sleep(ms(i * i)))).collect();
    for (index, sleep) in sleeps.iter_mut().enumerate() {
        let waker = if index % 10 == 0 { &panics } else { &waker };
        assert!(poll_with(sleep.as_mut(), waker).is_pending());
    }
    driver.timers.shutdown();
    assert_eq!(count.get(), 90);
}

#[test]
#[should_panic(expected = "the timers have shut down")]
fn polling_a_sleep_that_was_pending_panics() {
    let driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    drop(driver);
    let _ = poll_with(sleep, Waker::noop());
}

#[test]
#[should_panic(expected = "the timers have shut down")]
fn polling_a_new_sleep_panics() {
    let driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    drop(driver);
    let _ = poll_with(pin!(sleep(ms(10))), Waker::noop());
}

#[test]
fn a_sleep_that_has_fired_is_ready() {
    let mut driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut sleep = pin!(sleep(ms(10)));
    assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
    driver.advance(ms(10));
    drop(driver);
    assert!(poll_with(sleep, Waker::noop()).is_ready());
}

#[test]
fn sleeps_may_be_reset_and_dropped_afterwards() {
    let driver = TestTimers::paused();
    let handle = driver.handle.clone();
    let _entered = handle.enter();
    let mut armed = Box::pin(sleep(ms(10)));
    assert!(poll_with(armed.as_mut(), Waker::noop()).is_pending());
    let mut idle = Box::pin(sleep(ms(10)));
    let zero = Box::pin(sleep(Duration::ZERO));
    drop(driver);
    armed.as_mut().reset(Instant::now() + ms(5));
    idle.as_mut().reset(Instant::now());
    assert!(!armed.is_elapsed());
    drop((armed, idle, zero));
}

#[test]
fn no_timer_is_left_after_shutdown() {
    let probe = Arc::new(());
    for _ in 0..100 {
        let held = Arc::clone(&probe);
        let timers = raddle_timer::Timers::new(Arc::new(move || {
            let _ = &held;
        }));
        let handle: Handle = timers.handle();
        let _entered = handle.enter();
        let mut sleeps: Vec<_> = (1..1_000).map(|i| Box::pin(sleep(ms(i)))).collect();
        for sleep in &mut sleeps {
            assert!(poll_with(sleep.as_mut(), Waker::noop()).is_pending());
        }
        drop(timers);
    }
    assert_eq!(Arc::strong_count(&probe), 1);
}
