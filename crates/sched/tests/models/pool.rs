//! Models of the whole pool, with all lower layers. A lost wake-up is a deadlock. A task that is
//! dropped twice, or accessed after its drop, is a race.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::common::driver::Events;
use crate::gate::{Counted, Gate};
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_sched::{Config, Pool, Step, spawn};

fn check(body: impl Fn() + Send + Sync + 'static) {
    Model::new().preemptions(2).branches(20_000).check(body);
}

fn pool(workers: usize) -> Pool {
    start(workers, None)
}

fn start(workers: usize, events: Option<&Arc<Events>>) -> Pool {
    let config = Config {
        workers,
        ..Config::default()
    };
    let driver = events.map(Events::driver);
    Pool::start(config, driver).unwrap()
}

/// A future that is never ready and stores its waker for the test.
struct Waiting {
    waker: Arc<Mutex<Option<Waker>>>,
    _counted: Counted,
}

impl Future for Waiting {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        *self.waker.lock() = Some(cx.waker().clone());
        Poll::Pending
    }
}

/// tokio 1788, with the real pool.
#[test]
fn a_spawn_from_outside_against_one_worker_going_to_sleep() {
    check(|| {
        let pool = pool(1);
        let task = pool.handle().spawn(async { 7 });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    });
}

#[test]
fn a_spawn_from_outside_against_two_workers() {
    check(|| {
        let pool = pool(2);
        let gate = Arc::new(Gate::default());
        let inside = gate.clone();
        drop(pool.handle().spawn(async move { inside.open() }));
        gate.wait_for(1);
        model::stop_exploring();
    });
}

#[test]
fn a_task_spawns_and_joins_another() {
    check(|| {
        let pool = pool(1);
        let gate = Arc::new(Gate::default());
        let inside = gate.clone();
        drop(pool.handle().spawn(async move {
            spawn(async {}).await.unwrap();
            inside.open();
        }));
        gate.wait_for(1);
    });
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

/// The first of two tasks blocks its worker until the second has run. A worker that takes both from
/// the injection queue must wake the other worker, which may have searched while the tasks were in
/// neither queue.
#[test]
fn a_worker_that_takes_two_tasks_wakes_another_for_the_second() {
    check(|| {
        let config = Config {
            workers: 2,
            ..Config::default()
        };
        let (handle, mut workers) = Pool::stepped(config, None);
        let gate = Arc::new(Gate::default());
        let stop = Arc::new(AtomicBool::new(false));
        let other = {
            let (mut worker, stop) = (workers.remove(1), stop.clone());
            thread::spawn(move || {
                while !stop.load(Ordering::Acquire) {
                    if worker.step() == Step::Idle {
                        worker.park();
                    }
                }
            })
        };
        let (first, second) = (gate.clone(), gate.clone());
        drop(handle.spawn(async move { first.wait_for(1) }));
        drop(handle.spawn(async move { second.open() }));
        let mut worker = workers.remove(0);
        while !gate.is_open() {
            if worker.step() == Step::Idle {
                thread::yield_now();
            }
        }
        drop(worker);
        drop(handle.spawn(async move { stop.store(true, Ordering::Release) }));
        other.join().unwrap();
    });
}

/// async-executor 163: a foreign thread wakes a task while the pool shuts down.
#[test]
fn a_foreign_wake_against_shutdown() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let waker = Arc::new(Mutex::new(None));
        let pool = pool(1);
        drop(pool.handle().spawn(Waiting {
            waker: waker.clone(),
            _counted: Counted(drops.clone()),
        }));
        let foreign = thread::spawn(move || {
            let taken = waker.lock().take();
            if let Some(waker) = taken {
                waker.wake();
            }
        });
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        foreign.join().unwrap();
    });
}

/// The task was polled before the wake and the shutdown race.
#[test]
fn a_foreign_wake_of_an_idle_task_against_shutdown() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Gate::default());
        let waker = Arc::new(Mutex::new(None));
        let pool = pool(1);
        let counted = Counted(drops.clone());
        let (inside, slot) = (gate.clone(), waker.clone());
        drop(pool.handle().spawn(poll_fn(move |cx| {
            let _ = &counted;
            let waker = cx.waker().clone();
            if slot.lock().replace(waker).is_none() {
                inside.open();
            }
            Poll::<()>::Pending
        })));
        gate.wait_for(1);
        let foreign = waker.lock().take().unwrap();
        let foreign = thread::spawn(move || foreign.wake());
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        foreign.join().unwrap();
    });
}

/// A foreign thread spawns while the pool shuts down. The task runs, or one of the two threads
/// drops it, once.
#[test]
fn a_foreign_spawn_against_shutdown() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let pool = pool(1);
        let foreign = {
            let handle = pool.handle().clone();
            let counted = Counted(drops.clone());
            thread::spawn(move || {
                let task = handle.spawn(async move { drop(counted) });
                let _ = handle.block_on(task);
            })
        };
        drop(pool);
        foreign.join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// The workers are already running; other models check their start.
#[test]
fn shutdown_of_two_workers_with_a_running_task() {
    check(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let gate = Arc::new(Gate::default());
        let inside = gate.clone();
        model::stop_exploring();
        let pool = pool(2);
        drop(pool.handle().spawn(async move { inside.open() }));
        gate.wait_for(1);
        model::explore();
        let counted = Counted(drops.clone());
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            std::future::pending::<()>().await;
        }));
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// An event makes a task ready while the worker is about to park, or waits, in the driver.
#[test]
fn the_driver_wakes_a_task_while_its_worker_parks() {
    check(|| {
        let events = Events::new();
        let gate = Arc::new(Gate::default());
        let pool = start(1, Some(&events));
        let (inside, source) = (gate.clone(), events.clone());
        let mut raised = false;
        drop(pool.handle().spawn(poll_fn(move |cx| {
            if std::mem::replace(&mut raised, true) {
                inside.open();
                return Poll::Ready(());
            }
            source.raise([cx.waker().clone()]);
            Poll::Pending
        })));
        gate.wait_for(1);
        drop(pool);
        assert_eq!(events.with(|state| state.shutdowns), 1);
    });
}

/// One worker waits in the driver, the other on its thread. A spawn from outside reaches one of
/// them, wherever it is.
#[test]
fn a_spawn_from_outside_against_two_workers_and_a_driver() {
    check(|| {
        let events = Events::new();
        let pool = start(2, Some(&events));
        let gate = Arc::new(Gate::default());
        let inside = gate.clone();
        drop(pool.handle().spawn(async move { inside.open() }));
        gate.wait_for(1);
        model::stop_exploring();
    });
}

/// A task does not see what its spawner does after the spawn.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_spawn_is_not_seen_by_the_task() {
    check(|| {
        let pool = pool(1);
        let race = Race::new();
        let theirs = race.clone();
        drop(pool.handle().spawn(async move { theirs.second() }));
        race.first();
    });
}
