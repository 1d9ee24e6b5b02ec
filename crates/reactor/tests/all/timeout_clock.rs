//! Reactors that measure the timeouts of their waits with a clock of their own.

use std::io::Write;
use std::time::{Duration, Instant};

use mio::net::UnixStream;
use raddle_primitives::thread;
use raddle_reactor::{Interest, Reactor, TimeoutClock};

const CLOCKS: [TimeoutClock; 2] = [TimeoutClock::Precise, TimeoutClock::CountsSuspendedTime];

#[test]
fn a_turn_ends_after_its_timeout_and_not_before() {
    for clock in CLOCKS {
        let mut reactor = Reactor::with_timeout_clock(clock).unwrap();
        for micros in [1, 50, 999, 1_000, 1_001, 2_300] {
            let timeout = Duration::from_micros(micros);
            let start = Instant::now();
            assert_eq!(reactor.turn(Some(timeout), 1).unwrap(), 0);
            assert!(start.elapsed() >= timeout, "{clock:?}: {timeout:?}");
        }
        // A timeout that has expired already is no timeout of the next wait.
        reactor.turn(Some(Duration::from_nanos(1)), 1).unwrap();
        let unpark = reactor.handle();
        let start = Instant::now();
        let thread = thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            unpark.unpark();
        });
        reactor.turn(Some(Duration::MAX), 1).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(10));
        thread.join().unwrap();
    }
}

/// The shortest of many waits shows how precise they can be; the others may have been interrupted.
#[test]
#[cfg(any(target_os = "linux", target_os = "android"))]
fn a_wait_can_be_shorter_than_a_millisecond() {
    for clock in CLOCKS {
        let mut reactor = Reactor::with_timeout_clock(clock).unwrap();
        let waits = (0..1_000).map(|_| {
            let start = Instant::now();
            reactor.turn(Some(Duration::from_micros(100)), 1).unwrap();
            start.elapsed()
        });
        let shortest = waits.min().unwrap();
        assert!(
            shortest < Duration::from_micros(900),
            "{clock:?}: {shortest:?}"
        );
    }
}

#[test]
fn events_come_before_the_timeout_and_a_timeout_of_zero_does_not_wait() {
    for clock in CLOCKS {
        let mut reactor = Reactor::with_timeout_clock(clock).unwrap();
        let (mut near, mut far) = UnixStream::pair().unwrap();
        let handle = reactor.handle();
        let registration = handle.register(&mut near, Interest::READABLE).unwrap();
        reactor.turn(Some(Duration::ZERO), 1).unwrap();
        far.write_all(b"x").unwrap();
        let mut events = 0;
        for _ in 0..10 {
            events += reactor.turn(Some(Duration::from_secs(3_600)), 1).unwrap();
            if events > 0 {
                break;
            }
        }
        assert_eq!(events, 1);
        assert!(
            registration
                .try_ready(Interest::READABLE)
                .unwrap()
                .is_some()
        );
        assert_eq!(handle.registered_count(), 1, "the timer is no registration");
    }
}

#[test]
fn only_one_clock_counts_suspended_time() {
    let counts = |reactor: std::io::Result<Reactor>| reactor.unwrap().counts_suspended_time();
    assert!(!counts(Reactor::new()));
    assert!(!counts(Reactor::with_timeout_clock(TimeoutClock::Precise)));
    let suspended = Reactor::with_timeout_clock(TimeoutClock::CountsSuspendedTime);
    let has_timer = cfg!(any(target_os = "linux", target_os = "android"));
    assert_eq!(counts(suspended), has_timer);
}
