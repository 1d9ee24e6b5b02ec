//! Live lists: they end every task that they have adopted.

use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::common::{Executor, Gate, join, poll_with};
use raddle_task::{LiveList, Outcome, Runnable};
use raddle_testing::Wakes;

fn run_elsewhere(task: Runnable) {
    assert!(matches!(task.run(), Outcome::CompleteElsewhere));
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
    let live = LiveList::new();
    let tasks: Vec<_> = (0..3).map(|_| executor.task(async { 7 })).collect();
    for (task, _) in &tasks {
        live.adopt(task);
        live.adopt(task);
    }
    assert_eq!(live.len(), 3);
    // The middle task, one at an end, and the last one.
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
fn a_task_that_completes_elsewhere_leaves_the_list_and_is_freed_at_once() {
    let executor = Executor::new();
    let live = LiveList::new();
    for _ in 0..3 {
        let (task, handle) = executor.task(async {});
        live.adopt(&task);
        drop(handle);
        run_elsewhere(task);
        assert_eq!((live.len(), executor.cells.get()), (0, 0));
    }
    let (joined, handle) = executor.task(async { 7 });
    live.adopt(&joined);
    let outcome = joined.run_in(&LiveList::new());
    assert!(matches!(outcome, Outcome::CompleteElsewhere));
    assert!(live.is_empty());
    assert_eq!(join(handle).unwrap(), 7);
    executor.check();
}

/// More tasks than a page of the list holds, in and out in any order, here and elsewhere.
#[test]
fn tasks_may_be_added_and_removed_in_any_order() {
    let executor = Executor::new();
    let live = LiveList::new();
    let mut tasks = std::collections::VecDeque::new();
    let mut random = 1_u32;
    let rounds = if cfg!(miri) { 500 } else { 20_500 };
    for round in 0..rounds {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Grows to hundreds, and shrinks again.
        let grows = round / 1_000 % 2 == 0;
        if random >> 16 & 3 != 0 && grows || tasks.is_empty() {
            let (task, handle) = executor.task(async {});
            live.adopt(&task);
            tasks.push_back((task, handle));
        } else {
            let place = (random >> 20) as usize % tasks.len();
            let (task, handle) = tasks.swap_remove_back(place).unwrap();
            match random >> 18 & 1 {
                0 => run_elsewhere(task),
                _ => assert!(matches!(task.run_in(&live), Outcome::Complete)),
            }
            join(handle).unwrap();
        }
        if random >> 24 & 15 == 0 {
            live.reclaim();
        }
        assert_eq!(live.is_empty(), tasks.is_empty());
        if round % 50 == 0 {
            assert_eq!(live.len(), tasks.len());
        }
    }
    assert_eq!(executor.cells.get(), tasks.len());
    let mut due = 0;
    live.abort_all(|task| panic!("{task:?} was queued already"));
    for (task, handle) in tasks {
        due += 1;
        assert!(matches!(task.run_in(&live), Outcome::Complete));
        assert!(join(handle).unwrap_err().is_cancelled());
    }
    assert!(live.is_empty() && due > 0);
    executor.check();
}

/// The slots of tasks that completed on other threads are reused, so that the list does not grow.
#[test]
fn aborting_finds_each_of_many_tasks_once() {
    let executor = Executor::new();
    let live = LiveList::new();
    idle(&executor, &live, 100);
    for _ in 0..100 {
        let (task, handle) = executor.task(async {});
        live.adopt(&task);
        drop(handle);
        run_elsewhere(task);
    }
    idle(&executor, &live, 100);
    assert_eq!(live.len(), 200);
    let mut due = Vec::new();
    live.abort_all(|task| due.push(task));
    assert_eq!(due.len(), 200);
    for task in due {
        assert!(matches!(task.run_in(&live), Outcome::Complete));
    }
    assert!(live.is_empty());
    executor.check();
}

#[test]
fn a_handle_outlives_the_list() {
    let executor = Executor::new();
    let live = LiveList::new();
    let output = executor.outputs.one();
    let (task, handle) = executor.task(async move { output });
    live.adopt(&task);
    assert!(matches!(task.run_in(&live), Outcome::Complete));
    drop(live);
    drop(join(handle).unwrap());
    executor.check();
}

#[test]
fn a_task_is_in_the_list_that_adopted_it_first() {
    let executor = Executor::new();
    let (live, other) = (LiveList::new(), LiveList::new());
    let (task, handle) = executor.task(async {});
    live.adopt(&task);
    other.adopt(&task);
    assert!(other.is_empty());
    assert_eq!(live.len(), 1);
    drop(handle);
    assert!(matches!(task.run_in(&other), Outcome::CompleteElsewhere));
    assert!(live.is_empty());
    executor.check();
}

#[test]
fn all_tasks_are_aborted() {
    let executor = Executor::new();
    let live = LiveList::new();
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

/// The function that gets the runnables changes the list during `abort_all`.
#[test]
fn aborted_tasks_may_be_run_at_once() {
    let executor = Executor::new();
    let live = LiveList::new();
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
    // The task that was adopted meanwhile has left the list, since its runnable was dropped.
    assert!(live.is_empty());
    executor.check();
}

#[test]
fn a_panic_in_abort_all_cancels_the_other_tasks() {
    let executor = Executor::new();
    let live = LiveList::new();
    idle(&executor, &live, 3);
    let abort = || live.abort_all(|_| panic!("no room"));
    assert!(catch_unwind(AssertUnwindSafe(abort)).is_err());
    assert_eq!(executor.futures.get(), 0);
    drop(live);
    executor.check();
}

/// Dropping a runnable cancels the task, on any thread.
#[test]
fn a_dropped_runnable_leaves_the_list() {
    let executor = Executor::new();
    let live = LiveList::new();
    let (task, handle) = executor.task(pending::<()>());
    live.adopt(&task);
    drop(task);
    assert!(live.is_empty());
    assert!(join(handle).unwrap_err().is_cancelled());
    executor.check();
}

/// The last task of a dropped list frees the list's pages.
#[test]
fn tasks_outlive_their_list() {
    let executor = Executor::new();
    for before in 0..3 {
        let live = LiveList::new();
        let tasks: Vec<_> = (0..40).map(|_| executor.task(async { 7 })).collect();
        for (task, _) in &tasks {
            live.adopt(task);
        }
        let mut live = Some(live);
        for (number, (task, handle)) in tasks.into_iter().enumerate() {
            if number == before * 20 {
                drop(live.take());
            }
            run_elsewhere(task);
            assert_eq!(join(handle).unwrap(), 7);
        }
        drop(live);
        executor.check();
    }
}

#[test]
fn a_cancelled_runnable_leaves_the_list() {
    let executor = Executor::new();
    let live = LiveList::new();
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
fn a_list_is_empty_without_a_task() {
    let executor = Executor::new();
    let live = LiveList::new();
    assert!(live.is_empty());
    let (task, handle) = executor.task(async {});
    live.adopt(&task);
    assert!(!live.is_empty());
    drop((task, handle));
    drop(live);
}

#[test]
#[cfg_attr(raddle_sanitize, ignore = "leaks on purpose")]
fn a_task_outlives_its_list_until_it_completes() {
    let executor = Executor::new();
    let live = LiveList::new();
    let gate = Gate::default();
    let (task, handle) = executor.task(gate.clone());
    live.adopt(&task);
    assert!(matches!(task.run_in(&live), Outcome::Idle));
    drop((handle, live));
    assert_eq!(executor.cells.get(), 1);
    gate.open();
    gate.waker().wake();
    assert_eq!((executor.queued(), executor.cells.get()), (1, 1));
    let task = executor.pop().unwrap();
    run_elsewhere(task);
    assert_eq!((executor.queued(), executor.futures.get()), (0, 0));
}

#[test]
fn a_task_that_is_pending_is_adopted_by_the_list_it_ran_in() {
    let executor = Executor::new();
    let live = LiveList::new();
    let gate = Gate::default();
    let (task, handle) = executor.task(gate.clone());
    assert!(matches!(task.run_in(&live), Outcome::Idle));
    assert_eq!(live.len(), 1);
    gate.open();
    gate.waker().wake();
    let task = executor.pop().unwrap();
    assert!(matches!(task.run_in(&live), Outcome::Complete));
    assert!(live.is_empty());
    join(handle).unwrap();
    drop(gate);
    executor.check();
}

#[test]
fn a_join_is_woken_when_the_task_completes_elsewhere() {
    let executor = Executor::new();
    let live = LiveList::new();
    let (task, mut handle) = executor.task(async { 7 });
    live.adopt(&task);
    let (wakes, waker) = Wakes::new();
    assert!(poll_with(&mut handle, &waker).is_pending());
    run_elsewhere(task);
    assert_eq!(wakes.get(), 1);
    assert_eq!(join(handle).unwrap(), 7);
    live.reclaim();
    assert!(live.is_empty());
    executor.check();
}
