//! The spans of tasks.
#![cfg(all(feature = "tracing", not(raddle_loom)))]
#![allow(clippy::disallowed_types, reason = "never modelled")]

#[path = "../common/mod.rs"]
mod common;

use std::future::pending;
use std::sync::mpsc::channel;

use common::{current_thread, each_flavor, eventually, multi_thread, panic_message};
use raddle::task::{Builder, Id, JoinSet, LocalSet, spawn_blocking, spawn_local, yield_now};
use raddle_testing::spans::{
    Recorded, current, recorded, spawning_by_subscriber, start, wakes_of, warnings,
};

/// The span of a task.
fn span_of(id: Id) -> Recorded {
    let id = id.to_string();
    let mut spans = recorded(|span| span.field("task.id") == Some(&id));
    assert_eq!(spans.len(), 1, "task {id} has one span");
    spans.pop().unwrap()
}

fn assert_closed(id: Id) {
    eventually("the span is closed", || span_of(id).closed);
    let span = span_of(id);
    assert_eq!(span.enters, span.exits);
}

#[track_caller]
fn assert_described(span: &Recorded, kind: &str, line: u32) {
    assert_eq!(span.name, "runtime.spawn");
    assert_eq!(span.field("kind"), Some(kind));
    assert!(span.field("loc.file").unwrap().ends_with("main.rs"));
    assert_eq!(span.field("loc.line"), Some(&*line.to_string()));
    assert!(span.field("loc.col").is_some());
    assert!(span.field("size.bytes").is_some());
}

#[test]
fn a_wake_is_an_event_with_the_span_of_the_task() {
    start();
    each_flavor(|runtime| {
        runtime.block_on(async {
            let (sender, receiver) = raddle::sync::oneshot::channel();
            let woken = raddle::spawn(async { receiver.await.unwrap() });
            let woken_span = span_of(woken.id());
            let id = woken.id();
            let sends = raddle::spawn(async move {
                while span_of(id).exits == 0 {
                    raddle::time::sleep(std::time::Duration::from_millis(1)).await;
                }
                // The other task waits by now.
                sender.send(()).unwrap();
            });
            let sends_span = span_of(sends.id());
            woken.await.unwrap();
            sends.await.unwrap();

            let wakes = wakes_of(&woken_span.id);
            assert_eq!(wakes.len(), 1, "{wakes:?}");
            assert!(wakes[0].op.starts_with("waker.wake"), "{wakes:?}");
            assert_eq!(wakes[0].by, Some(sends_span.id.clone()));
            // If the task had to wait, the timer has woken it.
            let wakes = wakes_of(&sends_span.id);
            assert!(wakes.iter().all(|wake| wake.by.is_none()), "{wakes:?}");

            // A task that wakes itself.
            let yields = raddle::spawn(yield_now());
            let span = span_of(yields.id());
            yields.await.unwrap();
            let wakes = wakes_of(&span.id);
            assert_eq!(wakes.len(), 1, "{wakes:?}");
            assert_eq!(wakes[0].op, "waker.wake_by_ref");
            assert_eq!(wakes[0].by, Some(span.id.clone()));
        });
    });
}

#[test]
fn a_lock_channel_or_sleep_has_a_span_from_its_creation_to_its_drop() {
    use raddle::sync::{Barrier, Mutex, RwLock, Semaphore, oneshot};
    use std::any::Any;

    start();
    let (channel, channel_line) = (oneshot::channel::<()>(), line!());
    let made: [(&str, u32, Box<dyn Any>); 5] = [
        ("Mutex", line!(), Box::new(Mutex::new(()))),
        ("RwLock", line!(), Box::new(RwLock::new(()))),
        ("Semaphore", line!(), Box::new(Semaphore::new(1))),
        ("Barrier", line!(), Box::new(Barrier::new(1))),
        ("Sender|Receiver", channel_line, Box::new(channel)),
    ];
    let span = |name: &str, line: u32| {
        let line = line.to_string();
        let mut found = recorded(|span| {
            span.field("concrete_type") == Some(name) && span.field("loc.line") == Some(&line)
        });
        assert_eq!(found.len(), 1, "{name}");
        found.pop().unwrap()
    };
    let mut closed = Vec::new();
    for (name, line, value) in made {
        let made = span(name, line);
        assert_eq!(
            (made.name, made.field("kind")),
            ("runtime.resource", Some("Sync"))
        );
        assert!(made.is_root && !made.closed, "{made:?}");
        drop(value);
        closed.push((name, span(name, line).closed));
    }
    assert!(closed.iter().all(|(_, closed)| *closed), "{closed:?}");

    current_thread().build().unwrap().block_on(async {
        let (sleep, line) = (raddle::time::sleep(std::time::Duration::ZERO), line!());
        assert_eq!(span("Sleep", line).field("kind"), Some("timer"));
        sleep.await;
        assert!(span("Sleep", line).closed);
    });
}

#[test]
fn a_span_has_the_kind_and_the_location_of_its_task() {
    start();
    each_flavor(|runtime| {
        runtime.block_on(async {
            let (task, line) = (raddle::spawn(yield_now()), line!());
            let span = span_of(task.id());
            assert_described(&span, "task", line);
            assert_eq!(span.target, "tokio::task");
            assert!(span.is_root);

            let mut set = JoinSet::new();
            let (task, line) = (set.spawn(yield_now()), line!());
            assert_described(&span_of(task.id()), "task", line);
        });
        let (task, line) = (runtime.spawn(async {}), line!());
        assert_described(&span_of(task.id()), "task", line);
        let (task, line) = (runtime.handle().spawn(async {}), line!());
        assert_described(&span_of(task.id()), "task", line);
    });
}

#[test]
fn a_span_has_the_name_that_the_builder_gives_the_task() {
    start();
    each_flavor(|runtime| {
        runtime.block_on(async {
            let builder = Builder::new().name("sum");
            let (task, line) = (builder.spawn(yield_now()).unwrap(), line!());
            let span = span_of(task.id());
            assert_described(&span, "task", line);
            assert_eq!(span.field("task.name"), Some("sum"));
            let task = builder.spawn_blocking(|| {}).unwrap();
            assert_eq!(span_of(task.id()).field("task.name"), Some("sum"));
            let mut set = JoinSet::new();
            let task = set.build_task().name("member").spawn(async {}).unwrap();
            assert_eq!(span_of(task.id()).field("task.name"), Some("member"));
            let task = raddle::spawn(async {});
            assert_eq!(span_of(task.id()).field("task.name"), None);
        });
    });
}

#[test]
fn a_span_is_entered_for_each_poll() {
    start();
    each_flavor(|runtime| {
        let task = runtime.spawn(async {
            let mut spans = Vec::new();
            for _ in 0..3 {
                spans.push(current());
                yield_now().await;
            }
            spans.push(current());
            spans
        });
        let id = task.id();
        let spans = runtime.block_on(task).unwrap();
        assert_closed(id);
        let span = span_of(id);
        assert!(spans.iter().all(|other| *other == Some(span.id.clone())));
        // The span is also entered for the drop of the future.
        assert_eq!(span.enters, 5);
    });
}

async fn fails() {
    panic!("expected by this test");
}

#[test]
fn a_span_is_closed_when_its_task_is_done() {
    start();
    each_flavor(|runtime| {
        let ids = runtime.block_on(async {
            let ready = raddle::spawn(async {});
            let panics = raddle::spawn(fails());
            let aborted = raddle::spawn(pending::<()>());
            let ids = [ready.id(), panics.id(), aborted.id()];
            ready.await.unwrap();
            panics.await.unwrap_err();
            assert!(!span_of(ids[2]).closed);
            aborted.abort();
            aborted.await.unwrap_err();
            ids
        });
        // The spans are closed at the latest when the join handle is ready.
        assert!(ids.into_iter().all(|id| span_of(id).closed));
        ids.into_iter().for_each(assert_closed);

        let left = runtime.spawn(pending::<()>()).id();
        let after = runtime.handle().clone();
        drop(runtime);
        assert_closed(left);
        assert_closed(after.spawn(async {}).id());
    });
}

#[test]
fn local_tasks_have_spans() {
    start();
    each_flavor(|runtime| {
        let local = LocalSet::new();
        let (first, line) = (local.spawn_local(pending::<()>()), line!());
        assert_described(&span_of(first.id()), "local", line);
        let second = local.block_on(&runtime, async {
            let (second, line) = (spawn_local(async { current() }), line!());
            let id = second.id();
            assert_described(&span_of(id), "local", line);
            assert_eq!(second.await.unwrap(), Some(span_of(id).id));
            id
        });
        assert_closed(second);
        let id = first.id();
        drop(local);
        assert_closed(id);
    });
}

#[test]
fn blocking_work_has_spans() {
    start();
    each_flavor(|runtime| {
        fn work() -> Option<tracing::Id> {
            current()
        }
        let (id, inside) = runtime.block_on(async {
            let (task, line) = (spawn_blocking(work), line!());
            let id = task.id();
            let span = span_of(id);
            assert_described(&span, "blocking", line);
            assert_eq!(span.target, "tokio::task::blocking");
            assert!(span.field("fn").unwrap().ends_with("work"));
            (id, task.await.unwrap())
        });
        assert_closed(id);
        assert_eq!(inside, Some(span_of(id).id));
        let refused = {
            let handle = runtime.handle().clone();
            drop(runtime);
            handle.spawn_blocking(work).id()
        };
        assert_closed(refused);
    });
}

#[test]
fn the_future_of_block_on_has_a_span() {
    start();
    let described = |inside: Option<tracing::Id>, line| {
        let spans = recorded(|span| Some(&span.id) == inside.as_ref());
        assert_described(&spans[0], "block_on", line);
        assert!(spans[0].closed);
    };
    each_flavor(|runtime| {
        let its_span = async || current();
        let (inside, line) = (runtime.block_on(its_span()), line!());
        described(inside, line);
        let (inside, line) = (runtime.handle().block_on(its_span()), line!());
        described(inside, line);
        let message = panic_message(|| runtime.block_on(fails()));
        assert_eq!(message, "expected by this test");
    });
}

#[test]
fn a_subscriber_may_spawn() {
    start();
    for mut builder in [multi_thread(), current_thread()] {
        let runtime = builder.build().unwrap();
        let (spawned, is_spawned) = channel();
        let handle = runtime.handle().clone();
        let task = spawning_by_subscriber(
            Box::new(move || spawned.send(handle.spawn(async {}).id()).unwrap()),
            || runtime.spawn(async { current() }),
        );
        let id = task.id();
        let inner = is_spawned.recv().unwrap();
        assert_eq!(runtime.block_on(task).unwrap(), recorded_last(id));
        eventually("the span of the other task is closed", || {
            runtime.block_on(yield_now());
            recorded(|span| span.field("task.id") == Some(&inner.to_string()))
                .iter()
                .all(|span| span.closed)
        });
    }
}

/// The last span with this task id, since an earlier span has the same id.
fn recorded_last(id: Id) -> Option<tracing::Id> {
    let id = id.to_string();
    let spans = recorded(|span| span.field("task.id") == Some(&id));
    spans.last().map(|span| span.id.clone())
}

/// A large future or closure is boxed before it becomes a task.
#[test]
fn the_span_of_a_large_task_describes_what_was_spawned() {
    async fn large() {
        let _content = std::future::ready([7_u8; 100_000]).await;
    }
    start();
    let size = size_of_val(&large()).to_string();
    let assert_sized = |id| assert_eq!(span_of(id).field("size.bytes"), Some(&*size));
    each_flavor(|runtime| {
        runtime.block_on(async {
            let (mut set, mut calls) = (JoinSet::new(), JoinSet::new());
            assert_sized(raddle::spawn(large()).id());
            assert_sized(set.spawn(large()).id());
            assert_sized(set.build_task().spawn(large()).unwrap().id());
            assert_sized(Builder::new().spawn(large()).unwrap().id());
            let local = async {
                assert_sized(spawn_local(large()).id());
                assert_sized(JoinSet::new().spawn_local(large()).id());
            };
            LocalSet::new().run_until(local).await;

            let content = [7_u8; 100_000];
            let call = move || std::hint::black_box(content)[7];
            for id in [
                spawn_blocking(call).id(),
                calls.spawn_blocking(call).id(),
                Builder::new().spawn_blocking(call).unwrap().id(),
            ] {
                eventually("the span is made", || {
                    let id = id.to_string();
                    !recorded(|span| span.field("task.id") == Some(&id)).is_empty()
                });
                assert_eq!(span_of(id).field("size.bytes"), Some("100000"));
                assert!(span_of(id).field("fn").unwrap().contains("{{closure}}"));
            }
        });
    });
}

#[test]
fn a_task_on_a_spare_worker_has_its_span_and_a_warning_says_that_there_are_no_more() {
    start();
    let mut builder = multi_thread();
    let runtime = builder.worker_threads(1).max_spare_workers(1).build();
    let runtime = runtime.unwrap();
    let stuck = || {
        let (release, released) = channel::<()>();
        let (begun, has_begun) = channel();
        let task = runtime.spawn(async move {
            begun.send(current()).unwrap();
            let _ = released.recv();
        });
        let span = span_of(task.id()).id;
        assert_eq!(has_begun.recv().unwrap(), Some(span));
        release
    };
    let releases = [stuck(), stuck()];
    assert_eq!(runtime.metrics().num_spare_workers(), 1);
    let waits = runtime.spawn(async {});
    eventually("the runtime warns", || {
        let mut warnings = warnings().into_iter();
        warnings.any(|text| {
            text.contains("all 1 spare workers are in use, 1 of ")
                && text.contains("::a_task_on_a_spare_worker")
                && text.contains("Builder::watchdog")
        })
    });
    drop(releases);
    runtime.block_on(waits).unwrap();
}
