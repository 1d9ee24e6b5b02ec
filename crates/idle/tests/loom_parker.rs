//! Models of one worker's parker: an unpark against a park, on the thread and
//! on a driver.
#![cfg(raddle_loom)]

use std::time::Duration;

use raddle_idle::{BlockedOn, Parker};
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;

/// A driver without events: parks until it is unparked.
#[derive(Default)]
struct Driver {
    is_unparked: Mutex<bool>,
    changed: Condvar,
}

impl Driver {
    fn park(&self, timeout: Option<Duration>) {
        let mut is_unparked = self.is_unparked.lock();
        while !*is_unparked && timeout.is_none() {
            is_unparked = self.changed.wait(is_unparked);
        }
        *is_unparked = false;
    }

    fn unpark(&self) {
        *self.is_unparked.lock() = true;
        self.changed.notify_all();
    }
}

fn not_in_driver(_: BlockedOn) {
    panic!("the worker is not in the driver");
}

fn park_on_thread(parker: &Parker, timeout: Option<Duration>) {
    if parker.enter(BlockedOn::Parker) {
        parker.block(timeout);
        parker.leave();
    }
}

fn park_on_driver(parker: &Parker, driver: &Driver, timeout: Option<Duration>) {
    if parker.enter(BlockedOn::Driver) {
        driver.park(timeout);
        parker.leave();
    }
}

/// Parks, the how-manieth time `park` learns, until a flag is set, which another
/// thread sets before it unparks.
fn unpark_against_park(park: impl Fn(&Parker, usize), driver: &Arc<Driver>) {
    let parker = Arc::new(Parker::default());
    let flag = Arc::new(AtomicBool::new(false));
    let unparker = {
        let (parker, flag, driver) = (parker.clone(), flag.clone(), driver.clone());
        thread::spawn(move || {
            // ORDERING: the parker makes it visible.
            flag.store(true, Ordering::Relaxed);
            parker.unpark(|_| driver.unpark());
        })
    };
    parker.attach();
    for time in 0.. {
        if flag.load(Ordering::Relaxed) {
            break;
        }
        park(&parker, time);
    }
    unparker.join().unwrap();
}

#[test]
fn unpark_against_park_on_the_thread() {
    Model::new().check(|| {
        unpark_against_park(|parker, _| park_on_thread(parker, None), &Arc::default());
    });
}

/// tokio 525: a park that ran out of time leaves nothing behind that the next one misses.
#[test]
fn unpark_against_parks_with_a_time_out() {
    Model::new().check(|| {
        unpark_against_park(
            |parker, time| park_on_thread(parker, (time == 0).then_some(Duration::ZERO)),
            &Arc::default(),
        );
    });
}

#[test]
fn unpark_against_park_on_the_driver() {
    Model::new().check(|| {
        let driver = Arc::<Driver>::default();
        unpark_against_park(|parker, _| park_on_driver(parker, &driver, None), &driver);
    });
}

/// The worker blocks on something else at the next park; the unpark must meet the
/// one in which it is.
#[test]
fn unpark_against_a_worker_that_leaves_the_driver_and_parks_on_its_thread() {
    Model::new().preemptions(3).check(|| {
        let driver = Arc::<Driver>::default();
        unpark_against_park(
            |parker, time| match time {
                0 => park_on_driver(parker, &driver, Some(Duration::ZERO)),
                _ => park_on_thread(parker, None),
            },
            &driver,
        );
    });
}

/// Two unparks at once: one park comes back, and no token is left that could
/// end more than one other.
#[test]
fn two_unparks_against_a_park() {
    Model::new().preemptions(3).check(|| {
        let parker = Arc::new(Parker::default());
        let unparkers: Vec<_> = (0..2)
            .map(|_| {
                let parker = parker.clone();
                thread::spawn(move || parker.unpark(not_in_driver))
            })
            .collect();
        parker.attach();
        park_on_thread(&parker, None);
        for unparker in unparkers {
            unparker.join().unwrap();
        }
    });
}

/// The worker changes its thread between two parks: the unpark meets the thread
/// on which it is. Complete.
#[test]
fn unpark_against_a_worker_that_moves_to_another_thread() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::default());
        let flag = Arc::new(AtomicBool::new(false));
        let unparker = {
            let (parker, flag) = (parker.clone(), flag.clone());
            thread::spawn(move || {
                // ORDERING: the parker makes it visible.
                flag.store(true, Ordering::Relaxed);
                parker.unpark(not_in_driver);
            })
        };
        parker.attach();
        park_on_thread(&parker, Some(Duration::ZERO));
        let next = {
            let (parker, flag) = (parker.clone(), flag.clone());
            thread::spawn(move || {
                parker.attach();
                while !flag.load(Ordering::Relaxed) {
                    park_on_thread(&parker, None);
                }
            })
        };
        next.join().unwrap();
        unparker.join().unwrap();
    });
}

/// Two reasons, given by two threads: a worker that comes back once, because the
/// second found the mark of the first, sees both if it took both. Bounded at
/// three preemptions.
#[test]
fn an_unpark_of_an_unparked_worker_publishes_earlier_writes() {
    Model::new().preemptions(3).check(|| {
        let parker = Arc::new(Parker::default());
        let reasons = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let other = {
            let (parker, reasons) = (parker.clone(), reasons.clone());
            thread::spawn(move || {
                reasons[0].store(true, Ordering::Relaxed);
                parker.unpark(not_in_driver);
            })
        };
        let third = {
            let (parker, reasons) = (parker.clone(), reasons.clone());
            thread::spawn(move || {
                reasons[1].store(true, Ordering::Relaxed);
                parker.unpark(not_in_driver);
            })
        };
        parker.attach();
        while !reasons.iter().all(|reason| reason.load(Ordering::Relaxed)) {
            park_on_thread(&parker, None);
        }
        other.join().unwrap();
        third.join().unwrap();
    });
}

/// What a thread does after it has unparked another is not seen by that.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_an_unpark_is_not_seen_by_the_unparked_worker() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::default());
        let race = Race::new();
        let (theirs, its) = (race.clone(), parker.clone());
        // The variables of a thread that has parked cannot be dropped by a model
        // that fails.
        let parking = thread::spawn(move || {
            its.attach();
            park_on_thread(&its, None);
            theirs.second();
        });
        parker.unpark(not_in_driver);
        race.first();
        parking.join().unwrap();
    });
}

/// A thread elects a worker that leaves its wait for the alarm at the same time. If the thread sets
/// the alarm instead of unparking the worker, the worker sees the election. Complete.
#[test]
fn a_worker_that_leaves_the_alarm_sees_its_election_or_is_not_found_there() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::default());
        let is_elected = Arc::new(AtomicBool::new(false));
        parker.attach();
        assert!(parker.enter(BlockedOn::Alarm));
        let elector = {
            let (parker, is_elected) = (parker.clone(), is_elected.clone());
            thread::spawn(move || {
                // ORDERING: the parker makes it visible.
                is_elected.store(true, Ordering::Relaxed);
                parker.is_on_alarm()
            })
        };
        parker.leave();
        let sees = is_elected.load(Ordering::Relaxed);
        assert!(parker.enter(BlockedOn::Driver));
        let sets_alarm = elector.join().unwrap();
        assert!(
            sees || !sets_alarm,
            "the worker is not the monitor, and not at the alarm"
        );
    });
}
