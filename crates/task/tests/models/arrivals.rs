//! Models of the tasks of a local list that other threads wake: they are taken, or a poller is
//! woken for them.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use crate::common::Woken;
use raddle_primitives::model::{self, Model};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_task::{Arrivals, JoinHandle, LocalList, LocalRunnable, ScheduleLocal};

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

    /// Adds a poller, and a waker of it that records whether it was woken.
    fn add_poller(&self) -> (usize, std::sync::Arc<Woken>, Waker) {
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

/// A poller registers its waker and then takes the tasks, or the other way round, while a task is
/// woken.
fn a_poller_against_a_wake(registers_first: bool) {
    let mut set = Set::default();
    let (task, handle) = set.waiting_task();
    let (poller, woken, waker) = set.add_poller();
    let waking = thread::spawn(move || task.wake());
    if registers_first {
        set.shared.0.register(poller, &waker);
    }
    let ran = set.run();
    if !registers_first {
        set.shared.0.register(poller, &waker);
    }
    waking.join().unwrap();
    assert!(ran == 1 || woken.get(), "the task waits for ever");
    assert_eq!(ran + set.run(), 1);
    assert!(handle.is_finished());
    set.shared.0.leave(poller);
}

/// All interleavings are explored.
#[test]
fn a_task_that_arrives_is_taken_or_wakes_the_poller() {
    model::check(|| a_poller_against_a_wake(true));
}

/// A poller that has registered a waker registers another. All interleavings are explored.
#[test]
fn an_arrival_against_a_poller_that_changes_its_waker() {
    model::check(|| {
        let mut set = Set::default();
        let (task, _handle) = set.waiting_task();
        let (poller, _, waker) = set.add_poller();
        set.shared.0.register(poller, &waker);
        let waking = thread::spawn(move || task.wake());
        let (woken, waker) = Woken::new();
        set.shared.0.register(poller, &waker);
        let ran = set.run();
        waking.join().unwrap();
        assert!(ran == 1 || woken.get(), "the task waits for ever");
        set.run();
        set.shared.0.leave(poller);
    });
}

/// One of two pollers leaves, and leaves the task to the other. All interleavings are explored.
#[test]
fn an_arrival_against_a_poller_that_leaves() {
    model::check(|| {
        let mut set = Set::default();
        let (task, _handle) = set.waiting_task();
        let (leaves, _, waker) = set.add_poller();
        set.shared.0.register(leaves, &waker);
        let (stays, woken, waker) = set.add_poller();
        set.shared.0.register(stays, &waker);
        let waking = thread::spawn(move || task.wake());
        set.shared.0.leave(leaves);
        waking.join().unwrap();
        assert!(woken.get(), "the task waits for ever");
        assert_eq!(set.run(), 1);
        set.shared.0.leave(stays);
    });
}

/// Two tasks arrive from two threads: each is taken, or wakes the poller. Bounded at three
/// preemptions.
#[test]
fn two_arrivals_against_a_poller() {
    Model::new().preemptions(3).check(|| {
        let mut set = Set::default();
        let (first, _first) = set.waiting_task();
        let (second, _second) = set.waiting_task();
        let (poller, woken, waker) = set.add_poller();
        let waking = [first, second].map(|task| thread::spawn(move || task.wake()));
        set.shared.0.register(poller, &waker);
        let ran = set.run();
        for thread in waking {
            thread.join().unwrap();
        }
        assert!(ran == 2 || woken.get(), "a task waits for ever");
        assert_eq!(ran + set.run(), 2);
        set.shared.0.leave(poller);
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

/// A poller that checks before it registers misses a task that arrives in between.
#[test]
#[should_panic(expected = "the task waits for ever")]
fn canary_a_poller_that_registers_after_its_check_is_caught() {
    model::check(|| a_poller_against_a_wake(false));
}
