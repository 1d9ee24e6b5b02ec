//! `UnhandledPanic::ShutdownRuntime`, of runtimes and of local sets.

use std::cell::Cell;
use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::common::{Live, builders, current_thread, eventually, multi_thread, panic_message};
use raddle::runtime::{Runtime, UnhandledPanic};
use raddle::task::{JoinError, JoinHandle, LocalSet, spawn_blocking, spawn_local, yield_now};

const EXPECTED: &str = "expected by this test";
const ENDED: &str = "UnhandledPanic::Ignore lets the";

/// Runs a test on a runtime of each builder, with `UnhandledPanic::ShutdownRuntime`.
fn each_flavor(test: impl Fn(Runtime)) {
    for mut builder in builders() {
        builder.unhandled_panic(UnhandledPanic::ShutdownRuntime);
        test(builder.build().unwrap());
    }
}

async fn panics() {
    yield_now().await;
    panic!("{EXPECTED}");
}

/// The result of a task whose runtime has shut down.
fn end_of<T>(task: JoinHandle<T>) -> Result<T, JoinError> {
    current_thread().build().unwrap().block_on(task)
}

/// Asserts that a panic has shut the runtime down, and that later calls report it.
fn assert_ended(runtime: &Runtime) {
    let message = panic_message(|| runtime.block_on(async {}));
    assert!(message.contains(ENDED), "{message}");
    let message = panic_message(|| runtime.handle().block_on(async {}));
    assert!(message.contains(ENDED), "{message}");
    assert!(end_of(runtime.spawn(async {})).unwrap_err().is_cancelled());
}

fn assert_goes_on(runtime: &Runtime) {
    runtime.block_on(async { raddle::spawn(async {}).await.unwrap() });
}

fn message(error: JoinError) -> String {
    *error.into_panic().downcast().unwrap()
}

#[test]
fn the_other_tasks_are_dropped_and_block_on_panics() {
    each_flavor(|runtime| {
        let count = Arc::new(AtomicUsize::new(0));
        let others: Vec<_> = (0..100)
            .map(|_| {
                let live = Live::new(&count);
                runtime.spawn(async move {
                    let _live = live;
                    pending::<()>().await;
                })
            })
            .collect();
        let panicked = runtime.spawn(panics());
        let said = panic_message(|| runtime.block_on(pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        assert_eq!(message(end_of(panicked).unwrap_err()), EXPECTED);
        for other in others {
            assert!(end_of(other).unwrap_err().is_cancelled());
        }
        eventually("all tasks are dropped", || count.load(SeqCst) == 0);
        assert_ended(&runtime);
    });
}

#[test]
fn block_on_panics_while_it_waits_for_the_task_that_panics() {
    for _ in 0..100 {
        each_flavor(|runtime| {
            let said = panic_message(|| {
                runtime.block_on(async { raddle::spawn(panics()).await.is_err() });
            });
            assert!(said.contains(ENDED), "{said}");
            assert_ended(&runtime);
        });
    }
}

#[test]
fn every_thread_that_blocks_is_woken() {
    each_flavor(|runtime| {
        let (ready, is_ready) = channel();
        let waits = || {
            let ready = ready.clone();
            poll_fn(move |_| {
                let _ = ready.send(());
                Poll::<()>::Pending
            })
        };
        let handle = runtime.handle().clone();
        let waiting = waits();
        let blocking = runtime.spawn_blocking(move || handle.block_on(waiting));
        thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|number| {
                    let (waiting, runtime) = (waits(), &runtime);
                    scope.spawn(move || {
                        panic_message(|| match number % 2 {
                            0 => runtime.block_on(waiting),
                            _ => runtime.handle().block_on(waiting),
                        })
                    })
                })
                .collect();
            (0..5).for_each(|_| is_ready.recv().unwrap());
            runtime.spawn(panics());
            for thread in threads {
                let said = thread.join().unwrap();
                assert!(said.contains(ENDED), "{said}");
            }
        });
        let said = end_of(blocking).unwrap_err().into_panic();
        assert!(said.downcast::<&str>().unwrap().contains(ENDED));
    });
}

#[test]
fn block_on_does_not_wait_for_a_poll_that_does_not_return() {
    let mut builder = multi_thread();
    builder.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    let runtime = builder.build().unwrap();
    let (begun, has_begun) = channel();
    let (open, gate) = channel::<()>();
    let stuck = runtime.spawn(async move {
        begun.send(()).unwrap();
        let _ = gate.recv();
        pending::<()>().await;
    });
    has_begun.recv().unwrap();
    runtime.spawn(panics());
    let said = panic_message(|| runtime.block_on(pending::<()>()));
    assert!(said.contains(ENDED), "{said}");
    drop(open);
    assert!(end_of(stuck).unwrap_err().is_cancelled());
}

#[test]
fn tasks_that_are_always_ready_are_dropped_too() {
    each_flavor(|runtime| {
        let busy: Vec<_> = (0..10)
            .map(|_| {
                runtime.spawn(async {
                    loop {
                        yield_now().await;
                    }
                })
            })
            .collect();
        runtime.spawn(panics());
        let said = panic_message(|| runtime.block_on(pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        for task in busy {
            let error: JoinError = end_of::<()>(task).unwrap_err();
            assert!(error.is_cancelled());
        }
    });
}

#[test]
fn a_future_dropped_by_shutdown_has_its_runtime_current() {
    struct SpawnsWhenDropped(std::sync::mpsc::Sender<JoinHandle<()>>);
    impl Drop for SpawnsWhenDropped {
        fn drop(&mut self) {
            self.0.send(raddle::spawn(pending::<()>())).unwrap();
        }
    }
    each_flavor(|runtime| {
        let (spawned, late) = channel();
        let spawns = SpawnsWhenDropped(spawned);
        runtime.spawn(async move {
            let _spawns = spawns;
            raddle::time::sleep(Duration::from_secs(3600)).await;
        });
        runtime.spawn(panics());
        let said = panic_message(|| runtime.block_on(pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        assert!(end_of(late.recv().unwrap()).unwrap_err().is_cancelled());
    });
}

/// Panics in its drop.
struct PanicsOnDrop;

impl Drop for PanicsOnDrop {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("{EXPECTED}");
        }
    }
}

/// A future that is ready at once and panics in its drop.
struct ReadyThenPanicsOnDrop(PanicsOnDrop);

impl Future for ReadyThenPanicsOnDrop {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

#[test]
fn a_panic_in_the_drop_of_a_future_that_is_ready_counts() {
    each_flavor(|runtime| {
        let task = runtime.spawn(ReadyThenPanicsOnDrop(PanicsOnDrop));
        let said = panic_message(|| runtime.block_on(pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        assert_eq!(message(end_of(task).unwrap_err()), EXPECTED);
        assert_ended(&runtime);
    });
}

#[test]
fn a_panic_of_an_aborted_future_does_not_count() {
    each_flavor(|runtime| {
        let task = runtime.spawn(async {
            let _value = PanicsOnDrop;
            pending::<()>().await;
        });
        let error = runtime.block_on(async {
            // Lets the task be polled once, so that it owns its value.
            yield_now().await;
            raddle::spawn(async {}).await.unwrap();
            task.abort();
            task.await.unwrap_err()
        });
        assert!(error.is_panic() || error.is_cancelled());
        assert_goes_on(&runtime);
    });
}

#[test]
fn a_panic_of_an_output_does_not_count() {
    each_flavor(|runtime| {
        // The task is detached: its handle is dropped before it completes.
        let (detach, detached) = channel();
        let task = runtime.spawn(async move {
            while detached.try_recv().is_err() {
                yield_now().await;
            }
            PanicsOnDrop
        });
        drop(task);
        detach.send(()).unwrap();
        let metrics = runtime.metrics();
        runtime.block_on(async {
            while metrics.num_alive_tasks() > 0 {
                yield_now().await;
            }
        });
        assert_goes_on(&runtime);
        let task = runtime.spawn(async { PanicsOnDrop });
        runtime.block_on(async {
            while !task.is_finished() {
                yield_now().await;
            }
        });
        drop(task);
        assert_goes_on(&runtime);
    });
}

#[test]
fn blocking_work_and_the_blocked_on_future_do_not_count() {
    each_flavor(|runtime| {
        let error = runtime.block_on(async {
            let work: JoinHandle<()> = spawn_blocking(|| panic!("{EXPECTED}"));
            work.await.unwrap_err()
        });
        assert_eq!(message(error), EXPECTED);
        assert_goes_on(&runtime);
        let said = panic_message(|| runtime.block_on(panics()));
        assert_eq!(said, EXPECTED);
        assert_goes_on(&runtime);
    });
}

#[test]
fn by_default_a_panic_ends_only_its_task() {
    crate::common::each_flavor(|runtime| {
        let error = runtime.block_on(async { raddle::spawn(panics()).await.unwrap_err() });
        assert_eq!(message(error), EXPECTED);
        assert_goes_on(&runtime);
    });
}

#[test]
fn many_tasks_that_panic_at_once_leak_nothing() {
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..50 {
        each_flavor(|runtime| {
            for number in 0..20 {
                let live = Live::new(&count);
                runtime.spawn(async move {
                    let _live = live;
                    match number % 4 {
                        0 => panics().await,
                        1 => yield_now().await,
                        2 => raddle::time::sleep(Duration::from_millis(number)).await,
                        _ => pending::<()>().await,
                    }
                });
            }
            let said = panic_message(|| runtime.block_on(pending::<()>()));
            assert!(said.contains(ENDED), "{said}");
        });
    }
    eventually("all tasks are dropped", || count.load(SeqCst) == 0);
}

/// A local set with `UnhandledPanic::ShutdownRuntime`.
fn local_set() -> LocalSet {
    let mut local = LocalSet::new();
    local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    local
}

#[test]
fn a_local_set_has_its_own_setting() {
    each_flavor(|runtime| {
        // The set does not take the runtime's setting.
        let local = LocalSet::new();
        let error = local.block_on(&runtime, async { spawn_local(panics()).await.unwrap_err() });
        assert_eq!(message(error), EXPECTED);
        assert_goes_on(&runtime);

        let local = local_set();
        let dropped = Rc::new(Cell::new(false));
        struct Sets(Rc<Cell<bool>>);
        impl Drop for Sets {
            fn drop(&mut self) {
                self.0.set(true);
            }
        }
        let sets = Sets(dropped.clone());
        let other = local.spawn_local(async move {
            let _sets = sets;
            pending::<()>().await;
        });
        let panicked = local.spawn_local(panics());
        let said = panic_message(|| local.block_on(&runtime, pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        assert!(dropped.get());
        assert_eq!(message(end_of(panicked).unwrap_err()), EXPECTED);
        assert!(end_of(other).unwrap_err().is_cancelled());
        let late = local.spawn_local(async {});
        assert!(end_of(late).unwrap_err().is_cancelled());
        let said = panic_message(|| local.block_on(&runtime, async {}));
        assert!(said.contains(ENDED), "{said}");
        let said = panic_message(|| runtime.block_on(local));
        assert!(said.contains(ENDED), "{said}");
        assert_goes_on(&runtime);
    });
}

#[test]
fn a_local_set_driven_by_its_own_task_panics_after_that_task_returned() {
    crate::common::each_flavor(|runtime| {
        let local = Rc::new(local_set());
        let inner = local.clone();
        let driver = local.spawn_local(async move {
            spawn_local(panics());
            inner.run_until(pending::<()>()).await;
        });
        let said = panic_message(|| local.block_on(&runtime, pending::<()>()));
        assert!(said.contains(ENDED), "{said}");
        assert!(end_of(driver).is_err());
    });
}
