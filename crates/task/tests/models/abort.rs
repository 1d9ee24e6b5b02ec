//! Models of an abort: the future is dropped once, by a run.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::common::{Memory, RunMode, Scheduler, Tally, Task, Value, Woken, join, poll, run};
use raddle_primitives::model::{self, Model};
use raddle_primitives::thread;

/// Aborts a task while it has its first run: it completes or is cancelled, and its joiner is woken.
/// All interleavings are explored.
#[test]
fn abort_against_the_first_run() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let (woken, waker) = Woken::new();
        assert!(poll(&mut handle, &waker).is_pending());
        let abort = handle.abort_handle();
        let aborting = thread::spawn(move || abort.abort());
        run(first);
        aborting.join().unwrap();
        assert!(woken.get());
        match join(handle) {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => assert!(error.is_cancelled()),
        }
        tally.check();
    });
}

/// Aborts a task that wakes itself, and is queued again without a trace in its state word. All
/// interleavings are explored.
#[test]
fn abort_against_a_wake_of_itself() {
    model::check(|| {
        let (tally, handle, mut flags) = Task::new(2, RunMode::Inline).self_waking().start();
        let abort = handle.abort_handle();
        let aborting = thread::spawn(move || abort.abort());
        flags.pop().unwrap().set().wake();
        aborting.join().unwrap();
        assert!(join(handle).unwrap_err().is_cancelled());
        drop(flags);
        tally.check();
    });
}

/// Aborts an idle task twice, and wakes it. Bounded.
#[test]
fn abort_against_abort_and_wake() {
    Model::new().preemptions(3).check(|| {
        let (tally, handle, mut flags) = Task::new(1, RunMode::Inline).start();
        let abort = handle.abort_handle();
        let aborting = thread::spawn(move || abort.abort());
        let waker = flags.pop().unwrap().set();
        let waking = thread::spawn(move || waker.wake());
        handle.abort();
        aborting.join().unwrap();
        waking.join().unwrap();
        match join(handle) {
            Ok(value) => assert_eq!(value, 7),
            Err(error) => assert!(error.is_cancelled()),
        }
        tally.check();
    });
}

/// Aborts a task that its own poll leaves idle at the same moment: it does not stay behind, and the
/// run that drops the future sees it as the poll left it. All interleavings are explored.
#[test]
fn abort_against_going_idle() {
    model::check(|| {
        let task = Task::new(1, RunMode::Inline);
        let abort = task.handle.abort_handle();
        let aborting = thread::spawn(move || abort.abort());
        let (tally, handle, flags) = task.start();
        aborting.join().unwrap();
        assert!(join(handle).unwrap_err().is_cancelled());
        drop(flags);
        tally.check();
    });
}

/// Cancels a task that is aborted at the same time. All interleavings are explored.
#[test]
fn abort_against_cancel() {
    model::check(|| {
        let Task {
            tally,
            first,
            handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let abort = handle.abort_handle();
        let aborting = thread::spawn(move || abort.abort());
        drop(first);
        assert!(join(handle).unwrap_err().is_cancelled());
        aborting.join().unwrap();
        tally.check();
    });
}

/// Never completes; its drop reads what the aborting thread wrote.
struct ReadAtDrop(Memory);

impl Future for ReadAtDrop {
    type Output = Value;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Value> {
        Poll::Pending
    }
}

impl Drop for ReadAtDrop {
    fn drop(&mut self) {
        self.0.read();
    }
}

/// The run that an abort leads to sees what was done before the abort. All interleavings are
/// explored.
#[test]
fn an_abort_publishes_earlier_writes() {
    model::check(|| {
        let tally = Tally::default();
        let memory = Memory::new();
        let future = ReadAtDrop(memory.clone());
        let (first, handle) = raddle_task::spawn(future, Scheduler::new(&tally, RunMode::Inline));
        let aborting = thread::spawn(move || {
            memory.write();
            handle.abort();
            handle
        });
        run(first);
        let aborted = join(aborting.join().unwrap());
        assert!(aborted.unwrap_err().is_cancelled());
        tally.check();
    });
}

/// The run that an abort leads to does not see what is done after the abort.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_what_follows_an_abort_is_not_seen_by_the_drop() {
    model::check(|| {
        let tally = Tally::default();
        let memory = Memory::new();
        let future = ReadAtDrop(memory.clone());
        let (first, handle) = raddle_task::spawn(future, Scheduler::new(&tally, RunMode::Inline));
        let aborting = thread::spawn(move || {
            handle.abort();
            memory.write();
            handle
        });
        run(first);
        drop(aborting.join().unwrap());
    });
}
