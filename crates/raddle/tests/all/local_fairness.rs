//! How many polls of busy local tasks an event or a future waits for.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use crate::common::current_thread;
use raddle::io::AsyncReadExt;
use raddle::net::UnixStream;
use raddle::runtime::{LocalRuntime, Runtime};
use raddle::task::{LocalSet, spawn, spawn_local, yield_now};

fn runtime() -> Runtime {
    current_thread().build().unwrap()
}

/// The highest number of polls between two polls of the driver.
const EVENT_INTERVAL: usize = 61;
const BUSY: usize = 80;

/// Spawns tasks that are always ready, and counts their polls.
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

/// Repeatedly reads a byte that is written while the read is pending. Returns the maximum number of
/// polls of busy tasks between a write and the next poll of its reader.
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

/// The maximum for a reader in the future of a set and for one in a task of the set.
async fn most_polls_beside_local_tasks() -> usize {
    let polls = keep_busy(BUSY);
    let as_future = most_polls_before_an_event(&polls).await;
    let as_task = spawn_local(async move { most_polls_before_an_event(&polls).await });
    as_future.max(as_task.await.unwrap())
}

#[test]
fn an_event_is_dispatched_within_one_event_interval_of_local_polls() {
    // The next poll of the driver, and then each ready task once.
    let limit = EVENT_INTERVAL + BUSY + 2;
    let most = LocalRuntime::new()
        .unwrap()
        .block_on(most_polls_beside_local_tasks());
    assert!(most <= limit, "{most} polls in a LocalRuntime");

    let most = LocalSet::new().block_on(&runtime(), most_polls_beside_local_tasks());
    assert!(most <= limit, "{most} polls in a LocalSet");

    // A set inside a task of another set.
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

/// The number of tasks, each of which spawns the next, that have run after one yield.
async fn chained_tasks_run_by_a_yield() -> usize {
    fn spawn_chain(started: Rc<Cell<usize>>, rest: usize) {
        drop(spawn_local(async move {
            started.set(started.get() + 1);
            if rest > 1 {
                spawn_chain(started, rest - 1);
            }
        }));
    }
    let started = Rc::new(Cell::new(0));
    spawn_chain(Rc::clone(&started), 10);
    yield_now().await;
    started.get()
}

#[test]
fn local_tasks_that_tasks_spawn_run_before_a_woken_future() {
    let started = LocalRuntime::new()
        .unwrap()
        .block_on(chained_tasks_run_by_a_yield());
    assert_eq!(started, 10, "in a LocalRuntime");
    let started = LocalSet::new().block_on(&runtime(), chained_tasks_run_by_a_yield());
    assert_eq!(started, 10, "in a LocalSet");
}

/// The set does not know of other futures in the task that polls it.
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
            () = set => unreachable!("the tasks of the set never complete"),
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
