//! Events and futures beside busy local tasks, counted in polls.
#![cfg(all(unix, not(raddle_loom)))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

mod common;

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use common::current_thread;
use raddle::io::AsyncReadExt;
use raddle::net::UnixStream;
use raddle::runtime::{LocalRuntime, Runtime};
use raddle::task::{LocalSet, spawn, spawn_local, yield_now};

fn runtime() -> Runtime {
    current_thread().build().unwrap()
}

/// How many polls a worker makes between two looks at the driver.
const EVENT_INTERVAL: usize = 61;
const BUSY: usize = 80;

/// Adds tasks that are always ready and count their polls.
fn keep_busy(tasks: usize) -> Rc<Cell<usize>> {
    let polls = Rc::new(Cell::new(0));
    for _ in 0..tasks {
        let polls = Rc::clone(&polls);
        drop(spawn_local(async move {
            loop {
                polls.set(polls.get() + 1);
                yield_now().await;
            }
        }));
    }
    polls
}

/// Reads again and again what arrives while it waits. Returns the most polls of busy tasks between
/// an arrival and its reader's poll.
async fn most_polls_before_an_event(polls: &Cell<usize>) -> usize {
    let (mut near, far) = UnixStream::pair().unwrap();
    let mut most = 0;
    for _ in 0..20 {
        let mut byte = [0];
        let mut reading = pin!(near.read(&mut byte));
        let first = poll_fn(|cx| Poll::Ready(reading.as_mut().poll(cx))).await;
        assert!(first.is_pending(), "nothing has been written");
        let before = polls.get();
        assert_eq!(far.try_write(b"x").unwrap(), 1);
        assert_eq!(reading.await.unwrap(), 1);
        most = most.max(polls.get() - before);
    }
    most
}

/// What is awaited as the future of a set, and as a task of it.
async fn most_polls_beside_local_tasks() -> usize {
    let polls = keep_busy(BUSY);
    let as_future = most_polls_before_an_event(&polls).await;
    let as_task = spawn_local(async move { most_polls_before_an_event(&polls).await });
    as_future.max(as_task.await.unwrap())
}

#[test]
fn an_event_is_dispatched_within_one_event_interval_of_local_polls() {
    // The look, and then each task that is ready once.
    let limit = EVENT_INTERVAL + BUSY + 2;
    let most = LocalRuntime::new()
        .unwrap()
        .block_on(most_polls_beside_local_tasks());
    assert!(most <= limit, "{most} polls in a LocalRuntime");

    let most = LocalSet::new().block_on(&runtime(), most_polls_beside_local_tasks());
    assert!(most <= limit, "{most} polls in a LocalSet");

    // A set inside a task of a set.
    let most = LocalRuntime::new().unwrap().block_on(async {
        let inner = async {
            LocalSet::new()
                .run_until(most_polls_beside_local_tasks())
                .await
        };
        spawn_local(inner).await.unwrap()
    });
    assert!(most <= limit, "{most} polls in a nested LocalSet");
}

#[test]
fn a_future_in_a_local_set_that_yields_waits_for_each_ready_task_once() {
    for tasks in [1, 2, 10, 60] {
        let most = LocalRuntime::new().unwrap().block_on(async {
            let polls = keep_busy(tasks);
            yield_now().await;
            let mut most = 0;
            for _ in 0..100 {
                let before = polls.get();
                yield_now().await;
                most = most.max(polls.get() - before);
            }
            most
        });
        assert!(most <= tasks, "{most} polls beside {tasks} tasks");
    }
}

/// Of what is beside the set in the same task, the set does not know.
#[test]
fn a_future_beside_a_set_waits_for_one_poll_of_the_set() {
    let runtime = runtime();
    let set = LocalSet::new();
    let polls = {
        let _entered = set.enter();
        keep_busy(3)
    };
    runtime.block_on(async {
        raddle::select! {
            () = set => unreachable!("its tasks do not end"),
            () = async { for _ in 0..100 { yield_now().await } } => {}
        }
    });
    let limit = 101 * EVENT_INTERVAL;
    assert!(polls.get() <= limit, "{} polls", polls.get());
}

#[test]
fn busy_local_tasks_do_not_starve_tasks_of_the_runtime() {
    LocalRuntime::new().unwrap().block_on(async {
        let polls = keep_busy(BUSY);
        let task = spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        });
        task.await.unwrap();
        assert!(polls.get() <= 102 * EVENT_INTERVAL, "{} polls", polls.get());
    });
}
