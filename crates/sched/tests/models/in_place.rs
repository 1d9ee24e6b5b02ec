//! Models of a worker that changes threads during a poll. If two threads drive a worker, they race
//! for its live list; if no thread drives it, the model deadlocks.

use std::future::pending;
use std::task::{Poll, Waker};
use std::time::Duration;

use crate::common::handoff::Handoffs;
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Condvar, Mutex};
use raddle_sched::{Config, Driver, Handoff, Pool, Unpark, block_in_place, spawn, yield_now};

fn check(body: impl Fn(&Handoffs) + Send + Sync + 'static) {
    check_bounded(2, body);
}

fn check_bounded(preemptions: usize, body: impl Fn(&Handoffs) + Send + Sync + 'static) {
    let model = Model::new().preemptions(preemptions).branches(20_000);
    model.check(move || {
        let handoffs = Handoffs::default();
        body(&handoffs);
        handoffs.join();
    });
}

/// A gate that is opened once and that threads wait at.
#[derive(Clone, Default)]
struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    fn open(&self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }

    fn wait(&self) {
        let mut open = self.0.0.lock();
        while !*open {
            open = self.0.1.wait(open);
        }
    }
}

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The other thread arrives before the function returns, while it returns, or after it. Either
/// thread runs the remaining task and shuts the pool down.
#[test]
fn the_worker_is_taken_or_taken_back() {
    check(|handoffs| {
        let pool = handoffs.pool(Config::default());
        let task = pool.handle().spawn(async {
            let other = spawn(async { 3 });
            block_in_place(|| 4) + other.await.unwrap()
        });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    });
}

/// The thread that the first function requests finds the worker in the first or the second
/// function, or in neither; then it is requested again.
#[test]
fn a_handoff_between_two_functions() {
    check(|handoffs| {
        let pool = handoffs.pool(Config::default());
        let task = pool.handle().spawn(async {
            block_in_place(|| ());
            block_in_place(|| 7)
        });
        assert_eq!(pool.handle().block_on(task).unwrap(), 7);
    });
}

/// The function waits for a task that only the other thread can run. Then the thread of the
/// handed-off poll completes a task of the worker's live list.
#[test]
fn a_function_waits_for_a_task_of_its_worker() {
    check(|handoffs| {
        let pool = handoffs.pool(Config::default());
        let task = pool.handle().spawn(async {
            let gate = Gate::default();
            let theirs = gate.clone();
            drop(spawn(async move { theirs.open() }));
            block_in_place(|| gate.wait());
        });
        pool.handle().block_on(task).unwrap();
    });
}

/// A task becomes ready in a handed-off poll while its worker goes to sleep.
#[test]
fn a_handed_off_poll_wakes_its_worker() {
    check(|handoffs| {
        let pool = handoffs.pool(Config::default());
        let done = Gate::default();
        let inside = done.clone();
        drop(pool.handle().spawn(async move {
            let gate = Gate::default();
            let theirs = gate.clone();
            drop(spawn(async move { theirs.open() }));
            block_in_place(|| gate.wait());
            yield_now().await;
            inside.open();
        }));
        done.wait();
    });
}

/// The shutdown comes at any time: before the task runs, while it blocks, while no thread drives
/// the worker, or while the handed-off poll ends.
fn shut_down_during_a_function(waits: bool) {
    check_bounded(3, move |handoffs| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let pool = handoffs.pool(Config::default());
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            block_in_place(|| ());
            if waits {
                pending::<()>().await;
            }
        }));
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn shutdown_against_a_task_that_completes() {
    shut_down_during_a_function(false);
}

#[test]
fn shutdown_against_a_task_that_waits() {
    shut_down_during_a_function(true);
}

/// Shuts down a pool after its poll was handed off.
#[test]
fn shutdown_against_a_handed_off_poll() {
    check(|handoffs| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let pool = handoffs.pool(Config::default());
        let begun = Gate::default();
        let inside = begun.clone();
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            let gate = Gate::default();
            let theirs = gate.clone();
            drop(spawn(async move { theirs.open() }));
            block_in_place(|| {
                gate.wait();
                inside.open();
            });
            pending::<()>().await;
        }));
        begun.wait();
        let metrics = pool.handle().metrics();
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert_eq!(metrics.alive_tasks(), 0);
    });
}

/// A driver that opens a gate when it is shut down.
struct GateDriver {
    unparked: Arc<Token>,
    shut_down: Gate,
}

/// The unpark token of the driver.
#[derive(Default)]
struct Token(Mutex<bool>, Condvar);

impl Unpark for Token {
    fn unpark(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }
}

/// The driver must return an `Arc` of std; the model has its own.
struct Unparker(Arc<Token>);

impl Unpark for Unparker {
    fn unpark(&self) {
        self.0.unpark();
    }
}

impl Driver for GateDriver {
    fn park(&mut self, timeout: Option<Duration>, _: usize) {
        let Token(unparked, changed) = &*self.unparked;
        let mut unparked = unparked.lock();
        while !*unparked && timeout.is_none() {
            unparked = changed.wait(unparked);
        }
        *unparked = false;
    }

    fn unparker(&self) -> std::sync::Arc<dyn Unpark> {
        std::sync::Arc::new(Unparker(self.unparked.clone()))
    }

    fn shutdown(&mut self) {
        self.shut_down.open();
    }
}

/// A pool of one worker with a driver, and the gate that the driver's shutdown opens.
fn pool_with_driver(handoffs: &Handoffs) -> (Pool, Gate) {
    let shut_down = Gate::default();
    let driver = GateDriver {
        unparked: Arc::default(),
        shut_down: shut_down.clone(),
    };
    let config = handoffs.config(Config::default());
    let pool = Pool::start(config, [Box::new(driver) as Box<dyn Driver>]).unwrap();
    (pool, shut_down)
}

/// The function waits for the driver's shutdown. The pool shuts down at any time: before the
/// function begins, while no thread drives the worker, or later. The pool has shut down when the
/// task is dropped.
#[test]
fn shutdown_against_a_function_that_waits_for_the_driver() {
    check(|handoffs| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let (pool, shut_down) = pool_with_driver(handoffs);
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            block_in_place(|| shut_down.wait());
        }));
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    });
}

/// The same without a thread for the worker: the system refuses the thread, or it does not arrive
/// before the shutdown. Either the thread that shuts the pool down or the thread of the task
/// retires the worker, whenever the function begins.
fn shut_down_without_another_thread(is_refused: bool) {
    Model::new().preemptions(3).branches(20_000).check(move || {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let shut_down = Gate::default();
        let driver = GateDriver {
            unparked: Arc::default(),
            shut_down: shut_down.clone(),
        };
        let kept = Arc::new(Mutex::new(Vec::new()));
        let keeps = kept.clone();
        let config = Config {
            handoff: Some(std::sync::Arc::new(move |handoff| match is_refused {
                true => drop(handoff),
                false => keeps.lock().push(handoff),
            })),
            ..Config::default()
        };
        let pool = Pool::start(config, [Box::new(driver) as Box<dyn Driver>]).unwrap();
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            block_in_place(|| shut_down.wait());
        }));
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        let late = std::mem::take(&mut *kept.lock());
        late.into_iter().for_each(Handoff::run);
    });
}

#[test]
fn shutdown_against_a_function_that_waits_for_the_driver_when_threads_are_refused() {
    shut_down_without_another_thread(true);
}

#[test]
fn shutdown_against_a_function_that_waits_for_the_driver_without_a_handoff() {
    shut_down_without_another_thread(false);
}

/// The function waits for the drop of a task that another thread wakes during the shutdown. The
/// task may enter the queue after the last worker has checked it.
#[test]
fn a_foreign_wake_against_the_release_of_a_handed_off_poll() {
    /// Opens a gate when it is dropped.
    struct OpensGate(Gate);
    impl Drop for OpensGate {
        fn drop(&mut self) {
            self.0.open();
        }
    }
    check_bounded(1, |handoffs| {
        model::stop_exploring();
        let pool = handoffs.pool(Config::default());
        let (dropped, begun) = (Gate::default(), Gate::default());
        let (opens, inside) = (OpensGate(dropped.clone()), begun.clone());
        let waker = Arc::new(Mutex::new(None::<Waker>));
        let theirs = waker.clone();
        drop(pool.handle().spawn(async move {
            drop(spawn(async move {
                let _opens = opens;
                std::future::poll_fn(|cx| {
                    *theirs.lock() = Some(cx.waker().clone());
                    inside.open();
                    Poll::<()>::Pending
                })
                .await;
            }));
            block_in_place(|| dropped.wait());
        }));
        begun.wait();
        let waker = waker.lock().take().unwrap();
        let metrics = pool.handle().metrics();
        model::explore();
        let waking = raddle_primitives::thread::spawn(move || waker.wake());
        drop(pool);
        waking.join().unwrap();
        assert_eq!(metrics.alive_tasks(), 0);
    });
}

/// The code after a blocking function does not see what a spawner does after its spawn.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_spawn_is_not_seen_after_a_function() {
    check(|handoffs| {
        let pool = handoffs.pool(Config::default());
        let race = Race::new();
        let theirs = race.clone();
        drop(pool.handle().spawn(async move {
            block_in_place(|| ());
            theirs.second();
        }));
        race.first();
    });
}
