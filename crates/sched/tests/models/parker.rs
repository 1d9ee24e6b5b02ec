//! Models of the parker of one worker: an unpark against a park on the thread or in a driver.

#[allow(dead_code, reason = "the crate uses more of it")]
// rustfmt would look for the tests of the file beside it.
#[rustfmt::skip]
#[path = "../../src/idle/parker.rs"]
mod source;

use std::time::Duration;

use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_primitives::thread;
use source::{BlockedOn, Parker};

/// A driver without events: a park without a time-out ends when it is unparked.
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

fn not_in_driver() {
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

/// Parks until another thread has set a flag, which it does before it unparks. `park` gets the
/// number of earlier parks.
fn unpark_against_park(park: impl Fn(&Parker, usize), driver: &Arc<Driver>) {
    let parker = Arc::new(Parker::default());
    let flag = Arc::new(AtomicBool::new(false));
    let unparker = {
        let (parker, flag, driver) = (parker.clone(), flag.clone(), driver.clone());
        thread::spawn(move || {
            // ORDERING: the parker publishes the flag.
            flag.store(true, Ordering::Relaxed);
            parker.unpark(|| driver.unpark());
        })
    };
    parker.attach();
    for round in 0.. {
        if flag.load(Ordering::Relaxed) {
            break;
        }
        park(&parker, round);
    }
    unparker.join().unwrap();
}

#[test]
fn unpark_against_park_on_the_thread() {
    Model::new().check(|| {
        unpark_against_park(|parker, _| park_on_thread(parker, None), &Arc::default());
    });
}

/// tokio 525: a park that timed out does not make a later park miss an unpark.
#[test]
fn unpark_against_parks_with_a_time_out() {
    Model::new().check(|| {
        unpark_against_park(
            |parker, round| park_on_thread(parker, (round == 0).then_some(Duration::ZERO)),
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

/// The worker parks in the driver and then on its thread: the unpark ends the park that it is in.
#[test]
fn unpark_against_a_worker_that_leaves_the_driver_and_parks_on_its_thread() {
    Model::new().preemptions(3).check(|| {
        let driver = Arc::<Driver>::default();
        unpark_against_park(
            |parker, round| match round {
                0 => park_on_driver(parker, &driver, Some(Duration::ZERO)),
                _ => park_on_thread(parker, None),
            },
            &driver,
        );
    });
}

/// Two unparks at the same time end one park.
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

/// The worker moves to another thread between two parks: the unpark reaches the thread that drives
/// it. All interleavings are explored.
#[test]
fn unpark_against_a_worker_that_moves_to_another_thread() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::default());
        let flag = Arc::new(AtomicBool::new(false));
        let unparker = {
            let (parker, flag) = (parker.clone(), flag.clone());
            thread::spawn(move || {
                // ORDERING: the parker publishes the flag.
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

/// Two threads set a flag each and unpark the worker. If the second unpark finds the worker
/// unparked already, the worker still sees both flags. Bounded at three preemptions.
#[test]
fn an_unpark_of_an_unparked_worker_publishes_earlier_writes() {
    Model::new().preemptions(3).check(|| {
        let parker = Arc::new(Parker::default());
        let flags = Arc::new([AtomicBool::new(false), AtomicBool::new(false)]);
        let first = {
            let (parker, flags) = (parker.clone(), flags.clone());
            thread::spawn(move || {
                flags[0].store(true, Ordering::Relaxed);
                parker.unpark(not_in_driver);
            })
        };
        let second = {
            let (parker, flags) = (parker.clone(), flags.clone());
            thread::spawn(move || {
                flags[1].store(true, Ordering::Relaxed);
                parker.unpark(not_in_driver);
            })
        };
        parker.attach();
        while !flags.iter().all(|flag| flag.load(Ordering::Relaxed)) {
            park_on_thread(&parker, None);
        }
        first.join().unwrap();
        second.join().unwrap();
    });
}

/// A write after an unpark is not ordered before the reads of the unparked worker.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_an_unpark_is_not_seen_by_the_unparked_worker() {
    Model::new().check(|| {
        let parker = Arc::new(Parker::default());
        let race = Race::new();
        let (worker_race, worker_parker) = (race.clone(), parker.clone());
        // The other thread parks, because a model that fails cannot drop the variables of a thread
        // that has parked.
        let worker = thread::spawn(move || {
            worker_parker.attach();
            park_on_thread(&worker_parker, None);
            worker_race.second();
        });
        parker.unpark(not_in_driver);
        race.first();
        worker.join().unwrap();
    });
}
