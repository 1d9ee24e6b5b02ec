//! What the monitor concludes from two checks of the workers, and when the next check is due.
#![cfg(not(raddle_loom))]

use std::time::Duration;

use raddle_idle::{Monitor, Progress};

/// A worker that runs, with so many polls in all.
fn runs(polls: u64) -> Progress {
    Progress {
        polls,
        is_running: true,
    }
}

fn is_parked(polls: u64) -> Progress {
    Progress {
        polls,
        is_running: false,
    }
}

/// A monitor of so many workers.
struct Scene {
    monitor: Monitor,
}

impl Scene {
    fn new(workers: usize) -> Self {
        Self {
            monitor: Monitor::new(workers),
        }
    }

    /// The workers that were to be rescued.
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
    let scene = Scene::new(4);
    let first = [runs(3), runs(5), is_parked(7), is_parked(1)];
    assert_eq!(scene.check(first), []);
    assert!((0..4).all(|worker| !scene.monitor.was_stuck(worker)));
    let second = [runs(3), runs(6), is_parked(7), is_parked(2)];
    assert_eq!(scene.check(second), [0]);
    let stuck = [0, 1, 2, 3].map(|worker| scene.monitor.was_stuck(worker));
    assert_eq!(stuck, [true, false, false, false]);
    assert_eq!(scene.monitor.polls(1), 6);
    let third = [runs(4), runs(6), runs(7), is_parked(2)];
    assert_eq!(scene.check(third), [1, 2]);
    let stuck = [0, 1, 2, 3].map(|worker| scene.monitor.was_stuck(worker));
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
fn one_rescue_of_several_is_reported() {
    let scene = Scene::new(3);
    scene.check([is_parked(0), is_parked(0), is_parked(0)]);
    let mut rescues = [true, false].into_iter();
    let has_rescued = scene
        .monitor
        .check([runs(0), runs(0), is_parked(0)].into_iter(), |_| {
            rescues.next().unwrap_or_default()
        });
    assert_eq!(rescues.next(), None);
    assert!(has_rescued);
}
