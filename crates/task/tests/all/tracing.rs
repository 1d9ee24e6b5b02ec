//! The spans of tasks and of blocking work, as their spawner makes them.
#![allow(clippy::disallowed_types, reason = "never modelled")]

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use raddle_task::blocking::{self, BlockingTask};
use raddle_task::trace::{self, BlockingSpan, Kind};
use raddle_task::{Id, JoinHandle, Outcome, Runnable};
use raddle_testing::spans::{Recorded, current, recorded, spawning_by_subscriber, start};

/// The spans with this id of a task.
fn spans_of(id: Id) -> Vec<Recorded> {
    let id = id.to_string();
    recorded(|span| span.field("task.id") == Some(&id))
}

#[track_caller]
fn span_of(id: Id) -> Recorded {
    let mut spans = spans_of(id);
    assert_eq!(spans.len(), 1, "task {id} has one span");
    spans.pop().unwrap()
}

#[track_caller]
fn spawn<F>(kind: Kind, future: F) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future<Output: Send> + Send + 'static,
{
    raddle_task::spawn(trace::task(kind, future), drop::<Runnable>)
}

fn output<T>(mut future: impl Future<Output = T> + Unpin) -> T {
    match pin!(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it has completed"),
    }
}

#[test]
fn a_span_describes_its_task_and_is_entered_to_poll_and_to_drop_it() {
    start();
    for (kind, name) in [(Kind::Task, "task"), (Kind::Local, "local")] {
        let future = async { current() };
        let size = size_of_val(&future);
        let ((task, handle), line) = (spawn(kind, future), line!());
        let span = span_of(handle.id());
        assert_eq!((span.target, span.name), ("tokio::task", "runtime.spawn"));
        assert!(span.is_root && !span.closed);
        assert_eq!(span.field("kind"), Some(name));
        assert_eq!(span.field("task.name"), None);
        assert_eq!(span.field("size.bytes"), Some(&*size.to_string()));
        assert_eq!(span.field("loc.file"), Some(file!()));
        assert_eq!(span.field("loc.line"), Some(&*line.to_string()));
        assert!(matches!(task.run(), Outcome::Complete));
        assert_eq!(output(handle).unwrap(), Some(span.id.clone()));
        let ended = recorded(|other| other.id == span.id).remove(0);
        assert_eq!((ended.enters, ended.exits, ended.closed), (2, 2, true));
    }
}

#[test]
fn a_future_that_is_blocked_on_takes_an_id_from_all_tasks() {
    start();
    let upcoming = raddle_task::upcoming_id();
    let id = output(Box::pin(trace::task(Kind::BlockOn, async { current() })));
    let span = span_of(upcoming);
    assert_eq!(id, Some(span.id.clone()));
    assert_eq!(span.field("kind"), Some("block_on"));
    assert_ne!(raddle_task::upcoming_id(), upcoming);
}

/// The name in the span of a task that is spawned now.
fn name_of_task() -> Option<String> {
    let (task, handle) = spawn(Kind::Task, async {});
    drop(task);
    span_of(handle.id()).field("task.name").map(str::to_owned)
}

#[test]
fn a_name_applies_to_one_task_spawned_under_its_guard() {
    start();
    let outer = raddle_task::name_next(Some("outer"));
    let inner = raddle_task::name_next(Some("inner"));
    assert_eq!(name_of_task().as_deref(), Some("inner"));
    assert_eq!(name_of_task(), None);
    drop(inner);
    assert_eq!(name_of_task().as_deref(), Some("outer"));
    drop(outer);
    assert_eq!(name_of_task(), None);
    drop(raddle_task::name_next(Some("of no task")));
    assert_eq!(name_of_task(), None);
}

#[test]
fn a_span_has_the_id_of_its_task_though_a_subscriber_spawns_another() {
    start();
    let taken = raddle_task::upcoming_id();
    let by_subscriber = Box::new(move || assert_eq!(raddle_task::take_id(), taken));
    let (task, handle) =
        spawning_by_subscriber(by_subscriber, || spawn(Kind::Task, async { current() }));
    let id = handle.id();
    assert_ne!(id, taken);
    assert!(spans_of(taken).iter().all(|span| span.closed));
    drop(task.run());
    assert_eq!(output(handle).unwrap(), Some(span_of(id).id));
}

#[test]
fn blocking_work_has_a_span_that_it_is_called_in() {
    start();
    fn work() -> Option<tracing::Id> {
        current()
    }
    let mut span = None::<BlockingSpan>;
    let submit = |task: BlockingTask| {
        let made = trace::blocking(&task);
        assert_eq!(current(), None);
        made.in_scope(|| drop(task.into_runnable().run()));
        span = Some(made);
        Ok(())
    };
    let named = raddle_task::name_next(Some("sum"));
    let (handle, line) = (blocking::spawn(work, submit), line!());
    drop(named);
    let described = span_of(handle.id());
    assert_eq!(described.target, "tokio::task::blocking");
    assert_eq!(described.name, "runtime.spawn");
    assert_eq!(described.field("kind"), Some("blocking"));
    assert_eq!(described.field("task.name"), Some("sum"));
    assert_eq!(described.field("size.bytes"), Some("0"));
    assert!(described.field("fn").unwrap().ends_with("work"));
    assert_eq!(described.field("loc.line"), Some(&*line.to_string()));
    assert_eq!(output(handle).unwrap(), Some(described.id.clone()));
    assert!(!described.closed);
    drop(span);
    assert!(recorded(|other| other.id == described.id)[0].closed);
}
