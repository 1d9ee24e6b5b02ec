//! The wait-for graph of a dump, and the deadlocks in it.

use std::panic::Location;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle::runtime::dump::{Deadlock, Dump, Exit, Resource};
use raddle::runtime::{Builder, Handle, Runtime};
use raddle::sync::{Mutex, RwLock, Semaphore, mpsc, oneshot};
use raddle::task::{JoinHandle, yield_now};
use raddle::time::sleep;

fn runtime() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().enable_task_dumps().build().unwrap()
}

/// Waits until no task is ready, and takes a dump.
async fn dump() -> Dump {
    for _ in 0..20 {
        yield_now().await;
    }
    Handle::current().dump().unwrap()
}

fn id<T>(task: &JoinHandle<T>) -> u64 {
    task.id().to_string().parse().unwrap()
}

/// Asserts that there is one deadlock, of these tasks in this order, and returns it.
#[track_caller]
fn only<'a>(dump: &'a Dump, tasks: &[u64]) -> &'a Deadlock {
    assert_eq!(dump.deadlocks().len(), 1, "{dump}");
    let deadlock = &dump.deadlocks()[0];
    let from: Vec<_> = deadlock.edges().iter().map(|edge| edge.from()).collect();
    assert_eq!(from, tasks, "{dump}");
    for (edge, next) in deadlock.edges().iter().zip(from.iter().cycle().skip(1)) {
        assert_eq!(edge.to(), *next, "{dump}");
    }
    deadlock
}

/// The source text of this file at the location.
fn code_at(location: Option<&'static Location<'static>>) -> &'static str {
    let location = location.expect("no location");
    assert!(
        location.file().ends_with("task_dumps_deadlocks.rs"),
        "{location}"
    );
    let mut lines = include_str!("task_dumps_deadlocks.rs").lines();
    let line = lines.nth(location.line() as usize - 1).unwrap();
    &line[location.column() as usize - 1..]
}

/// Locks `first`, and after all other tasks have locked theirs, `second`.
async fn lock_both(first: Arc<Mutex<()>>, second: Arc<Mutex<()>>) {
    let _first = first.lock().await; // the first
    yield_now().await;
    yield_now().await;
    let _second = second.lock().await; // the second
}

#[test]
fn two_tasks_that_lock_in_opposite_orders_are_a_deadlock_with_both_lines() {
    runtime().block_on(async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let first = raddle::spawn(lock_both(a.clone(), b.clone()));
        let second = raddle::spawn(lock_both(b.clone(), a.clone()));
        let behind = raddle::spawn(async move { drop(a.lock().await) });
        let dump = dump().await;
        let deadlock = only(&dump, &[id(&first), id(&second)]);
        let exits = deadlock.edges().iter().map(|edge| Exit::MovedGuard(*edge));
        assert_eq!(deadlock.exits(), exits.collect::<Vec<_>>());
        for edge in deadlock.edges() {
            assert!(matches!(edge.wait().resource(), Resource::Lock(_)));
            assert!(code_at(edge.wait().location()).ends_with("// the second"));
            assert!(code_at(edge.location()).ends_with("// the first"));
        }
        let text = dump.to_string();
        assert!(
            text.contains("\nsuspected deadlock of 2 tasks:\n"),
            "{text}"
        );
        let passed_on = format!(
            "it may end if task {} has passed its guard of lock",
            id(&second)
        );
        assert!(text.contains(&passed_on), "{text}");
        let held = format!(", held by task {} since ", id(&second));
        assert!(text.contains(&held), "{text}");
        // The third task waits for the cycle, and is not part of it.
        let behind_edges = dump
            .edges()
            .iter()
            .filter(|edge| edge.from() == id(&behind));
        let to: Vec<_> = behind_edges.map(|edge| edge.to()).collect();
        assert_eq!(to, [id(&first)], "{dump}");
    });
}

#[test]
fn a_task_that_locks_twice_is_a_deadlock_of_one() {
    runtime().block_on(async {
        let task = raddle::spawn(async {
            let mutex = Mutex::new(());
            let _first = mutex.try_lock().unwrap();
            let _second = mutex.lock().await;
        });
        let dump = dump().await;
        let deadlock = only(&dump, &[id(&task)]);
        assert!(code_at(deadlock.edges()[0].location()).starts_with("try_lock"));
        assert!(
            dump.to_string()
                .contains("\nsuspected deadlock of 1 task:\n"),
            "{dump}"
        );
    });
}

#[test]
fn a_task_that_reads_and_waits_to_write_is_a_deadlock() {
    runtime().block_on(async {
        let lock = Arc::new(RwLock::new(()));
        let task = raddle::spawn(async move {
            let _read = lock.read().await;
            let _write = lock.write().await;
        });
        let dump = dump().await;
        assert!(matches!(
            only(&dump, &[id(&task)]).exits(),
            [Exit::MovedGuard(_)]
        ));
    });
}

#[test]
fn two_tasks_that_join_one_another_are_a_deadlock() {
    runtime().block_on(async {
        let (sender, receiver) = oneshot::channel::<JoinHandle<()>>();
        let first = raddle::spawn(async move {
            receiver.await.unwrap().await.unwrap();
        });
        let first_id = id(&first);
        let second = raddle::spawn(async move { first.await.unwrap() });
        let second_id = id(&second);
        sender.send(second).unwrap();
        let dump = dump().await;
        let deadlock = only(&dump, &[first_id, second_id]);
        assert!(!deadlock.is_suspected());
        assert_eq!(
            deadlock.edges()[0].wait().resource(),
            Resource::Task(second_id)
        );
    });
}

#[test]
fn a_task_that_holds_a_lock_and_joins_a_task_that_waits_for_it_is_a_deadlock() {
    runtime().block_on(async {
        let mutex = Arc::new(Mutex::new(()));
        let task = raddle::spawn(async move {
            let _held = mutex.lock().await;
            let mutex = mutex.clone();
            raddle::spawn(async move { drop(mutex.lock().await) })
                .await
                .unwrap();
        });
        let dump = dump().await;
        let inner_id = dump.tasks().last().unwrap().id();
        let deadlock = only(&dump, &[id(&task), inner_id]);
        assert!(matches!(deadlock.exits(), [Exit::MovedGuard(_)]));
    });
}

#[test]
fn two_tasks_that_send_to_one_another_over_full_channels_are_a_suspected_deadlock() {
    async fn exchange(sender: mpsc::Sender<u32>, mut receiver: mpsc::Receiver<u32>) {
        sender.send(1).await.unwrap();
        receiver.recv().await.unwrap();
        loop {
            sender.send(2).await.unwrap();
        }
    }
    runtime().block_on(async {
        let (to_second, from_first) = mpsc::channel(1);
        let (to_first, from_second) = mpsc::channel(1);
        let first = raddle::spawn(exchange(to_second, from_second));
        let second = raddle::spawn(exchange(to_first, from_first));
        let dump = dump().await;
        let deadlock = only(&dump, &[id(&first), id(&second)]);
        assert!(deadlock.is_suspected());
        for edge in deadlock.edges() {
            assert!(matches!(edge.wait().resource(), Resource::Room(_)));
            assert!(code_at(edge.location()).starts_with("recv()"));
        }
        assert!(
            dump.to_string()
                .contains("\nsuspected deadlock of 2 tasks:\n"),
            "{dump}"
        );
        assert!(
            dump.to_string()
                .contains(", whose receiver is used by task "),
            "{dump}"
        );
    });
}

#[test]
fn tasks_that_wait_for_permits_of_one_another_are_a_suspected_deadlock() {
    runtime().block_on(async {
        let semaphore = Arc::new(Semaphore::new(2));
        let take_two = |semaphore: Arc<Semaphore>| async move {
            let _first = semaphore.acquire().await.unwrap();
            yield_now().await;
            let _second = semaphore.acquire().await.unwrap();
        };
        raddle::spawn(take_two(semaphore.clone()));
        raddle::spawn(take_two(semaphore.clone()));
        let dump = dump().await;
        assert_eq!(dump.deadlocks().len(), 1, "{dump}");
        assert!(dump.deadlocks()[0].is_suspected());
        // A permit that another task adds ends the wait.
        semaphore.add_permits(1);
        let dump = self::dump().await;
        assert!(dump.tasks().is_empty() && dump.edges().is_empty(), "{dump}");
    });
}

#[test]
fn a_lock_whose_holder_makes_progress_is_no_deadlock() {
    runtime().block_on(async {
        let mutex = Arc::new(Mutex::new(()));
        let holder = raddle::spawn({
            let mutex = mutex.clone();
            async move {
                let _held = mutex.lock().await;
                sleep(Duration::from_secs(60)).await;
            }
        });
        yield_now().await;
        let waiter = raddle::spawn(async move { drop(mutex.lock().await) });
        let waiter_id = id(&waiter);
        let joiner = raddle::spawn(waiter);
        let dump = dump().await;
        assert!(dump.deadlocks().is_empty(), "{dump}");
        let edges: Vec<_> = dump
            .edges()
            .iter()
            .map(|edge| (edge.from(), edge.to()))
            .collect();
        assert_eq!(
            edges,
            [(waiter_id, id(&holder)), (id(&joiner), waiter_id)],
            "{dump}"
        );
        holder.abort();
        let dump = self::dump().await;
        assert!(dump.tasks().is_empty() && dump.edges().is_empty(), "{dump}");
    });
}

#[test]
fn a_circle_with_a_task_that_waits_for_something_else_too_is_suspected_after_a_while() {
    runtime().block_on(async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        raddle::spawn(lock_both(a.clone(), b.clone()));
        raddle::spawn(async move {
            let both = lock_both(b, a);
            let _ = raddle::time::timeout(Duration::from_secs(60), both).await;
        });
        let first = dump().await;
        assert_eq!(first.edges().len(), 2, "{first}");
        assert!(first.deadlocks().is_empty(), "{first}");
        sleep(Duration::from_millis(60)).await;
        let dump = dump().await;
        let [deadlock] = dump.deadlocks() else {
            panic!("{dump}");
        };
        let other = deadlock.exits().iter().find_map(|exit| match exit {
            Exit::OtherWait { wait, .. } => Some(wait.operation()),
            _ => None,
        });
        assert_eq!(other, Some("sleep"), "{dump}");
    });
}

#[cfg(feature = "macros")]
#[test]
fn a_circle_with_a_task_that_also_joins_a_task_that_makes_progress_is_suspected() {
    runtime().block_on(async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        raddle::spawn(lock_both(a.clone(), b.clone()));
        let sleeper = raddle::spawn(sleep(Duration::from_secs(60)));
        raddle::spawn(async move {
            raddle::select! {
                () = lock_both(b, a) => {}
                _ = sleeper => {}
            }
        });
        sleep(Duration::from_millis(60)).await;
        let dump = dump().await;
        assert_eq!(dump.edges().len(), 3, "{dump}");
        let exits: Vec<_> = dump.deadlocks().iter().flat_map(Deadlock::exits).collect();
        let is_join = |exit: &&&Exit| {
            matches!(exit, Exit::OtherWait { wait, .. } if wait.operation() == "JoinHandle")
        };
        assert_eq!(exits.iter().filter(is_join).count(), 1, "{dump}");
    });
}

/// A future with a waker of its own, as in a `FuturesUnordered`: its task may be polled without
/// polling it.
struct WithItsWaker<F>(std::pin::Pin<Box<F>>);

struct Forward(std::task::Waker);

impl std::task::Wake for Forward {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
    }
}

impl<F: Future> Future for WithItsWaker<F> {
    type Output = F::Output;

    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<F::Output> {
        let waker = Arc::new(Forward(cx.waker().clone())).into();
        let mut cx = std::task::Context::from_waker(&waker);
        self.0.as_mut().poll(&mut cx)
    }
}

#[test]
fn a_circle_through_a_future_with_a_waker_of_its_own_is_suspected() {
    runtime().block_on(async {
        let (a, b) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(())));
        let first = raddle::spawn(lock_both(a.clone(), b.clone()));
        let second = raddle::spawn(async move {
            let _first = b.lock().await;
            yield_now().await;
            yield_now().await;
            WithItsWaker(Box::pin(async { drop(a.lock().await) })).await;
        });
        let dump = dump().await;
        let edges = dump.edges().iter().map(|edge| (edge.from(), edge.to()));
        let circle = [(id(&first), id(&second)), (id(&second), id(&first))];
        assert_eq!(edges.collect::<Vec<_>>(), circle, "{dump}");
        sleep(Duration::from_millis(60)).await;
        // The second task may contain other futures with wakers of their own.
        let dump = self::dump().await;
        let task = id(&second);
        let exits = dump.deadlocks().iter().flat_map(Deadlock::exits);
        let parts: Vec<_> = exits
            .filter(|exit| **exit == Exit::OtherParts { task })
            .collect();
        assert_eq!(parts.len(), 1, "{dump}");
    });
}

#[test]
fn a_guard_that_was_dropped_by_another_task_is_not_held_any_more() {
    runtime().block_on(async {
        let mutex = Arc::new(Mutex::new(()));
        let guard = raddle::spawn(mutex.clone().lock_owned()).await.unwrap();
        let waiter = raddle::spawn({
            let mutex = mutex.clone();
            async move {
                let _held = mutex.lock().await;
                std::future::pending::<()>().await;
            }
        });
        assert_eq!(dump().await.edges().len(), 1);
        raddle::spawn(async move { drop(guard) }).await.unwrap();
        let behind = raddle::spawn(async move { drop(mutex.lock().await) });
        let dump = dump().await;
        let edges: Vec<_> = dump
            .edges()
            .iter()
            .map(|edge| (edge.from(), edge.to()))
            .collect();
        assert_eq!(edges, [(id(&behind), id(&waiter))], "{dump}");
    });
}

#[test]
fn a_block_on_that_holds_a_lock_and_joins_a_waiting_task_is_a_suspected_deadlock() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(1)
        .enable_task_dumps()
        .build()
        .unwrap();
    let handle = runtime.handle().clone();
    // Never joined: the thread waits until the process exits.
    thread::Builder::new()
        .name("stuck".to_owned())
        .spawn(move || {
            runtime.block_on(async {
                let mutex = Arc::new(Mutex::new(()));
                let _held = mutex.lock().await;
                let task = raddle::spawn({
                    let mutex = mutex.clone();
                    async move { drop(mutex.lock().await) }
                });
                let _ = task.await;
            });
        })
        .unwrap();
    let dump = loop {
        let dump = handle.dump().unwrap();
        match dump.deadlocks() {
            [] => thread::sleep(Duration::from_millis(1)),
            _ => break dump,
        }
    };
    assert_eq!(dump.block_ons().len(), 1);
    let call = &dump.block_ons()[0];
    assert_eq!(call.thread(), Some("stuck"));
    assert_eq!(
        call.waits()[0].resource(),
        Resource::Task(dump.tasks()[0].id())
    );
    let deadlock = only(&dump, &[dump.tasks()[0].id(), call.id()]);
    assert!(deadlock.is_suspected());
    let text = dump.to_string();
    assert!(
        text.contains(", on thread \"stuck\": waiting for "),
        "{text}"
    );
    assert!(text.contains(", held by block_on "), "{text}");
}

#[test]
fn a_block_on_that_has_ended_is_not_in_the_dump() {
    let runtime = runtime();
    runtime.block_on(async { sleep(Duration::from_millis(1)).await });
    assert!(runtime.handle().dump().unwrap().block_ons().is_empty());
}
