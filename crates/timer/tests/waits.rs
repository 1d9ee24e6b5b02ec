//! How often a driver without I/O waits for its condition variable: the counting build counts it.
//!
//! These tests need a process of their own, since all its threads write to one ledger.
#![cfg(raddle_count)]
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};
use std::time::Duration;

use raddle_primitives::counting;
use raddle_timer::driver::{EventSource as _, NoEvents, TimerDriver};

/// There is one ledger: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of waits since the last call.
fn waits() -> u64 {
    counting::settle(0);
    let report = counting::report();
    let entry = report
        .iter()
        .find(|entry| entry.name == "wait for a condition variable");
    let waits = entry.map_or(0, |entry| entry.phases[0].events);
    counting::reset();
    waits
}

#[test]
fn a_source_without_events_waits_unless_it_was_unparked_or_the_timeout_is_zero() {
    let _alone = alone();
    let mut source = NoEvents::default();
    let unpark = source.unparker();
    waits();
    source.wait(Some(Duration::ZERO), usize::MAX);
    assert_eq!(waits(), 0, "nothing to wait for");
    source.wait(Some(Duration::from_millis(1)), usize::MAX);
    assert_eq!(waits(), 1, "the time is not over");
    for timeout in [None, Some(Duration::from_secs(3600)), Some(Duration::ZERO)] {
        unpark();
        source.wait(timeout, usize::MAX);
        assert_eq!(waits(), 0, "it was unparked, {timeout:?}");
    }
    // A wait of zero uses up the unpark, as any other wait does.
    source.wait(Some(Duration::from_millis(1)), usize::MAX);
    assert_eq!(waits(), 1, "the unpark is used up");
}

#[test]
fn a_park_with_a_zero_timeout_or_a_due_timer_does_not_wait() {
    let _alone = alone();
    let mut driver = TimerDriver::new(NoEvents::default(), 1, false);
    let handle = driver.handles().next().expect("one shard of timers");
    let _entered = handle.enter();
    waits();
    driver.park(Some(Duration::ZERO), usize::MAX);
    assert_eq!(waits(), 0, "zero, without timers");

    let mut far = pin!(raddle_timer::sleep(Duration::from_secs(3600)));
    let mut near = pin!(raddle_timer::sleep(Duration::from_millis(1)));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(far.as_mut().poll(&mut cx).is_pending());
    assert!(near.as_mut().poll(&mut cx).is_pending());
    driver.park(Some(Duration::ZERO), usize::MAX);
    assert_eq!(waits(), 0, "zero, with timers");

    std::thread::sleep(Duration::from_millis(10));
    let woken = driver.park(None, usize::MAX);
    assert_eq!((woken.timers, waits()), (1, 0), "a timer that is due");
}
