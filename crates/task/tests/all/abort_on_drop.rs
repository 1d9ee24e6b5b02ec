//! `AbortOnDropHandle`: its drop aborts the task, and leaves a finished or detached task alone.

use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use raddle_primitives::sync::Mutex;
use raddle_task::AbortOnDropHandle;

use crate::common::{Executor, Gate, join};

#[test]
fn dropping_the_handle_aborts_a_waiting_task() {
    let executor = Executor::new();
    let task = executor.spawn(pending::<()>()).abort_on_drop();
    let watched = task.abort_handle();
    executor.run();
    assert_eq!((executor.futures.get(), task.is_finished()), (1, false));
    drop(task);
    executor.run();
    assert!(watched.is_finished());
    drop(watched);
    executor.check();
}

#[test]
fn a_task_that_never_ran_is_dropped_without_a_poll() {
    let executor = Executor::new();
    drop(
        executor
            .spawn(async { panic!("the task was polled") })
            .abort_on_drop(),
    );
    executor.run();
    assert_eq!(executor.futures.get(), 0);
    executor.check();
}

#[test]
fn the_output_of_a_finished_task_is_returned() {
    let executor = Executor::new();
    let mut task = AbortOnDropHandle::from(executor.spawn(async { 42 }));
    assert_eq!(task.as_ref().id(), task.id());
    executor.run();
    assert!(task.is_finished());
    let output = Pin::new(&mut task).poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(output, Poll::Ready(Ok(42))));
    drop(task);
    executor.check();
}

#[test]
fn a_detached_task_is_not_aborted() {
    let executor = Executor::new();
    let gate = Gate::default();
    let waiting = gate.clone();
    let task = executor.spawn(async move {
        waiting.await;
        7
    });
    let handle = task.abort_on_drop().detach();
    executor.run();
    gate.open();
    gate.waker().wake();
    executor.run();
    assert_eq!(join(handle).unwrap(), 7);
    drop(gate);
    executor.check();
}

#[test]
fn an_explicit_abort_shows_in_the_output() {
    let executor = Executor::new();
    let task = executor.spawn(pending::<()>()).abort_on_drop();
    task.abort();
    executor.run();
    assert!(join(task.detach()).unwrap_err().is_cancelled());
    executor.check();
}

#[test]
fn a_future_that_is_dropped_while_it_waits_aborts_the_tasks_of_its_tasks() {
    let executor = Executor::new();
    let inner = Arc::new(Mutex::new(None));
    let (spawner, slot) = (executor.clone(), inner.clone());
    let outer = executor.spawn(async move {
        let task = spawner.spawn(pending::<()>()).abort_on_drop();
        *slot.lock() = Some(task.abort_handle());
        let _ = task.await;
    });
    executor.run();
    let inner = inner.lock().take().unwrap();
    assert!(!inner.is_finished());
    outer.abort();
    executor.run();
    assert!(inner.is_finished());
    assert!(join(outer).unwrap_err().is_cancelled());
    drop(inner);
    assert_eq!(executor.futures.get(), 0);
}
