//! Models of the tasks of a local list that other threads wake: they are taken, or a driver is
//! woken for them.
#![cfg(raddle_loom)]

#[path = "models/woken.rs"]
mod woken;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_task::{Arrivals, JoinHandle, LocalList, LocalRunnable, ScheduleLocal};
use woken::Woken;

/// The part of a set that the threads share.
#[derive(Default)]
struct Shared(Arrivals);

impl ScheduleLocal for Shared {
    fn schedule(&self, task: LocalRunnable) {
        self.0.push(task);
    }
}

/// The set on its thread.
#[derive(Default)]
struct Set {
    tasks: LocalList,
    shared: Arc<Shared>,
    due: VecDeque<LocalRunnable>,
}

impl Set {
    /// Adds a task that waits, and returns its waker.
    fn waiting_task(&self) -> (Waker, JoinHandle<()>) {
        let place = Arc::new(Mutex::new(None));
        let theirs = place.clone();
        let future = poll_fn(move |cx| match theirs.lock().replace(cx.waker().clone()) {
            None => Poll::Pending,
            Some(_) => Poll::Ready(()),
        });
        let (task, handle) = self.tasks.spawn(future, self.shared.clone());
        assert!(self.tasks.run(task).is_none());
        let waker = place.lock().clone();
        (waker.expect("the task was polled"), handle)
    }

    /// Adds a driver that says whether it was woken.
    fn driver(&self) -> (usize, std::sync::Arc<Woken>, Waker) {
        let (woken, waker) = Woken::new();
        (self.shared.0.join(), woken, waker)
    }

    /// Runs the tasks that have arrived, and returns their number.
    fn run(&mut self) -> usize {
        self.shared.0.take(&mut self.due);
        let tasks = self.due.len();
        for task in self.due.drain(..) {
            assert!(self.tasks.run(task).is_none());
        }
        tasks
    }
}

/// A driver that registers and looks, or the other way round, against a wake.
fn a_driver_against_a_wake(registers_first: bool) {
    let mut set = Set::default();
    let (task, handle) = set.waiting_task();
    let (driver, woken, waker) = set.driver();
    let waking = thread::spawn(move || task.wake());
    if registers_first {
        set.shared.0.register(driver, &waker);
    }
    let ran = set.run();
    if !registers_first {
        set.shared.0.register(driver, &waker);
    }
    waking.join().unwrap();
    assert!(ran == 1 || woken.get(), "the task waits for ever");
    assert_eq!(ran + set.run(), 1);
    assert!(handle.is_finished());
    set.shared.0.leave(driver);
}

/// All interleavings are explored.
#[test]
fn a_task_that_arrives_is_taken_or_wakes_the_driver() {
    model::check(|| a_driver_against_a_wake(true));
}

/// A driver that has a waker from before registers another. All interleavings are explored.
#[test]
fn an_arrival_against_a_driver_that_changes_its_waker() {
    model::check(|| {
        let mut set = Set::default();
        let (task, _handle) = set.waiting_task();
        let (driver, _, waker) = set.driver();
        set.shared.0.register(driver, &waker);
        let waking = thread::spawn(move || task.wake());
        let (woken, waker) = Woken::new();
        set.shared.0.register(driver, &waker);
        let ran = set.run();
        waking.join().unwrap();
        assert!(ran == 1 || woken.get(), "the task waits for ever");
        set.run();
        set.shared.0.leave(driver);
    });
}

/// One of two drivers leaves, and leaves the task to the other. All interleavings are explored.
#[test]
fn an_arrival_against_a_driver_that_leaves() {
    model::check(|| {
        let mut set = Set::default();
        let (task, _handle) = set.waiting_task();
        let (leaves, _, waker) = set.driver();
        set.shared.0.register(leaves, &waker);
        let (stays, woken, waker) = set.driver();
        set.shared.0.register(stays, &waker);
        let waking = thread::spawn(move || task.wake());
        set.shared.0.leave(leaves);
        waking.join().unwrap();
        assert!(woken.get(), "the task waits for ever");
        assert_eq!(set.run(), 1);
        set.shared.0.leave(stays);
    });
}

/// Two tasks arrive from two threads: each is taken, or wakes the driver. Bounded at three
/// preemptions.
#[test]
fn two_arrivals_against_a_driver() {
    Model::new().preemptions(3).check(|| {
        let mut set = Set::default();
        let (first, _first) = set.waiting_task();
        let (second, _second) = set.waiting_task();
        let (driver, woken, waker) = set.driver();
        let waking = [first, second].map(|task| thread::spawn(move || task.wake()));
        set.shared.0.register(driver, &waker);
        let ran = set.run();
        for thread in waking {
            thread.join().unwrap();
        }
        assert!(ran == 2 || woken.get(), "a task waits for ever");
        assert_eq!(ran + set.run(), 2);
        set.shared.0.leave(driver);
    });
}

/// The thread of the set shuts its tasks down, and waits for a task that another thread has woken
/// but not pushed yet. All interleavings are explored.
#[test]
fn a_shutdown_waits_for_a_task_that_is_being_queued() {
    model::check(|| {
        let mut set = Set::default();
        let (task, handle) = set.waiting_task();
        let waking = thread::spawn(move || task.wake());
        let shared = set.shared.clone();
        set.tasks.abort_all(|task| shared.schedule(task));
        loop {
            set.run();
            if set.tasks.is_empty() {
                break;
            }
            set.shared.0.wait();
        }
        assert!(handle.is_finished());
        waking.join().unwrap();
    });
}

/// A driver that checks before it registers misses a task that arrives in between.
#[test]
#[should_panic(expected = "the task waits for ever")]
fn canary_a_driver_that_registers_after_its_look_is_caught() {
    model::check(|| a_driver_against_a_wake(false));
}
