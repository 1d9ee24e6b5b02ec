//! Models of a worker that changes threads during a poll. A worker that two
//! threads drive races for its live list; one that no thread drives is a deadlock.
#![cfg(raddle_loom)]

#[path = "common/handoff.rs"]
mod handoff;

use std::future::pending;
use std::task::{Poll, Waker};
use std::time::Duration;

use handoff::Handoffs;
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

/// The other thread comes before or after the function has returned, or while
/// it returns; either of them runs what is left, and ends the pool.
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

/// The other thread, asked for by the first function, finds the worker in the
/// second, or in neither, when it is asked for again.
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

/// The function waits for a task that only the other thread can run; then the
/// thread of a handed-off poll completes a task of the worker's list.
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

/// A task that is due again in a handed-off poll, whose worker goes to sleep.
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

/// The end comes at any time: before the task is run, while it blocks, while the
/// worker is driven by no thread, while the handed-off poll ends.
fn end_against_a_function(waits: bool) {
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
    end_against_a_function(false);
}

#[test]
fn shutdown_against_a_task_that_waits() {
    end_against_a_function(true);
}

/// The end, when the poll is handed off for certain.
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
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    });
}

/// A driver whose end opens a gate.
struct GateDriver {
    unparked: Arc<Token>,
    ends: Gate,
}

/// What the driver waits for.
#[derive(Default)]
struct Token(Mutex<bool>, Condvar);

impl Unpark for Token {
    fn unpark(&self) {
        *self.0.lock() = true;
        self.1.notify_all();
    }
}

/// An `Arc` of the model is not one of std's, which the driver has to give.
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
        self.ends.open();
    }
}

/// A pool of one worker with a driver, and the gate that the driver's end opens.
fn pool_with_driver(handoffs: &Handoffs) -> (Pool, Gate) {
    let ends = Gate::default();
    let driver = GateDriver {
        unparked: Arc::default(),
        ends: ends.clone(),
    };
    let config = handoffs.config(Config::default());
    let pool = Pool::start(config, [Box::new(driver) as Box<dyn Driver>]).unwrap();
    (pool, ends)
}

/// The function waits for the driver's end. The end of the pool comes at any time:
/// before the function begins, while no thread drives the worker, or later. The
/// pool has ended when the task is dropped.
#[test]
fn shutdown_against_a_function_that_waits_for_the_driver() {
    check(|handoffs| {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let (pool, ends) = pool_with_driver(handoffs);
        drop(pool.handle().spawn(async move {
            let _counted = counted;
            block_in_place(|| ends.wait());
        }));
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
    });
}

/// The same without a thread for the worker, which the system refuses, or which
/// does not come before the end: it is retired by the thread that ends the pool,
/// or by the one that the task is on, whenever the function begins.
fn the_end_without_another_thread(is_refused: bool) {
    Model::new().preemptions(3).branches(20_000).check(move || {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Counted(count.clone());
        let ends = Gate::default();
        let driver = GateDriver {
            unparked: Arc::default(),
            ends: ends.clone(),
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
            block_in_place(|| ends.wait());
        }));
        drop(pool);
        assert_eq!(count.load(Ordering::Relaxed), 1);
        let late = std::mem::take(&mut *kept.lock());
        late.into_iter().for_each(Handoff::run);
    });
}

#[test]
fn shutdown_against_a_function_that_waits_for_the_driver_when_threads_are_refused() {
    the_end_without_another_thread(true);
}

#[test]
fn shutdown_against_a_function_that_waits_for_the_driver_without_a_handoff() {
    the_end_without_another_thread(false);
}

/// The function waits for the drop of a task that another thread wakes while the
/// pool ends: the task may come to the queue when no worker looks there any more.
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
        model::explore();
        let waking = raddle_primitives::thread::spawn(move || waker.wake());
        drop(pool);
        waking.join().unwrap();
    });
}

/// What a spawner does after its spawn is not seen by what follows a function.
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
