//! Live lists: they end every task that they have adopted.
#![cfg(not(raddle_loom))]

mod common;

use std::future::pending;
use std::num::NonZeroU32;
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::{Executor, Gate, join};
use raddle_task::{Completed, CompletedStack, LiveList, Outcome, Runnable};

const OWNER: NonZeroU32 = NonZeroU32::new(3).unwrap();

fn elsewhere(outcome: Outcome) -> Completed {
    match outcome {
        Outcome::CompleteElsewhere(completed) => completed,
        outcome => panic!("{outcome:?} in place of a task that is in another list"),
    }
}

/// Adopts `count` tasks that never complete, and leaves them idle.
fn idle(executor: &Executor, live: &LiveList, count: usize) {
    for _ in 0..count {
        let (task, handle) = executor.task(pending::<()>());
        live.adopt(&task);
        drop(handle);
        assert!(matches!(task.run_in(live), Outcome::Idle));
    }
}

#[test]
fn a_task_that_completes_here_leaves_the_list() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let tasks: Vec<_> = (0..3).map(|_| executor.task(async { 7 })).collect();
    for (task, _) in &tasks {
        live.adopt(task);
        live.adopt(task);
    }
    assert_eq!(live.len(), 3);
    // The middle one, an end, and what is left.
    let mut tasks = tasks.into_iter();
    let (first, second, third) = (tasks.next(), tasks.next(), tasks.next());
    for (left, (task, handle)) in [second, first, third].into_iter().flatten().enumerate() {
        assert!(matches!(task.run_in(&live), Outcome::Complete));
        assert_eq!(live.len(), 2 - left);
        assert_eq!(join(handle).unwrap(), 7);
    }
    assert!(live.is_empty());
    executor.check();
}

#[test]
fn a_task_that_completes_elsewhere_comes_back() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let stack = CompletedStack::new();
    for _ in 0..3 {
        let (task, handle) = executor.task(async {});
        live.adopt(&task);
        drop(handle);
        stack.push(elsewhere(task.run()));
    }
    let (joined, handle) = executor.task(async { 7 });
    live.adopt(&joined);
    stack.push(elsewhere(joined.run_in(&LiveList::new(OWNER))));
    assert_eq!(join(handle).unwrap(), 7);
    assert_eq!(live.len(), 4);
    assert_eq!(executor.cells.get(), 4);
    let mut taken = 0;
    stack.take_all(|completed| {
        assert_eq!(completed.owner(), OWNER);
        live.retire(completed);
        taken += 1;
    });
    assert_eq!(taken, 4);
    assert!(live.is_empty());
    executor.check();
    stack.take_all(|_| panic!("the stack was emptied"));
}

#[test]
fn a_handle_outlives_the_list() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let output = executor.outputs.one();
    let (task, handle) = executor.task(async move { output });
    live.adopt(&task);
    assert!(matches!(task.run_in(&live), Outcome::Complete));
    drop(live);
    drop(join(handle).unwrap());
    executor.check();
}

#[test]
fn a_task_is_not_retired_by_another_list_of_the_same_number() {
    let executor = Executor::new();
    let (live, other) = (LiveList::new(OWNER), LiveList::new(OWNER));
    let (task, handle) = executor.task(async {});
    live.adopt(&task);
    other.adopt(&task);
    assert!(other.is_empty());
    drop(handle);
    let completed = elsewhere(task.run_in(&other));
    let retire = || other.retire(completed);
    assert!(catch_unwind(AssertUnwindSafe(retire)).is_err());
    assert_eq!(live.len(), 1);
    drop(live);
    executor.check();
}

#[test]
fn all_tasks_are_aborted() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    idle(&executor, &live, 3);
    let (queued, handle) = executor.task(async { panic!("it was polled") });
    live.adopt(&queued);
    let mut due = vec![queued];
    live.abort_all(|task| due.push(task));
    assert_eq!(due.len(), 4);
    live.abort_all(|task| panic!("{task:?} was given out twice"));
    for task in due {
        assert!(matches!(task.run_in(&live), Outcome::Complete));
    }
    assert!(live.is_empty());
    assert!(join::<()>(handle).unwrap_err().is_cancelled());
    executor.check();
}

/// The function that the runnables are given to changes the list under it.
#[test]
fn aborted_tasks_may_be_run_at_once() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    idle(&executor, &live, 3);
    let (queued, handle) = executor.task(async {});
    live.adopt(&queued);
    drop(handle);
    let mut queued = Some(queued);
    live.abort_all(|task| {
        if let Some(queued) = queued.take() {
            assert!(matches!(queued.run_in(&live), Outcome::Complete));
            live.adopt(&executor.task(pending::<()>()).0);
        }
        assert!(matches!(task.run_in(&live), Outcome::Complete));
    });
    // The one that was adopted meanwhile: its runnable was dropped.
    assert_eq!(live.len(), 1);
    drop(live);
    executor.check();
}

#[test]
fn a_panic_on_the_way_cancels_the_other_tasks() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    idle(&executor, &live, 3);
    let abort = || live.abort_all(|_| panic!("no room"));
    assert!(catch_unwind(AssertUnwindSafe(abort)).is_err());
    assert_eq!(executor.futures.get(), 0);
    drop(live);
    executor.check();
}

#[test]
fn a_dropped_stack_gives_its_tasks_up() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let stack = CompletedStack::new();
    for _ in 0..3 {
        let (task, _) = executor.task(async {});
        live.adopt(&task);
        stack.push(elsewhere(task.run()));
    }
    let take = || stack.take_all(|_| panic!("no room"));
    assert!(catch_unwind(AssertUnwindSafe(take)).is_err());
    let (task, _) = executor.task(async {});
    live.adopt(&task);
    stack.push(elsewhere(task.run()));
    drop(stack);
    assert_eq!(executor.cells.get(), 4);
    drop(live);
    executor.check();
}

#[test]
fn a_token_outlives_its_list() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let (task, handle) = executor.task(async {});
    live.adopt(&task);
    drop(handle);
    let completed = elsewhere(task.run());
    drop(live);
    assert_eq!(completed.owner(), OWNER);
    drop(completed);
    executor.check();
}

#[test]
fn a_runnable_that_is_dropped_is_freed_with_its_list() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let (task, handle) = executor.task(async {});
    live.adopt(&task);
    drop(handle);
    drop::<Runnable>(task);
    assert_eq!(executor.futures.get(), 0);
    drop(live);
    executor.check();
}

#[test]
fn a_cancelled_runnable_leaves_the_list() {
    let executor = Executor::new();
    let live = LiveList::new(OWNER);
    let gate = Gate::default();
    let (task, handle) = executor.task(gate.clone());
    live.adopt(&task);
    assert!(matches!(task.run_in(&live), Outcome::Idle));
    gate.waker().wake();
    let task = executor.pop().unwrap();
    assert!(matches!(task.cancel(Some(&live)), Outcome::Complete));
    assert!(live.is_empty());
    assert!(join(handle).unwrap_err().is_cancelled());
    executor.check();
}

#[test]
#[should_panic(expected = "must be below 1048576")]
fn a_number_that_does_not_fit_is_refused() {
    LiveList::new(NonZeroU32::new(1 << 20).unwrap());
}
