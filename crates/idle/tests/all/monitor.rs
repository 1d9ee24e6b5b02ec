//! Tests of which workers the monitor finds stuck, and of its check interval.

use std::time::Duration;

use raddle_idle::{Monitor, Progress};

/// The progress of a running worker with `polls` polls in total.
fn running(polls: u64) -> Progress {
    Progress {
        polls,
        is_running: true,
    }
}

/// The progress of a parked worker with `polls` polls in total.
fn parked(polls: u64) -> Progress {
    Progress {
        polls,
        is_running: false,
    }
}

/// A monitor, and a function that checks workers.
struct TestMonitor {
    monitor: Monitor,
}

impl TestMonitor {
    fn new(workers: usize) -> Self {
        Self {
            monitor: Monitor::new(workers),
        }
    }

    /// Checks the workers, and returns those that were stuck.
    fn check<const N: usize>(&self, workers: [Progress; N]) -> Vec<usize> {
        let mut stuck = Vec::new();
        self.monitor.check(workers.into_iter(), |worker| {
            stuck.push(worker);
            false
        });
        stuck
    }
}

#[test]
fn a_worker_that_runs_without_a_new_poll_is_stuck() {
    let test_monitor = TestMonitor::new(4);
    let first = [running(3), running(5), parked(7), parked(1)];
    assert_eq!(test_monitor.check(first), []);
    assert!((0..4).all(|worker| !test_monitor.monitor.was_stuck(worker)));
    let second = [running(3), running(6), parked(7), parked(2)];
    assert_eq!(test_monitor.check(second), [0]);
    let stuck = [0, 1, 2, 3].map(|worker| test_monitor.monitor.was_stuck(worker));
    assert_eq!(stuck, [true, false, false, false]);
    assert_eq!(test_monitor.monitor.polls(1), 6);
    let third = [running(4), running(6), running(7), parked(2)];
    assert_eq!(test_monitor.check(third), [1, 2]);
    let stuck = [0, 1, 2, 3].map(|worker| test_monitor.monitor.was_stuck(worker));
    assert_eq!(stuck, [false, true, true, false]);
}

#[test]
fn the_interval_grows_until_a_task_is_rescued() {
    let ms = Duration::from_millis;
    assert_eq!(Monitor::FIRST_INTERVAL, ms(1));
    for (interval, next) in [(1, 2), (2, 4), (4, 4)] {
        assert_eq!(Monitor::next_interval(ms(interval), false), ms(next));
        assert_eq!(Monitor::next_interval(ms(interval), true), ms(1));
    }
}

#[test]
fn a_check_with_one_rescue_of_several_reports_a_rescue() {
    let test_monitor = TestMonitor::new(3);
    test_monitor.check([parked(0), parked(0), parked(0)]);
    let mut rescues = [true, false].into_iter();
    let has_rescued = test_monitor
        .monitor
        .check([running(0), running(0), parked(0)].into_iter(), |_| {
            rescues.next().unwrap_or_default()
        });
    assert_eq!(rescues.next(), None);
    assert!(has_rescued);
}
