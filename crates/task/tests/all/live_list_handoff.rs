//! The handoff of a live list to another thread while one of its tasks is polled.

use raddle_primitives::sync::Mutex;
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};

use crate::common::{Executor, join};
use raddle_task::{LiveList, Outcome, Runnable};

std::thread_local! {
    /// The list of the test's thread, which futures reach while they are polled.
    static LIST: RefCell<Option<LiveList>> = RefCell::new(Some(LiveList::new()));
}

fn with_list<R>(f: impl FnOnce(&LiveList) -> R) -> R {
    LIST.with(|list| f(list.borrow().as_ref().unwrap()))
}

fn prepare_handoff() -> bool {
    with_list(LiveList::prepare_handoff)
}

fn adopt_and_run(task: Runnable) -> Outcome {
    with_list(|live| {
        live.adopt(&task);
        task.run_in(live)
    })
}

fn assert_elsewhere(outcome: Outcome) {
    assert!(
        matches!(outcome, Outcome::CompleteElsewhere),
        "{outcome:?} in place of a task whose list was handed off"
    );
}

#[test]
fn the_task_completes_as_if_elsewhere() {
    let executor = Executor::new();
    for joins in [true, false] {
        let (task, handle) = executor.task(async { assert!(prepare_handoff()) });
        let handle = joins.then_some(handle);
        assert_elsewhere(adopt_and_run(task));
        assert!(with_list(LiveList::is_empty));
        if let Some(handle) = handle {
            join(handle).unwrap();
        }
    }
    executor.check();
}

/// A task is listed only when its first poll is pending.
#[test]
fn a_task_in_its_first_poll_is_adopted() {
    let executor = Executor::new();
    let (task, handle) = executor.task(async { assert!(prepare_handoff()) });
    assert_elsewhere(with_list(|live| task.run_in(live)));
    assert!(with_list(LiveList::is_empty));
    join(handle).unwrap();

    let (task, handle) = executor.task(async {
        assert!(prepare_handoff());
        std::future::pending::<()>().await;
    });
    assert!(matches!(with_list(|live| task.run_in(live)), Outcome::Idle));
    assert_eq!(with_list(LiveList::len), 1);
    handle.abort();
    let task = executor.pop().unwrap();
    assert_elsewhere(with_list(|live| task.run_in(live)));
    drop(handle);
    executor.check();
}

/// A task whose handle is not awaited is still seen to be finished.
#[test]
fn a_detached_task_is_finished_when_it_completes_elsewhere() {
    let executor = Executor::new();
    let (task, handle) = executor.task(async { assert!(prepare_handoff()) });
    let abort = handle.abort_handle();
    drop(handle);
    assert_elsewhere(adopt_and_run(task));
    assert!(abort.is_finished());
    drop(abort);
    executor.check();
}

/// The drop of the output is the last code of the task that runs before it is complete.
#[test]
fn the_task_of_a_detached_output_completes_elsewhere() {
    struct HandsOffOnDrop;
    impl Drop for HandsOffOnDrop {
        fn drop(&mut self) {
            assert!(prepare_handoff());
        }
    }
    let executor = Executor::new();
    for is_listed in [false, true] {
        let (task, handle) = executor.task(async { HandsOffOnDrop });
        drop(handle);
        if is_listed {
            with_list(|live| live.adopt(&task));
        }
        assert_elsewhere(with_list(|live| task.run_in(live)));
        assert!(with_list(LiveList::is_empty));
    }
    executor.check();
}

#[test]
fn the_task_completes_as_if_elsewhere_in_a_later_run() {
    let executor = Executor::new();
    let mut polls = 0;
    let (task, handle) = executor.task(poll_fn(move |cx| {
        polls += 1;
        // The mark stays, and may be set again.
        assert!(polls == 2 || prepare_handoff());
        cx.waker().wake_by_ref();
        match polls {
            4 => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }));
    let mut outcome = adopt_and_run(task);
    while let Outcome::Again(task) = outcome {
        outcome = adopt_and_run(task);
    }
    assert_elsewhere(outcome);
    join(handle).unwrap();
    executor.check();
}

#[test]
fn a_task_of_another_list_is_removed_from_that_list() {
    let executor = Executor::new();
    let other = LiveList::new();
    let (task, handle) = executor.task(async { assert!(prepare_handoff()) });
    other.adopt(&task);
    drop(handle);
    assert_elsewhere(adopt_and_run(task));
    assert!(other.is_empty());
    executor.check();
}

#[test]
fn a_task_that_does_not_run_in_the_list_cannot_hand_the_list_off() {
    let executor = Executor::new();
    assert!(!prepare_handoff(), "no task runs");
    let (task, handle) = executor.task(async { assert!(!prepare_handoff()) });
    drop(handle);
    assert!(matches!(task.run(), Outcome::Complete));
    let (task, handle) = executor.task(std::future::pending::<()>());
    assert!(matches!(adopt_and_run(task), Outcome::Idle));
    assert!(!prepare_handoff(), "its run has ended");
    handle.abort();
    while let Some(task) = executor.pop() {
        assert!(matches!(adopt_and_run(task), Outcome::Complete));
    }
    drop(handle);
    executor.check();
}

/// The completion of the outer task would access the list.
#[test]
fn a_task_polled_inside_another_cannot_hand_the_list_off() {
    let executor = Executor::new();
    let (inner, inner_handle) = executor.task(async { assert!(!prepare_handoff()) });
    let (outer, outer_handle) = executor.task(async move {
        assert!(matches!(inner.run(), Outcome::Complete));
        join(inner_handle).unwrap();
    });
    assert!(matches!(adopt_and_run(outer), Outcome::Complete));
    join(outer_handle).unwrap();
    let (inner, inner_handle) = executor.task(async {});
    let (outer, outer_handle) = executor.task(async move {
        assert!(matches!(adopt_and_run(inner), Outcome::Complete));
        join(inner_handle).unwrap();
        assert!(!prepare_handoff(), "another was run in the list since");
    });
    assert!(matches!(adopt_and_run(outer), Outcome::Complete));
    join(outer_handle).unwrap();
    executor.check();
}

/// The task has already left the list when its completion wakes the joiner.
#[test]
fn a_completed_task_cannot_hand_the_list_off() {
    struct TriesHandoff(Arc<Mutex<Option<bool>>>);
    impl Wake for TriesHandoff {
        fn wake(self: Arc<Self>) {
            *self.0.lock() = Some(prepare_handoff());
        }
    }
    let executor = Executor::new();
    let answer = Arc::default();
    let waker = Arc::new(TriesHandoff(Arc::clone(&answer))).into();
    let (task, mut handle) = executor.task(async {});
    let mut cx = Context::from_waker(&waker);
    assert!(Pin::new(&mut handle).poll(&mut cx).is_pending());
    assert!(matches!(adopt_and_run(task), Outcome::Complete));
    assert_eq!(*answer.lock(), Some(false));
    join(handle).unwrap();
    executor.check();
}

/// Code that runs when the cell is freed: the task has left the list by then, and adopting it again
/// would leave freed memory in the list.
#[test]
fn a_task_that_is_being_freed_cannot_hand_the_list_off() {
    type Results = Arc<Mutex<Vec<(bool, Option<raddle_task::Id>)>>>;
    #[derive(Clone)]
    struct TriesHandoff(Results);
    impl raddle_task::Schedule for TriesHandoff {
        fn schedule(&self, _: Runnable) {
            unreachable!("no thread wakes the task");
        }
    }
    impl Drop for TriesHandoff {
        fn drop(&mut self) {
            self.0
                .lock()
                .push((prepare_handoff(), raddle_task::try_id()));
        }
    }
    let answers = Results::default();
    for is_listed in [false, true] {
        let (task, handle) = raddle_task::spawn(async {}, TriesHandoff(answers.clone()));
        drop(handle);
        if is_listed {
            with_list(|live| live.adopt(&task));
        }
        let outcome = with_list(|live| task.run_in(live));
        assert!(matches!(outcome, Outcome::Complete));
        assert!(with_list(LiveList::is_empty));
    }
    // The same with `run`, without the list.
    let (task, handle) = raddle_task::spawn(async {}, TriesHandoff(answers.clone()));
    drop(handle);
    with_list(|live| live.adopt(&task));
    assert_elsewhere(task.run());
    assert_eq!(*answers.lock(), [(false, None); 3]);
}
