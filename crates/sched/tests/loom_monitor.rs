//! Models of the monitor under real workers. A worker that comes out of the driver has another
//! worker elected as the monitor, and runs what it has made ready.
//!
//! The workers are stepped, so that a model has two threads, each with a part of
//! its own to play, rather than one for each worker.
#![cfg(raddle_loom)]
#![allow(dead_code, unreachable_pub)]

#[path = "common/driver.rs"]
mod condvar_driver;
mod driver {
    pub use raddle_sched::{Driver, Unpark};
}

use std::future::poll_fn;
use std::task::{Poll, Waker};

use condvar_driver::Events;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Handle, Pool, Step, Worker};

/// Three workers: in the driver, asleep and running. None of them is the monitor.
struct Trio {
    handle: Handle,
    events: Arc<Events>,
    in_driver: Worker,
    asleep: Worker,
    running: Worker,
    /// Of a task that waits.
    waker: Waker,
}

impl Trio {
    fn new() -> Self {
        let events = Events::new();
        let config = Config {
            workers: 3,
            has_monitor: true,
            ..Config::default()
        };
        let driver = Events::driver(&events);
        let (handle, workers) = Pool::stepped(config, Some(driver));
        // The one with the lowest number is woken first, if it is not in the driver.
        let [mut running, mut in_driver, mut asleep]: [_; 3] =
            workers.try_into().expect("three workers");

        let waker = Arc::new(Mutex::new(None));
        let theirs = waker.clone();
        drop(handle.spawn(poll_fn(move |cx| {
            *theirs.lock() = Some(cx.waker().clone());
            Poll::<()>::Pending
        })));
        assert_eq!(running.step(), Step::Ran);
        let waker = waker.lock().take().expect("the task was polled");

        // The role of the monitor goes from the one in the driver to the other.
        assert!(in_driver.begin_park().is_some());
        assert!(asleep.begin_park().is_some());
        assert_eq!(in_driver.step(), Step::Idle);
        assert!(in_driver.begin_park().is_some_and(|wait| wait.in_driver));
        assert!(asleep.is_unparked());
        // When all are parked, there is no monitor.
        assert_eq!(running.step(), Step::Idle);
        assert!(running.begin_park().is_some());
        let wait = asleep.resume_park().expect("there is no work");
        assert!(!wait.in_driver && wait.timeout.is_none());
        // Nor when one that is not in the driver is woken for a single task.
        drop(handle.spawn(async {}));
        assert!(running.is_unparked() && !asleep.is_unparked());
        assert!(running.resume_park().is_none());
        assert_eq!(running.step(), Step::Ran);
        assert!(!asleep.is_unparked());
        Self {
            handle,
            events,
            in_driver,
            asleep,
            running,
            waker,
        }
    }
}

/// The worker in the driver comes out while one that retires wakes another in its place, and gets
/// a task whose poll might not return. If the worker that was woken is the one that had come out of
/// the driver, the one that woke it has not elected a monitor.
fn come_out_and_be_woken(by_event: bool) {
    Model::new().branches(20_000).check(move || {
        let Trio {
            handle,
            events,
            mut in_driver,
            asleep,
            running,
            waker,
        } = Trio::new();
        if by_event {
            events.raise([waker]);
        }
        let leaver = thread::spawn(move || drop(running));
        let wait = in_driver.resume_park();
        leaver.join().unwrap();
        if wait.is_none() {
            if !by_event {
                drop(handle.spawn(async {}));
            }
            assert_eq!(in_driver.step(), Step::Ran);
        }
        assert!(
            asleep.is_unparked(),
            "no worker is in the driver, and none is the monitor"
        );
    });
}

#[test]
fn a_worker_that_is_woken_between_an_event_and_its_unpark_leaves_a_monitor() {
    come_out_and_be_woken(true);
}

#[test]
fn a_worker_that_is_woken_between_two_waits_in_the_driver_leaves_a_monitor() {
    come_out_and_be_woken(false);
}

/// A worker that an event brings out of the driver runs the task, for which no other worker was
/// notified, rather than park again because there are others.
#[test]
fn an_event_against_a_worker_that_parks_in_the_driver() {
    Model::new().branches(20_000).check(|| {
        let events = Events::new();
        let config = Config {
            workers: 2,
            ..Config::default()
        };
        let driver = Events::driver(&events);
        let (handle, workers) = Pool::stepped(config, Some(driver));
        let [mut parks, other]: [_; 2] = workers.try_into().expect("two workers");
        let waker = Arc::new(Mutex::new(None));
        let theirs = waker.clone();
        let task = handle.spawn(poll_fn(move |cx| {
            match theirs.lock().replace(cx.waker().clone()) {
                Some(_) => Poll::Ready(()),
                None => Poll::Pending,
            }
        }));
        assert_eq!(parks.step(), Step::Ran);
        let waker = waker.lock().clone();
        let raises = thread::spawn(move || events.raise(waker));
        while !task.is_finished() {
            if parks.step() == Step::Idle {
                parks.park(None);
            }
        }
        raises.join().unwrap();
        drop((parks, other));
    });
}

/// A worker that parks, finds a task and returns, while another, which comes back to run, elects
/// it as the monitor: it elects the one in the driver in its place.
#[test]
fn a_worker_that_is_elected_while_it_finds_work_passes_the_role_on() {
    Model::new().branches(20_000).check(|| {
        let Trio {
            handle,
            in_driver,
            mut asleep,
            mut running,
            ..
        } = Trio::new();
        // It searches, so that no other worker is woken for the task.
        assert_eq!(running.step(), Step::Idle);
        drop(handle.spawn(async {}));
        assert!(!in_driver.is_unparked() && !asleep.is_unparked());
        let returns = thread::spawn(move || {
            let _ = asleep.step();
            asleep
        });
        let parks = running.begin_park().is_some();
        let asleep = returns.join().unwrap();
        assert!(
            parks || in_driver.is_unparked(),
            "two workers run, and none is the monitor"
        );
        drop((asleep, running, in_driver));
    });
}

/// The monitor finds a worker stuck and takes the task out of its slot, while that worker goes on
/// and takes it too: one of them runs it.
#[test]
fn the_task_of_a_slot_is_run_by_its_worker_or_by_the_monitor() {
    Model::new().branches(20_000).check(|| {
        let config = Config {
            workers: 2,
            has_monitor: true,
            ..Config::default()
        };
        let (handle, workers) = Pool::stepped(config, None);
        let [mut stuck, mut monitor]: [_; 2] = workers.try_into().expect("two workers");
        let runs = Arc::new(AtomicUsize::new(0));
        let (spawner, theirs) = (handle.clone(), runs.clone());
        drop(handle.spawn(async move {
            drop(spawner.spawn(async move {
                theirs.fetch_add(1, Ordering::Relaxed);
            }));
        }));
        assert_eq!(stuck.step(), Step::Ran);
        assert!(monitor.begin_park().is_some());
        // It has seen the worker make progress; the next check finds that it has made none.
        assert!(monitor.resume_park().is_some());
        // The counts by which the monitor finds it stuck are not modelled, so that the model would
        // see no reason to have the monitor check first.
        let order = Arc::new(AtomicUsize::new(0));
        let its_order = order.clone();
        let check = thread::spawn(move || {
            its_order.fetch_add(1, Ordering::Relaxed);
            if monitor.resume_park().is_none() {
                let _ = monitor.step();
            }
            monitor
        });
        order.fetch_add(1, Ordering::Relaxed);
        let _ = stuck.step();
        let monitor = check.join().unwrap();
        assert_eq!(runs.load(Ordering::Relaxed), 1);
        drop((stuck, monitor));
    });
}

/// What follows the end of a worker is not seen by the one that it wakes in its place.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_the_end_of_a_worker_is_not_seen_by_its_successor() {
    Model::new().branches(20_000).check(|| {
        // On a thread of its own: the variables of one that has parked cannot
        // be dropped by a model that fails.
        let leaver = thread::spawn(|| {
            let trio = Trio::new();
            let race = Race::new();
            let theirs = race.clone();
            let (asleep, in_driver) = (trio.asleep, trio.in_driver);
            let successor = thread::spawn(move || {
                if asleep.is_unparked() || in_driver.is_unparked() {
                    theirs.second();
                }
                (asleep, in_driver)
            });
            drop(trio.running);
            race.first();
            drop(successor.join().unwrap());
        });
        leaver.join().unwrap();
    });
}
