//! Models of the monitor with real workers. A worker that leaves the driver elects a monitor among
//! the other workers, and runs the tasks that its driver poll has made ready.
//!
//! The workers are stepped, so that a model needs two threads instead of one for each worker.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::common::driver::Events;
use raddle_primitives::model::{Model, Race};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Handle, Pool, Step, Worker};

/// Three workers: one waits in the driver, one sleeps, one runs. None of them is the monitor.
struct ThreeWorkers {
    handle: Handle,
    events: Arc<Events>,
    in_driver: Worker,
    asleep: Worker,
    running: Worker,
    /// The waker of a task that waits.
    waker: Waker,
}

impl ThreeWorkers {
    fn new() -> Self {
        let events = Events::new();
        let config = Config {
            workers: 3,
            has_monitor: true,
            ..Config::default()
        };
        let driver = Events::driver(&events);
        let (handle, workers) = Pool::stepped(config, Some(driver));
        // The idle worker with the lowest number is woken first, unless it is in the driver.
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

        // The worker in the driver elects the other parked worker as the monitor.
        assert!(in_driver.begin_park().is_some());
        assert!(asleep.begin_park().is_some());
        assert_eq!(in_driver.step(), Step::Idle);
        assert!(in_driver.begin_park().is_some_and(|wait| wait.in_driver));
        assert!(asleep.is_unparked());
        // When all workers are parked, there is no monitor.
        assert_eq!(running.step(), Step::Idle);
        assert!(running.begin_park().is_some());
        let wait = asleep.resume_park().expect("there is no work");
        assert!(!wait.in_driver && wait.timeout.is_none());
        // Waking a worker outside the driver for a single task elects no monitor either.
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

/// A worker leaves the driver while a retiring worker wakes another worker in its place. Then it
/// gets a task whose poll might not return. If the retiring worker has woken the worker that was
/// leaving the driver, it has elected no monitor.
fn leave_the_driver_and_be_woken(by_event: bool) {
    Model::new().branches(20_000).check(move || {
        let ThreeWorkers {
            handle,
            events,
            mut in_driver,
            asleep,
            running,
            waker,
        } = ThreeWorkers::new();
        if by_event {
            events.raise([waker]);
        }
        let retiring = thread::spawn(move || drop(running));
        let wait = in_driver.resume_park();
        retiring.join().unwrap();
        if wait.is_none() {
            if !by_event {
                drop(handle.spawn(async {}));
            }
            assert_eq!(in_driver.step(), Step::Ran);
        }
        assert!(
            asleep.is_unparked(),
            "no worker is in the driver, and no worker is the monitor"
        );
    });
}

#[test]
fn a_worker_that_is_woken_between_an_event_and_its_unpark_leaves_a_monitor() {
    leave_the_driver_and_be_woken(true);
}

#[test]
fn a_worker_that_is_woken_between_two_waits_in_the_driver_leaves_a_monitor() {
    leave_the_driver_and_be_woken(false);
}

/// An event wakes a worker that waits in the driver. No other worker was notified for the task, so
/// this worker must run it, and not park again because other workers are awake.
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
                parks.park();
            }
        }
        raises.join().unwrap();
        drop((parks, other));
    });
}

/// A worker begins to park, finds a task and returns. Meanwhile another worker resumes and elects
/// it as the monitor. It must elect the worker in the driver in its place.
#[test]
fn a_worker_that_is_elected_while_it_finds_work_passes_the_role_on() {
    Model::new().branches(20_000).check(|| {
        let ThreeWorkers {
            handle,
            in_driver,
            mut asleep,
            mut running,
            ..
        } = ThreeWorkers::new();
        // The worker searches, so no other worker is woken for the task.
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
            "two workers run, and no worker is the monitor"
        );
        drop((asleep, running, in_driver));
    });
}

/// The monitor finds a worker stuck and takes the task from its slot. Meanwhile the worker goes on
/// and takes the task too. One of them runs it.
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
        // The monitor has seen the worker make progress. Its next check finds that the worker has
        // made none.
        assert!(monitor.resume_park().is_some());
        // The model does not cover the counts by which the monitor finds the worker stuck, so it
        // would never run the monitor first. This atomic makes it explore both orders.
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

/// The worker that is woken in place of a retired worker does not see what the retiring thread does
/// afterwards.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_the_end_of_a_worker_is_not_seen_by_its_successor() {
    Model::new().branches(20_000).check(|| {
        // The workers run on their own thread: when the model fails, it cannot drop the
        // thread-local variables of a parked thread.
        let retiring = thread::spawn(|| {
            let workers = ThreeWorkers::new();
            let race = Race::new();
            let theirs = race.clone();
            let (asleep, in_driver) = (workers.asleep, workers.in_driver);
            let successor = thread::spawn(move || {
                if asleep.is_unparked() || in_driver.is_unparked() {
                    theirs.second();
                }
                (asleep, in_driver)
            });
            drop(workers.running);
            race.first();
            drop(successor.join().unwrap());
        });
        retiring.join().unwrap();
    });
}
