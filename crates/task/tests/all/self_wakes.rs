//! Wakes during a poll: which task is polled again, and how often.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use crate::common::{Executor, Gate, join};
use raddle_primitives::sync::Mutex;
use raddle_task::Outcome;

#[test]
fn waking_another_task_repeats_only_that_ones_poll() {
    let executor = Executor::new();
    let gate = Gate::default();
    let waiting = executor.spawn(gate.clone());
    executor.run();
    let polls = Arc::new(AtomicUsize::new(0));
    let handle = {
        let (gate, polls) = (gate.clone(), polls.clone());
        executor.spawn(poll_fn(move |_| {
            if polls.fetch_add(1, Ordering::SeqCst) == 0 {
                gate.waker().wake();
            }
            Poll::<()>::Pending
        }))
    };
    executor.run();
    assert_eq!(polls.load(Ordering::SeqCst), 1);
    assert_eq!(gate.polls(), 2);
    handle.abort();
    waiting.abort();
    executor.run();
    drop((handle, waiting, gate));
    executor.check();
}

#[test]
fn a_task_that_wakes_itself_inside_another_does_not_repeat_the_outer_poll() {
    let executor = Executor::new();
    let (inner, inner_handle) = executor.task(poll_fn(|cx| {
        cx.waker().wake_by_ref();
        Poll::<()>::Pending
    }));
    let polls = Arc::new(AtomicUsize::new(0));
    let mut inner = Some(inner);
    let again = Arc::new(Mutex::new(None));
    let handle = {
        let (polls, again) = (polls.clone(), again.clone());
        executor.spawn(poll_fn(move |_| {
            polls.fetch_add(1, Ordering::SeqCst);
            if let Some(inner) = inner.take() {
                let Outcome::Again(inner) = inner.run() else {
                    panic!("the inner task has woken itself");
                };
                // Not dropped here: that would run the inner task once more.
                *again.lock() = Some(inner);
            }
            Poll::<()>::Pending
        }))
    };
    executor.run();
    assert_eq!(polls.load(Ordering::SeqCst), 1);
    drop(again.lock().take());
    assert!(join(inner_handle).unwrap_err().is_cancelled());
    handle.abort();
    executor.run();
    drop(handle);
    executor.check();
}

#[test]
fn a_task_that_wakes_itself_once_is_polled_twice() {
    let executor = Executor::new();
    let polls = Arc::new(AtomicUsize::new(0));
    let handle = {
        let polls = polls.clone();
        executor.spawn(poll_fn(move |cx| {
            if polls.fetch_add(1, Ordering::SeqCst) == 0 {
                cx.waker().wake_by_ref();
            }
            Poll::<()>::Pending
        }))
    };
    executor.run();
    assert_eq!(polls.load(Ordering::SeqCst), 2);
    handle.abort();
    executor.run();
    drop(handle);
    executor.check();
}
