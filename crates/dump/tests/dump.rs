//! Tests of what a dump contains for tasks in each state.
#![cfg(not(raddle_loom))]

use std::future::pending;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use raddle_dump::{TaskState, TaskTable, WokenBy};
use raddle_sched::{Config, CurrentThread};

fn scheduler(tasks: &TaskTable) -> CurrentThread {
    let config = Config {
        observer: Some(tasks.observer()),
        ..Config::default()
    };
    CurrentThread::new(config, None)
}

#[test]
fn a_spawned_task_is_queued_and_then_waits() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        let line = line!() + 1;
        let task = raddle_sched::spawn(pending::<()>());
        let dump = tasks.dump();
        assert_eq!(dump.tasks().len(), 1);
        assert_eq!(dump.tasks()[0].state(), TaskState::Queued);
        assert_eq!(dump.tasks()[0].polls(), 0);
        assert_eq!(dump.tasks()[0].spawned_at().line(), line);
        assert!(dump.tasks()[0].spawned_at().file().ends_with("dump.rs"));
        assert_eq!(dump.tasks()[0].last_wake(), None);

        raddle_sched::yield_now().await;
        let dump = tasks.dump();
        assert_eq!(dump.tasks()[0].state(), TaskState::Waiting);
        assert_eq!(dump.tasks()[0].polls(), 1);
        let id = dump.tasks()[0].id();
        assert!(dump.task(id).is_some() && dump.task(id + 1).is_none());
        task.abort();
    });
}

#[test]
fn the_wakers_are_those_at_the_time_of_the_dump() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        let task = raddle_sched::spawn(pending::<()>());
        assert_eq!(tasks.dump().tasks()[0].wakers(), None);
        let abort = task.abort_handle();
        raddle_sched::yield_now().await;
        assert_eq!(tasks.dump().tasks()[0].wakers(), Some(1));
        drop(abort);
        assert_eq!(tasks.dump().tasks()[0].wakers(), Some(0));
        task.abort();
    });
}

#[test]
fn a_task_that_takes_a_dump_is_running() {
    let tasks = TaskTable::new();
    let dump = scheduler(&tasks).block_on(async {
        let tasks = tasks.clone();
        let task = raddle_sched::spawn(async move {
            thread::sleep(Duration::from_millis(5));
            tasks.dump()
        });
        task.await.unwrap()
    });
    let task = &dump.tasks()[0];
    assert_eq!(task.state(), TaskState::Running);
    assert_eq!(task.polls(), 0);
    assert!(task.busy() >= Duration::from_millis(5));
    assert_eq!(task.longest_poll(), task.busy());
    assert!(task.age() >= task.busy());
}

#[test]
fn completed_and_aborted_tasks_are_not_in_the_dump() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        raddle_sched::spawn(async {}).await.unwrap();
        let aborted = raddle_sched::spawn(pending::<()>());
        raddle_sched::yield_now().await;
        assert_eq!(tasks.dump().tasks().len(), 1);
        aborted.abort();
        assert!(aborted.await.unwrap_err().is_cancelled());
        assert!(tasks.dump().tasks().is_empty());
    });
    assert_eq!(tasks.dump().to_string(), "0 tasks\n");
}

#[test]
fn a_completing_task_is_the_waker_of_the_task_that_joins_it() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        let first = raddle_sched::spawn(raddle_sched::yield_now());
        let first_id = tasks.dump().tasks()[0].id();
        let second = raddle_sched::spawn(async {
            first.await.unwrap();
            pending::<()>().await;
        });
        for _ in 0..10 {
            raddle_sched::yield_now().await;
        }
        let dump = tasks.dump();
        assert_eq!(dump.tasks().len(), 1, "the first task has ended: {dump}");
        let wake = dump.tasks()[0].last_wake().expect("the task was woken");
        assert_eq!(wake.by(), WokenBy::Task(first_id));
        assert!(wake.ago() <= dump.tasks()[0].age());
        assert!(dump.to_string().contains(&format!("by task {first_id}")));
        second.abort();
    });
}

#[test]
fn a_waker_that_is_called_outside_tasks_is_other_code() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        let (sender, receiver) = std::sync::mpsc::channel();
        let task = raddle_sched::spawn(std::future::poll_fn(move |cx| {
            let _ = sender.send(cx.waker().clone());
            Poll::<()>::Pending
        }));
        raddle_sched::yield_now().await;
        receiver.recv().unwrap().wake();
        let dump = tasks.dump();
        assert_eq!(dump.tasks()[0].state(), TaskState::Queued);
        assert_eq!(dump.tasks()[0].last_wake().unwrap().by(), WokenBy::Other);
        task.abort();
    });
}

#[test]
fn the_polls_of_a_task_are_counted_and_a_name_is_shown() {
    let tasks = TaskTable::new();
    scheduler(&tasks).block_on(async {
        let name_guard = raddle_task::name_next(Some("yields"));
        let task = raddle_sched::spawn(async {
            for _ in 0..3 {
                raddle_sched::yield_now().await;
            }
            pending::<()>().await;
        });
        drop(name_guard);
        for _ in 0..10 {
            raddle_sched::yield_now().await;
        }
        let dump = tasks.dump();
        assert_eq!(dump.tasks()[0].polls(), 4);
        assert_eq!(dump.tasks()[0].name(), Some("yields"));
        assert!(dump.to_string().contains("\"yields\""));
        task.abort();
    });
}
