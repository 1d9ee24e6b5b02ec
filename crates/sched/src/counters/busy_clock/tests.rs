use std::thread;
use std::time::{Duration, Instant};

use super::BusyClock;

/// Longer than a test takes.
const HOUR: Duration = Duration::from_secs(3600);
const NAP: Duration = Duration::from_millis(2);

/// Makes a clock whose epoch is two hours ago.
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
    // Starting a running clock has no effect.
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
    let stopped_at = clock.busy();
    assert!((NAP..HOUR).contains(&stopped_at), "{stopped_at:?}");
    thread::sleep(NAP);
    clock.stop();
    assert_eq!(clock.busy(), stopped_at);
}

#[test]
fn a_restarted_clock_continues_from_its_previous_time() {
    let clock = clock();
    clock.start();
    thread::sleep(NAP);
    clock.stop();
    let stopped_at = clock.busy();
    thread::sleep(NAP);
    let restarted = Instant::now();
    clock.start();
    thread::sleep(NAP);
    clock.stop();
    let total = clock.busy();
    assert!((stopped_at + NAP..=stopped_at + restarted.elapsed()).contains(&total));
}
