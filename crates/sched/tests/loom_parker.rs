//! Models of one worker's parker: an unpark against a park, on the thread and
//! on a driver.
#![cfg(raddle_loom)]
#![allow(dead_code, unreachable_pub, clippy::duplicate_mod)]

#[path = "common/driver.rs"]
mod condvar_driver;
#[path = "../src/driver.rs"]
mod driver;
#[path = "../src/parker.rs"]
mod parker;

use std::time::Duration;

use condvar_driver::Events;
use driver::Driver;
use parker::{Parker, Place};
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::thread;

fn park_on_thread(parker: &Parker, timeout: Option<Duration>) {
    if parker.enter(Place::Thread) {
        parker.block(timeout);
        parker.leave();
    }
}

fn park_on_driver(parker: &Parker, driver: &mut impl Driver, timeout: Option<Duration>) {
    if parker.enter(Place::Driver) {
        driver.park(timeout, 1);
        parker.leave();
    }
}

/// Parks, the how-manieth time `park` learns, until a flag is set, which another
/// thread sets before it unparks.
fn unpark_against_park(park: impl Fn(&Parker, usize), events: &Arc<Events>) {
    let parker = Arc::new(Parker::new());
    let flag = Arc::new(AtomicBool::new(false));
    let unparker = {
        let (parker, flag, events) = (parker.clone(), flag.clone(), events.clone());
        thread::spawn(move || {
            // ORDERING: the parker makes it visible.
            flag.store(true, Ordering::Relaxed);
            parker.unpark(Some(&*events));
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
        unpark_against_park(|parker, _| park_on_thread(parker, None), &Events::new());
    });
}

/// tokio 525: a park that ran out of time leaves nothing behind that the next one misses.
#[test]
fn unpark_against_parks_with_a_time_out() {
    Model::new().check(|| {
        unpark_against_park(
            |parker, time| park_on_thread(parker, (time == 0).then_some(Duration::ZERO)),
            &Events::new(),
        );
    });
}

#[test]
fn unpark_against_park_on_the_driver() {
    Model::new().check(|| {
        let events = Events::new();
        unpark_against_park(
            |parker, _| park_on_driver(parker, &mut Events::driver(&events), None),
            &events,
        );
    });
}

/// The worker changes its place between two parks; the unpark must meet the
/// one in which it is.
#[test]
fn unpark_against_a_change_of_place() {
    Model::new().preemptions(3).check(|| {
        let events = Events::new();
        unpark_against_park(
            |parker, time| match time {
                0 => park_on_driver(parker, &mut Events::driver(&events), Some(Duration::ZERO)),
                _ => park_on_thread(parker, None),
            },
            &events,
        );
    });
}

/// Two unparks at once: one park comes back, and no token is left that could
/// end more than one other.
#[test]
fn two_unparks_against_a_park() {
    Model::new().preemptions(3).check(|| {
        let parker = Arc::new(Parker::new());
        let unparkers: Vec<_> = (0..2)
            .map(|_| {
                let parker = parker.clone();
                thread::spawn(move || parker.unpark(None))
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
fn unpark_against_a_change_of_thread() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::new());
        let flag = Arc::new(AtomicBool::new(false));
        let unparker = {
            let (parker, flag) = (parker.clone(), flag.clone());
            thread::spawn(move || {
                // ORDERING: the parker makes it visible.
                flag.store(true, Ordering::Relaxed);
                parker.unpark(None);
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
fn an_unpark_that_finds_a_mark_publishes_too() {
    Model::new().preemptions(3).check(|| {
        let parker = Arc::new(Parker::new());
        let reasons = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let other = {
            let (parker, reasons) = (parker.clone(), reasons.clone());
            thread::spawn(move || {
                reasons[0].store(true, Ordering::Relaxed);
                parker.unpark(None);
            })
        };
        let third = {
            let (parker, reasons) = (parker.clone(), reasons.clone());
            thread::spawn(move || {
                reasons[1].store(true, Ordering::Relaxed);
                parker.unpark(None);
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
        let parker = Arc::new(Parker::new());
        let race = Race::new();
        let (theirs, its) = (race.clone(), parker.clone());
        // The variables of a thread that has parked cannot be dropped by a model
        // that fails.
        let parking = thread::spawn(move || {
            its.attach();
            park_on_thread(&its, None);
            theirs.second();
        });
        parker.unpark(None);
        race.first();
        parking.join().unwrap();
    });
}
