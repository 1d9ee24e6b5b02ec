//! Models of completion: the output, the join waker and the memory go to one owner each.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::task::{Poll, RawWakerVTable, Waker};

use crate::common::{Flag, RunMode, Task, Woken, join, poll, run};
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::thread;

/// Two wakers of a task end on two threads while it completes on one of them: the first sets the
/// only flag that is not set, the second does `end`.
fn last_waker(joined: bool, end: fn(Waker)) {
    let (tally, handle, mut flags) = Task::new(2, RunMode::Inline).start();
    let second = flags.pop().unwrap().set();
    let first = flags.pop().unwrap();
    let handle = joined.then_some(handle);
    let ending = thread::spawn(move || end(second));
    first.set().wake();
    ending.join().unwrap();
    if let Some(handle) = handle {
        assert_eq!(join(handle).unwrap(), 7);
    }
    tally.check();
}

/// All interleavings are explored.
#[test]
fn a_detached_completion_against_the_last_waker_dropped() {
    model::check(|| last_waker(false, drop));
}

/// All interleavings are explored.
#[test]
fn a_detached_completion_against_the_last_waker_woken() {
    model::check(|| last_waker(false, Waker::wake));
}

/// All interleavings are explored.
#[test]
fn a_detached_completion_against_the_last_waker_woken_by_reference() {
    model::check(|| last_waker(false, |waker| waker.wake_by_ref()));
}

/// All interleavings are explored.
#[test]
fn a_joined_completion_against_the_last_waker_dropped() {
    model::check(|| last_waker(true, drop));
}

/// All interleavings are explored.
#[test]
fn a_joined_completion_against_the_last_waker_woken() {
    model::check(|| last_waker(true, Waker::wake));
}

/// Two wakers outlive the task and its handle and are given up by two threads. Both have read the
/// cell's scheduler, and one of them frees it.
fn wakers_after_completion(end: fn(Waker)) {
    let (tally, handle, mut flags) = Task::new(2, RunMode::Inline).start();
    drop(handle);
    let wake = move |flag: Flag| {
        let waker = flag.set();
        waker.wake_by_ref();
        end(waker);
    };
    let flag = flags.pop().unwrap();
    let other = thread::spawn(move || wake(flag));
    wake(flags.pop().unwrap());
    other.join().unwrap();
    tally.check();
}

/// Bounded.
#[test]
fn wakers_dropped_after_completion() {
    Model::new()
        .preemptions(3)
        .check(|| wakers_after_completion(drop));
}

/// Bounded.
#[test]
fn wakers_woken_after_completion() {
    Model::new()
        .preemptions(3)
        .check(|| wakers_after_completion(Waker::wake));
}

/// The handle is dropped while the task completes (tokio 2044); a waker that it has stored is
/// dropped or woken. All interleavings are explored.
fn detach(stored: bool, other_waker: bool) {
    let mut task = Task::new(usize::from(other_waker), RunMode::Inline);
    let tally = task.tally.clone();
    let (woken, waker) = Woken::new();
    if stored {
        assert!(poll(&mut task.handle, &waker).is_pending());
    }
    drop(waker);
    if other_waker {
        let (_, handle, mut flags) = task.start();
        let waker = flags.pop().unwrap().set();
        let completing = thread::spawn(move || waker.wake());
        drop(handle);
        completing.join().unwrap();
    } else {
        let handle = task.handle;
        let dropping = thread::spawn(move || drop(handle));
        run(task.first);
        dropping.join().unwrap();
    }
    assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    tally.check();
}

/// tokio 2044. All interleavings are explored.
#[test]
fn a_handle_dropped_against_the_first_run() {
    model::check(|| detach(false, false));
}

/// All interleavings are explored.
#[test]
fn a_handle_with_a_waker_dropped_against_the_first_run() {
    model::check(|| detach(true, false));
}

/// All interleavings are explored.
#[test]
fn a_handle_dropped_against_a_later_run() {
    model::check(|| detach(false, true));
}

/// All interleavings are explored.
#[test]
fn a_handle_with_a_waker_dropped_against_a_later_run() {
    model::check(|| detach(true, true));
}

/// A waker that cannot be cloned.
static STUBBORN: RawWakerVTable =
    RawWakerVTable::new(|_| resume_unwind(Box::new(())), |_| {}, |_| {}, |_| {});

/// A handle that has read its waker's place, but left no waker there, is dropped while the task
/// completes and is freed. All interleavings are explored.
#[test]
fn a_handle_without_a_waker_dropped_against_the_first_run() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let dropping = thread::spawn(move || {
            // SAFETY: the table's functions do not read the pointer.
            let waker = unsafe { Waker::new(std::ptr::null(), &STUBBORN) };
            let _ = catch_unwind(AssertUnwindSafe(|| poll(&mut handle, &waker)));
            drop(handle);
        });
        run(first);
        dropping.join().unwrap();
        tally.check();
    });
}

/// The handle is dropped by one thread, an abort handle by another, while a third completes the
/// task. Bounded.
#[test]
fn handles_dropped_against_completion() {
    Model::new().preemptions(3).check(|| {
        let task = Task::new(0, RunMode::Inline);
        let (tally, first, handle) = (task.tally, task.first, task.handle);
        let abort = handle.abort_handle();
        let completing = thread::spawn(move || run(first));
        let aborting = thread::spawn(move || drop(abort));
        drop(handle);
        completing.join().unwrap();
        aborting.join().unwrap();
        tally.check();
    });
}

/// A handle is dropped against completion: one of the two drops the output, and not the drop of the
/// cell, which an abort handle keeps. All interleavings are explored.
#[test]
fn an_output_that_no_handle_takes_is_dropped_at_completion() {
    model::check(|| {
        let task = Task::new(0, RunMode::Inline);
        let (tally, first, handle) = (task.tally, task.first, task.handle);
        let abort = handle.abort_handle();
        let completing = thread::spawn(move || run(first));
        drop(handle);
        completing.join().unwrap();
        assert_eq!(tally.outputs(), 0);
        drop(abort);
        tally.check();
    });
}

/// The handle is polled with one waker and another while the task completes (tokio 2087): the
/// output comes once, or the last waker is woken. All interleavings are explored.
#[test]
fn alternating_join_wakers_against_completion() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let (first_woken, first_waker) = Woken::new();
        let (second_woken, second_waker) = Woken::new();
        let completing = thread::spawn(move || run(first));
        let mut last = None;
        let mut output = None;
        for (woken, waker) in [
            (&first_woken, &first_waker),
            (&second_woken, &second_waker),
            (&second_woken, &second_waker),
            (&first_woken, &first_waker),
        ] {
            if let Poll::Ready(ready) = poll(&mut handle, waker) {
                output = Some(ready);
                break;
            }
            last = Some(woken);
        }
        completing.join().unwrap();
        if output.is_none() {
            assert!(last.unwrap().get(), "the join waker was not woken");
            output = Some(join(handle));
        } else {
            drop(handle);
        }
        assert_eq!(output.unwrap().unwrap(), 7);
        drop((first_waker, second_waker));
        assert_eq!(std::sync::Arc::strong_count(&first_woken), 1);
        assert_eq!(std::sync::Arc::strong_count(&second_woken), 1);
        tally.check();
    });
}

/// The handle is polled once while the task completes: if it returns the output, the waker that it
/// had brought is dropped by then, and not with the cell, which an abort handle keeps. All
/// interleavings are explored.
#[test]
fn a_poll_that_finds_the_output_leaves_no_waker() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let abort = handle.abort_handle();
        let (woken, waker) = Woken::new();
        let completing = thread::spawn(move || run(first));
        let polled = poll(&mut handle, &waker);
        drop(waker);
        if polled.is_ready() {
            assert_eq!(std::sync::Arc::strong_count(&woken), 1, "a waker is left");
        }
        completing.join().unwrap();
        drop(handle);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1, "a waker is left");
        drop(abort);
        tally.check();
    });
}

/// A thread that sees that the task is finished gets the output. All interleavings are explored.
#[test]
fn is_finished_against_completion() {
    model::check(|| {
        let Task {
            tally,
            first,
            handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let completing = thread::spawn(move || run(first));
        if handle.is_finished() {
            assert_eq!(join(handle).unwrap(), 7);
        } else {
            drop(handle);
        }
        completing.join().unwrap();
        tally.check();
    });
}

/// What a thread does after the run is not seen by a thread that finds the task complete.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_the_run_is_not_seen_by_the_handle() {
    model::check(|| {
        let race = Race::new();
        let theirs = race.clone();
        let Task { first, handle, .. } = Task::new(0, RunMode::Inline);
        let looking = thread::spawn(move || {
            if handle.is_finished() {
                theirs.second();
            }
        });
        run(first);
        race.first();
        looking.join().unwrap();
    });
}
