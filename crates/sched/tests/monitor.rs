//! What the monitor concludes from two looks at the workers, and when it looks next.
#![cfg(not(raddle_loom))]

#[allow(dead_code)]
#[path = "../src/monitor.rs"]
mod monitor;

use std::cell::RefCell;
use std::thread;
use std::time::{Duration, Instant};

use monitor::{FIRST_LOOK, Monitor, Progress, next_interval};

/// A worker that runs, with so many polls and parks in all.
fn runs(polls: u64, parks: u64) -> Progress {
    Progress {
        polls,
        parks,
        is_running: true,
    }
}

fn is_parked(polls: u64) -> Progress {
    Progress {
        is_running: false,
        ..runs(polls, 1)
    }
}

/// A monitor of so many workers, none of whose polls is long unless a test says so.
struct Scene {
    monitor: Monitor,
}

impl Scene {
    fn new(workers: usize) -> Self {
        let second = Duration::from_secs(1);
        Self {
            monitor: Monitor::new(workers, (Instant::now() - second).into()),
        }
    }

    /// The workers that were to be rescued.
    fn look<const N: usize>(&self, workers: [Progress; N]) -> Vec<usize> {
        let mut stuck = Vec::new();
        self.monitor.look(
            workers.into_iter(),
            |_, _| false,
            |worker| {
                stuck.push(worker);
                false
            },
        );
        stuck
    }
}

#[test]
fn a_worker_that_runs_without_a_new_poll_is_stuck() {
    let scene = Scene::new(4);
    let first = [runs(3, 0), runs(5, 1), is_parked(7), is_parked(1)];
    assert_eq!(scene.look(first), []);
    assert!((0..4).all(|worker| !scene.monitor.was_stuck(worker)));
    let second = [runs(3, 0), runs(6, 1), is_parked(7), is_parked(2)];
    assert_eq!(scene.look(second), [0]);
    let stuck = [0, 1, 2, 3].map(|worker| scene.monitor.was_stuck(worker));
    assert_eq!(stuck, [true, false, false, false]);
    assert_eq!(scene.monitor.polls(1), 6);
    let third = [runs(4, 0), runs(6, 1), runs(7, 1), is_parked(2)];
    assert_eq!(scene.look(third), [1, 2]);
    let stuck = [0, 1, 2, 3].map(|worker| scene.monitor.was_stuck(worker));
    assert_eq!(stuck, [false, true, true, false]);
}

#[test]
fn a_worker_that_runs_long_polls_and_has_not_parked_is_slow() {
    let scene = Scene::new(4);
    let asked = RefCell::new(Vec::new());
    let look = |workers: [Progress; 4]| {
        let is_long = |passed: Duration, polls: u64| {
            asked.borrow_mut().push((passed, polls));
            polls < 10
        };
        scene.monitor.look(workers.into_iter(), is_long, |_| false);
        asked.take()
    };
    // Nothing is known of the time that these polls took.
    let first = look([runs(20, 0), runs(20, 0), runs(20, 0), is_parked(20)]);
    assert_eq!(
        first,
        [
            (Duration::ZERO, 20),
            (Duration::ZERO, 20),
            (Duration::ZERO, 20)
        ]
    );
    assert!((0..4).all(|worker| !scene.monitor.was_slow(worker)));
    let nap = Duration::from_millis(2);
    thread::sleep(nap);
    let second = look([runs(29, 0), runs(30, 0), runs(21, 1), is_parked(21)]);
    let polls: Vec<_> = second.iter().map(|&(_, polls)| polls).collect();
    assert_eq!(polls, [9, 10]);
    assert!(second.iter().all(|&(passed, _)| passed >= nap));
    let slow = [0, 1, 2, 3].map(|worker| scene.monitor.was_slow(worker));
    assert_eq!(slow, [true, false, false, false]);
    look([runs(49, 0), runs(31, 0), runs(22, 1), is_parked(21)]);
    let slow = [0, 1, 2, 3].map(|worker| scene.monitor.was_slow(worker));
    assert_eq!(slow, [false, true, true, false]);
}

#[test]
fn looks_grow_apart_until_a_task_is_rescued() {
    let ms = Duration::from_millis;
    assert_eq!(FIRST_LOOK, ms(1));
    for (interval, next) in [(1, 2), (2, 4), (4, 4)] {
        assert_eq!(next_interval(ms(interval), false), ms(next));
        assert_eq!(next_interval(ms(interval), true), ms(1));
    }
}

#[test]
fn one_rescue_of_several_is_reported() {
    let scene = Scene::new(3);
    scene.look([is_parked(0), is_parked(0), is_parked(0)]);
    let mut rescues = [true, false].into_iter();
    let has_rescued = scene.monitor.look(
        [runs(0, 0), runs(0, 0), is_parked(0)].into_iter(),
        |_, _| false,
        |_| rescues.next().unwrap_or_default(),
    );
    assert_eq!(rescues.next(), None);
    assert!(has_rescued);
}
