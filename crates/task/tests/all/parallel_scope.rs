//! Scopes whose tasks borrow and run on other threads: no task is left when the scope returns.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use raddle_primitives::sync::Mutex;
use raddle_task::{JoinHandle, Outcome, ParallelScope, Runnable, Spawn, SpawnMeta, parallel_scope};
use raddle_testing::block_on;

use crate::common::Count;

/// A runtime that runs each task on a thread of its own, each time that it is scheduled.
#[derive(Default)]
struct Threads {
    /// Tasks are dropped instead, as after a shutdown.
    is_shut_down: bool,
}

fn run(task: Runnable) {
    thread::spawn(move || {
        let mut task = task;
        while let Outcome::Again(again) = task.run() {
            task = again;
        }
    });
}

impl Spawn for Threads {
    type LocalSet = ();

    fn spawn<F>(_: F, _: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        unreachable!("a scope spawns on its runtime")
    }

    fn spawn_on<F>(&self, future: F, _: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (task, handle) = raddle_task::spawn(future, run);
        if self.is_shut_down {
            handle.abort();
        }
        run(task);
        handle
    }

    fn spawn_local<F>(_: F, _: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: 'static> + 'static,
    {
        unreachable!("a scope spawns on its runtime")
    }

    fn spawn_local_on<F>(_: &(), _: F, _: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: 'static> + 'static,
    {
        unreachable!("a scope spawns on its runtime")
    }

    fn spawn_blocking<F, T>(_: F, _: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        unreachable!("a scope spawns on its runtime")
    }

    fn spawn_blocking_on<F, T>(&self, _: F, _: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        unreachable!("a scope spawns on its runtime")
    }
}

/// A future that runs on this thread until it is ready.
type Blocking<'a> = Pin<&'a mut (dyn Future<Output = ()> + 'a)>;

fn scope<'env, F, T>(runtime: &'env Threads, body: F) -> T
where
    F: for<'scope> AsyncFnOnce(&'scope ParallelScope<'scope, 'env, Threads>) -> T,
{
    parallel_scope(runtime, |future: Blocking<'_>| block_on(future), body)
}

/// The waker is dropped while the scope waits for its tasks, whose borrows have to end first.
#[test]
fn a_waker_whose_drop_panics_does_not_end_a_scope_early() {
    struct PanicsWhenDropped;
    impl Wake for PanicsWhenDropped {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            panic!("the drop of a waker");
        }
    }
    let (ended, runtime) = (AtomicUsize::new(0), Threads::default());
    let poll_once = |future: Blocking<'_>| {
        let waker = Waker::from(Arc::new(PanicsWhenDropped));
        let _ = future.poll(&mut Context::from_waker(&waker));
    };
    let result = catch_unwind(AssertUnwindSafe(|| {
        parallel_scope(&runtime, poll_once, async |scope| {
            scope.spawn(async {
                // Longer than it takes to report the panic.
                for _ in 0..100 {
                    pause().await;
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        });
    }));
    assert_eq!(ended.into_inner(), 1, "{result:?}");
}

/// Is woken by another thread after a while.
async fn pause() {
    let mut is_first = true;
    poll_fn(|cx| {
        if !std::mem::take(&mut is_first) {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(5));
            waker.wake();
        });
        Poll::Pending
    })
    .await;
}

#[test]
fn tasks_on_other_threads_borrow_and_are_waited_for() {
    let texts = ["one", "three"].map(String::from);
    let threads = Mutex::new(Vec::new());
    let done = AtomicUsize::new(0);
    let runtime = Threads::default();
    let length = scope(&runtime, async |scope| {
        for _ in 0..4 {
            // Nothing awaits it.
            scope.spawn(async {
                threads.lock().push(thread::current().id());
                pause().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        let first = scope.spawn(async { texts[0].len() });
        let second = scope.spawn(async {
            pause().await;
            texts[1].len()
        });
        first.await + second.await
    });
    assert_eq!((length, done.into_inner()), (8, 4));
    assert!(!threads.lock().contains(&thread::current().id()));
}

#[test]
fn a_task_spawns_further_tasks_after_the_body_has_ended() {
    let done = AtomicUsize::new(0);
    scope(&Threads::default(), async |scope| {
        scope.spawn(async {
            pause().await;
            for _ in 0..3 {
                scope.spawn(async {
                    pause().await;
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
    });
    assert_eq!(done.into_inner(), 3);
}

#[test]
fn outputs_may_borrow_and_those_of_dropped_handles_are_dropped_in_time() {
    struct Output<'a>(&'a AtomicUsize);
    impl Drop for Output<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let drops = AtomicUsize::new(0);
    scope(&Threads::default(), async |scope| {
        let kept = scope.spawn(async { Output(&drops) });
        for _ in 0..3 {
            drop(scope.spawn(async {
                pause().await;
                Output(&drops)
            }));
        }
        assert_eq!(kept.await.0.load(Ordering::Relaxed), 0);
    });
    assert_eq!(drops.into_inner(), 4);
}

#[test]
fn a_panic_of_a_task_is_returned_after_the_others_have_completed() {
    let done = AtomicUsize::new(0);
    let panics = catch_unwind(AssertUnwindSafe(|| {
        scope(&Threads::default(), async |scope| {
            let panics = scope.spawn(async { panic!("the task's own message") });
            scope.spawn(async {
                pause().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
            // This panics too, as there is no output.
            let () = panics.await;
        });
    }));
    let payload = panics.unwrap_err();
    assert_eq!(
        payload.downcast_ref::<&str>(),
        Some(&"the task's own message")
    );
    assert_eq!(done.into_inner(), 1);
}

#[test]
fn a_panic_of_the_body_or_of_the_executor_waits_for_the_tasks() {
    let done = AtomicUsize::new(0);
    let body = async |scope: &ParallelScope<'_, '_, Threads>| -> () {
        let _ = scope;
        panic!("the body's own message");
    };
    assert!(catch_unwind(AssertUnwindSafe(|| scope(&Threads::default(), body))).is_err());

    // The body runs until it waits.
    let stops_early = |future: Blocking<'_>| {
        assert!(raddle_testing::poll(future).is_pending());
        panic!("the executor's own message");
    };
    let panics = catch_unwind(AssertUnwindSafe(|| {
        parallel_scope(&Threads::default(), stops_early, async |scope| {
            scope.spawn(async {
                pause().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
            pending::<()>().await;
        });
    }));
    let payload = panics.unwrap_err();
    assert_eq!(
        payload.downcast_ref::<&str>(),
        Some(&"the executor's own message")
    );
    assert_eq!(done.into_inner(), 1);
}

#[test]
fn an_executor_that_returns_early_waits_for_the_tasks() {
    let done = AtomicUsize::new(0);
    let returns_early = |future: Blocking<'_>| assert!(raddle_testing::poll(future).is_pending());
    let panics = catch_unwind(AssertUnwindSafe(|| {
        parallel_scope(&Threads::default(), returns_early, async |scope| {
            scope.spawn(async {
                pause().await;
                done.fetch_add(1, Ordering::Relaxed);
            });
            pending::<()>().await;
        });
    }));
    assert!(panics.is_err());
    assert_eq!(done.into_inner(), 1);
}

#[test]
fn a_task_that_a_shutdown_has_dropped_is_a_panic() {
    let count = Count::default();
    let runtime = Threads { is_shut_down: true };
    let panics = catch_unwind(AssertUnwindSafe(|| {
        scope(&runtime, async |scope| {
            let counted = count.one();
            scope.spawn(async move { drop(counted) });
        });
    }));
    let payload = panics.unwrap_err();
    let message = payload.downcast_ref::<&str>().unwrap();
    assert!(message.contains("shut down"), "{message}");
    assert_eq!(count.get(), 0);
}
