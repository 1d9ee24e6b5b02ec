//! An abort: the run after it drops the future, and the handle says so.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread::{self, ThreadId};

use crate::common::{Executor, Gate, join, poll_with};
use raddle_primitives::sync::Mutex;
use raddle_testing::Wakes;

#[test]
fn an_idle_task_is_aborted_by_its_next_run() {
    let executor = Executor::new();
    let mut handle = executor.spawn(pending::<()>());
    executor.run();
    let (wakes, waker) = Wakes::new();
    assert!(poll_with(&mut handle, &waker).is_pending());
    handle.abort();
    assert!(!handle.is_finished());
    assert_eq!(executor.futures.get(), 1);
    executor.run();
    assert_eq!(wakes.get(), 1);
    let error = join(handle).unwrap_err();
    assert!(error.is_cancelled() && !error.is_panic());
    executor.check();
}

#[test]
fn a_queued_task_is_not_polled_after_an_abort() {
    let executor = Executor::new();
    let handle = executor.spawn(async { panic!("the task was polled") });
    handle.abort();
    assert_eq!(executor.queued(), 1);
    executor.run();
    assert!(join::<()>(handle).unwrap_err().is_cancelled());
    executor.check();
}

#[test]
fn a_task_that_aborts_itself_is_cancelled_when_it_waits() {
    let executor = Executor::new();
    let gate = Gate::default();
    let waiting = gate.clone();
    let slot = Arc::new(Mutex::new(None::<raddle_task::AbortHandle>));
    let own = slot.clone();
    let handle = executor.spawn(async move {
        own.lock().take().unwrap().abort();
        waiting.await;
    });
    *slot.lock() = Some(handle.abort_handle());
    executor.run();
    assert_eq!(gate.polls(), 1);
    assert!(join(handle).unwrap_err().is_cancelled());
    drop(gate);
    executor.check();
}

#[test]
fn a_task_that_completes_in_spite_of_an_abort_keeps_its_output() {
    let executor = Executor::new();
    let slot = Arc::new(Mutex::new(None::<raddle_task::AbortHandle>));
    let own = slot.clone();
    let handle = executor.spawn(async move {
        own.lock().take().unwrap().abort();
        7
    });
    *slot.lock() = Some(handle.abort_handle());
    executor.run();
    assert_eq!(join(handle).unwrap(), 7);
    executor.check();
}

#[test]
fn an_abort_after_completion_does_nothing() {
    let executor = Executor::new();
    let handle = executor.spawn(async { 7 });
    executor.run();
    handle.abort();
    handle.abort();
    assert_eq!(executor.queued(), 0);
    assert_eq!(join(handle).unwrap(), 7);
    executor.check();
}

#[test]
fn a_second_abort_does_nothing() {
    let executor = Executor::new();
    let gate = Gate::default();
    let handle = executor.spawn(gate.clone());
    executor.run();
    handle.abort();
    handle.abort();
    gate.waker().wake();
    assert_eq!(executor.queued(), 1);
    executor.run();
    assert_eq!(gate.polls(), 1);
    assert!(join(handle).unwrap_err().is_cancelled());
    executor.check();
}

#[test]
fn an_abort_handle_outlives_the_task_and_frees_it() {
    let executor = Executor::new();
    let handle = executor.spawn(pending::<()>());
    let abort = handle.abort_handle();
    let other = abort.clone();
    let id = handle.id();
    drop(handle);
    executor.run();
    assert!(!abort.is_finished());
    abort.abort();
    executor.run();
    assert!(abort.is_finished() && other.is_finished());
    assert_eq!((abort.id(), other.id()), (id, id));
    abort.abort();
    drop(abort);
    assert_eq!(executor.cells.get(), 1);
    drop(other);
    executor.check();
}

struct DroppedOn(Arc<Mutex<Option<ThreadId>>>);

impl Future for DroppedOn {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Drop for DroppedOn {
    fn drop(&mut self) {
        *self.0.lock() = Some(thread::current().id());
    }
}

/// RUSTSEC-2021-0072.
#[test]
fn the_future_is_dropped_where_the_task_runs() {
    let executor = Executor::new();
    let dropped = Arc::new(Mutex::new(None));
    let handle = executor.spawn(DroppedOn(dropped.clone()));
    executor.run();
    let handle = thread::spawn(move || {
        handle.abort();
        handle
    })
    .join()
    .unwrap();
    assert_eq!(*dropped.lock(), None);
    executor.run();
    assert_eq!(*dropped.lock(), Some(thread::current().id()));
    assert!(handle.is_finished());
    drop(handle);
    executor.check();
}

/// tokio 6505: each of two tasks waits for the other's handle. Each therefore holds a reference to
/// the other, and a waker of its own is stored in the other.
#[test]
fn two_aborted_tasks_that_await_each_other_leave_nothing() {
    let executor = Executor::new();
    let slot = Arc::new(Mutex::new(None::<raddle_task::JoinHandle<()>>));
    let other = slot.clone();
    let first = executor.spawn(async move {
        let handle = other.lock().take().unwrap();
        let _ = handle.await;
    });
    let aborts = [first.abort_handle()];
    let second = executor.spawn(async move {
        let _ = first.await;
    });
    let second_abort = second.abort_handle();
    *slot.lock() = Some(second);
    executor.run();
    assert_eq!(executor.futures.get(), 2);
    for abort in aborts {
        abort.abort();
    }
    second_abort.abort();
    drop(second_abort);
    executor.run();
    executor.check();
}
