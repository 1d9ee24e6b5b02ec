//! The clock of a worker's busy time: it counts while it runs, and keeps what it shows.
#![cfg(not(raddle_loom))]

use std::thread;
use std::time::{Duration, Instant};

use raddle_counters::BusyClock;

/// Longer than any test takes.
const HOUR: Duration = Duration::from_secs(3600);
const NAP: Duration = Duration::from_millis(2);

/// A clock whose epoch is long ago.
fn clock() -> BusyClock {
    let now = Instant::now();
    BusyClock::new(now.checked_sub(2 * HOUR).unwrap_or(now).into())
}

#[test]
fn a_new_clock_shows_zero() {
    let clock = clock();
    assert_eq!(clock.busy(), Duration::ZERO);
    clock.stop();
    thread::sleep(NAP);
    assert_eq!(clock.busy(), Duration::ZERO);
}

#[test]
fn a_running_clock_counts() {
    let clock = clock();
    clock.start();
    thread::sleep(NAP);
    let first = clock.busy();
    assert!((NAP..HOUR).contains(&first), "{first:?}");
    // It runs already.
    clock.start();
    let second = clock.busy();
    assert!((first..HOUR).contains(&second), "{first:?}, {second:?}");
}

#[test]
fn a_stopped_clock_does_not_count() {
    let clock = clock();
    clock.start();
    thread::sleep(NAP);
    clock.stop();
    let shown = clock.busy();
    assert!((NAP..HOUR).contains(&shown), "{shown:?}");
    thread::sleep(NAP);
    clock.stop();
    assert_eq!(clock.busy(), shown);
}

#[test]
fn a_restarted_clock_continues_from_its_former_time() {
    let clock = clock();
    clock.start();
    thread::sleep(NAP);
    clock.stop();
    let shown = clock.busy();
    thread::sleep(NAP);
    let restarted = Instant::now();
    clock.start();
    thread::sleep(NAP);
    clock.stop();
    let total = clock.busy();
    assert!((shown + NAP..=shown + restarted.elapsed()).contains(&total));
}
