//! Models of live lists: a task that completes on another thread than its list's leaves the list
//! there, and is freed once.

use std::future::{Future, poll_fn};
use std::task::Poll;

use crate::common::{Memory, RunMode, Scheduler, Tally, Task, Woken, join, poll};
use raddle_primitives::model::{self, Model, Race};
use raddle_primitives::sync::{Arc, Mutex};
use raddle_primitives::thread;
use raddle_task::{LiveList, Outcome, Runnable};

fn run_elsewhere(task: Runnable) {
    match task.run() {
        Outcome::CompleteElsewhere => {}
        outcome => panic!("{outcome:?} in place of a task of another thread"),
    }
}

/// Two tasks leave on two threads, while their list's thread takes slots back, uses one for a third
/// task, and frees what is left. Bounded.
#[test]
fn two_threads_leave_a_list() {
    Model::new().preemptions(3).check(|| {
        let live = LiveList::new();
        let mut tallies = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..2 {
            let task = Task::new(0, RunMode::Inline);
            live.adopt(&task.first);
            drop(task.handle);
            tallies.push(task.tally);
            let first = task.first;
            threads.push(thread::spawn(move || run_elsewhere(first)));
        }
        live.reclaim();
        let third = Task::new(0, RunMode::Inline);
        live.adopt(&third.first);
        drop(third.handle);
        tallies.push(third.tally);
        assert!(matches!(third.first.run_in(&live), Outcome::Complete));
        live.reclaim();
        for thread in threads {
            thread.join().unwrap();
        }
        assert!(live.is_empty());
        drop(live);
        for tally in tallies {
            tally.check();
        }
    });
}

/// A task leaves while its joiner takes the output, and while the thread that completed it wakes
/// the joiner. All interleavings are explored.
#[test]
fn leaving_against_join() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let (woken, waker) = Woken::new();
        assert!(poll(&mut handle, &waker).is_pending());
        let live = LiveList::new();
        live.adopt(&first);
        let running = thread::spawn(move || run_elsewhere(first));
        live.reclaim();
        if handle.is_finished() {
            assert_eq!(join(handle).unwrap(), 7);
        } else {
            drop(handle);
        }
        running.join().unwrap();
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
        tally.check();
        assert!(live.is_empty());
    });
}

/// A task's handle is dropped while the task leaves: either may free it. Its list is dropped as
/// soon as it is empty. All interleavings are explored.
#[test]
fn leaving_against_the_drop_of_the_handle_and_of_the_list() {
    model::check(|| {
        let Task {
            tally,
            first,
            handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let live = LiveList::new();
        live.adopt(&first);
        let owner = thread::spawn(move || {
            live.reclaim();
            if live.is_empty() {
                drop(live);
            } else {
                drop(handle);
                drop(live);
            }
        });
        run_elsewhere(first);
        owner.join().unwrap();
        tally.check();
    });
}

/// A handle is polled while a task of another thread's list completes. All interleavings are
/// explored.
#[test]
fn join_against_completion_elsewhere() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let live = LiveList::new();
        live.adopt(&first);
        let joining = thread::spawn(move || {
            let (woken, waker) = Woken::new();
            match poll(&mut handle, &waker) {
                Poll::Ready(output) => assert_eq!(output.unwrap(), 7),
                Poll::Pending => return Some((handle, woken)),
            }
            None
        });
        run_elsewhere(first);
        if let Some((handle, woken)) = joining.join().unwrap() {
            assert!(woken.get(), "the join waker was not woken");
            assert_eq!(join(handle).unwrap(), 7);
        }
        assert!(live.is_empty());
        tally.check();
    });
}

/// The list is dropped while a task of it completes on another thread, which still wakes the joiner
/// then. All interleavings are explored.
#[test]
fn a_list_dropped_against_completion() {
    model::check(|| {
        let Task {
            tally,
            first,
            mut handle,
            ..
        } = Task::new(0, RunMode::Inline);
        let (woken, waker) = Woken::new();
        assert!(poll(&mut handle, &waker).is_pending());
        let live = LiveList::new();
        live.adopt(&first);
        let running = thread::spawn(move || run_elsewhere(first));
        drop(live);
        drop(handle);
        running.join().unwrap();
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
        tally.check();
    });
}

/// Two tasks leave on two threads while their list is dropped: one of the three frees the page.
/// Bounded.
#[test]
fn a_list_dropped_against_two_that_leave() {
    Model::new().preemptions(3).check(|| {
        let live = LiveList::new();
        let mut tallies = Vec::new();
        let mut threads = Vec::new();
        for _ in 0..2 {
            let task = Task::new(0, RunMode::Inline);
            live.adopt(&task.first);
            drop(task.handle);
            tallies.push(task.tally);
            let first = task.first;
            threads.push(thread::spawn(move || run_elsewhere(first)));
        }
        drop(live);
        for thread in threads {
            thread.join().unwrap();
        }
        for tally in tallies {
            tally.check();
        }
    });
}

/// All tasks of a list are aborted while one of them is being run on another thread, and one is
/// idle. All interleavings are explored.
#[test]
fn abort_all_against_a_run() {
    model::check(|| {
        let live = LiveList::new();
        let running = Task::new(0, RunMode::Inline);
        live.adopt(&running.first);
        let idle = Task::new(1, RunMode::Inline);
        live.adopt(&idle.first);
        let (idle_tally, idle_handle, flags) = idle.start();
        let first = running.first;
        drop(running.handle);
        let thread = thread::spawn(move || run_elsewhere(first));
        let mut due = Vec::new();
        live.abort_all(|task| due.push(task));
        assert_eq!(due.len(), 1);
        for task in due {
            assert!(matches!(task.run_in(&live), Outcome::Complete));
        }
        assert!(join(idle_handle).unwrap_err().is_cancelled());
        drop(flags);
        idle_tally.check();
        thread.join().unwrap();
        running.tally.check();
        assert!(live.is_empty());
    });
}

/// All tasks of a list are aborted while two of them complete on another thread: the references of
/// both may be left to the list's thread. Bounded.
#[test]
fn abort_all_against_two_runs() {
    Model::new().preemptions(2).check(|| {
        let live = LiveList::new();
        let (tasks, tallies): (Vec<_>, Vec<_>) = (0..2)
            .map(|_| {
                let task = Task::new(0, RunMode::Inline);
                live.adopt(&task.first);
                drop(task.handle);
                (task.first, task.tally)
            })
            .unzip();
        let thread = thread::spawn(move || tasks.into_iter().for_each(run_elsewhere));
        live.abort_all(|_| unreachable!("no task is idle"));
        thread.join().unwrap();
        assert!(live.is_empty());
        for tally in tallies {
            tally.check();
        }
    });
}

/// Wakes itself in its first poll and waits forever in the second. The model checks whether its
/// polls are ordered.
fn yields() -> impl Future<Output = ()> + Send + 'static {
    let (memory, mut polls) = (Memory::new(), 0);
    poll_fn(move |cx| {
        memory.write();
        polls += 1;
        if polls == 1 {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    })
}

/// Runs a task of another thread's list until it is idle or has completed. Returns whether it has
/// completed.
fn run_on_elsewhere(mut outcome: Outcome) -> bool {
    loop {
        match outcome {
            Outcome::Again(task) => outcome = task.run(),
            Outcome::CompleteElsewhere => return true,
            Outcome::Idle => return false,
            Outcome::Complete => panic!("it is in the list of another thread"),
        }
    }
}

/// Runs the only task of a list to completion, after an abort while another thread ran the task.
fn end(live: &LiveList, due: Option<Runnable>, completed: bool) {
    match (due, completed) {
        (Some(task), false) => match task.run_in(live) {
            Outcome::Complete | Outcome::CompleteElsewhere => {}
            outcome => panic!("{outcome:?} of a task that was aborted"),
        },
        (None, true) => {}
        (None, false) => panic!("the abort was lost"),
        (Some(_), true) => panic!("a task that is complete is due"),
    }
    assert!(live.is_empty());
}

fn abort_one(live: &LiveList) -> Option<Runnable> {
    let mut due = None;
    live.abort_all(|task| due = Some(task));
    due
}

/// A task that has woken itself is queued in the state running, not notified, and only its list can
/// reach it: the reference count is one. Another thread runs it again while the list's thread
/// aborts it. All interleavings are explored.
#[test]
fn abort_all_against_a_task_that_woke_itself() {
    model::check(|| {
        let tally = Tally::default();
        let (first, handle) = raddle_task::spawn(yields(), Scheduler::new(&tally, RunMode::Inline));
        drop(handle);
        let live = LiveList::new();
        let again = first.run_in(&live);
        assert!(matches!(again, Outcome::Again(_)) && live.len() == 1);
        let aborting = thread::spawn(move || {
            let due = abort_one(&live);
            (live, due)
        });
        let completed = run_on_elsewhere(again);
        let (live, due) = aborting.join().unwrap();
        end(&live, due, completed);
        tally.check();
    });
}

/// As above, from the first poll on. Only its list can reach a task without a handle; the start of
/// a run must allow for that. All interleavings are explored.
fn abort_all_against_the_first_poll(is_detached: bool) {
    model::check(move || {
        let tally = Tally::default();
        let (first, handle) = raddle_task::spawn(yields(), Scheduler::new(&tally, RunMode::Inline));
        let handle = (!is_detached).then_some(handle);
        let live = LiveList::new();
        live.adopt(&first);
        let aborting = thread::spawn(move || {
            let due = abort_one(&live);
            (live, due)
        });
        let completed = run_on_elsewhere(first.run());
        let (live, due) = aborting.join().unwrap();
        end(&live, due, completed);
        drop(handle);
        tally.check();
    });
}

#[test]
fn abort_all_against_a_wake_of_itself() {
    abort_all_against_the_first_poll(false);
}

#[test]
fn abort_all_against_a_detached_task_that_wakes_itself() {
    abort_all_against_the_first_poll(true);
}

/// A list that one thread at a time uses, except for fields that never change.
struct HandedOffList(LiveList);

// SAFETY: the model's first thread leaves the list alone from the moment that it goes to the second
// until that has ended, as a thread in a handed-off poll does (`crates/sched/src/handoff.rs`).
unsafe impl Sync for HandedOffList {}

/// A list moves to another thread in the first poll of a task, which then wakes itself: another
/// thread may now change the state word, although the reference count is one. All interleavings are
/// explored.
#[test]
fn abort_all_against_a_poll_that_the_list_has_left() {
    model::check(|| {
        let tally = Tally::default();
        let live = Arc::new(HandedOffList(LiveList::new()));
        let aborting = Arc::new(Mutex::new(None));
        let (moving, mover) = (live.clone(), aborting.clone());
        let mut yields = Box::pin(yields());
        let future = poll_fn(move |cx| {
            let mut mover = mover.lock();
            if mover.is_none() {
                let live = moving.clone();
                assert!(live.0.prepare_handoff());
                *mover = Some(thread::spawn(move || {
                    let live = live;
                    abort_one(&live.0)
                }));
            }
            drop(mover);
            yields.as_mut().poll(cx)
        });
        let (first, handle) = raddle_task::spawn(future, Scheduler::new(&tally, RunMode::Inline));
        drop(handle);
        let completed = run_on_elsewhere(first.run_in(&live.0));
        let aborting = aborting.lock().take();
        let due = aborting.unwrap().join().unwrap();
        end(&live.0, due, completed);
        tally.check();
    });
}

/// What a thread does after it has run a task of another's list is not seen by the list that finds
/// the task gone.
#[test]
#[should_panic(expected = "Causality violation")]
fn canary_a_write_after_a_run_elsewhere_is_not_seen_by_the_list() {
    model::check(|| {
        let Task {
            tally,
            first,
            handle,
            ..
        } = Task::new(0, RunMode::Inline);
        drop(handle);
        let live = LiveList::new();
        live.adopt(&first);
        let race = Race::new();
        let theirs = race.clone();
        let owner = thread::spawn(move || {
            live.reclaim();
            if live.is_empty() {
                theirs.second();
            }
            live
        });
        run_elsewhere(first);
        race.first();
        drop(owner.join().unwrap());
        tally.check();
    });
}
