//! `LocalRuntime`.

use std::cell::Cell;
use std::future::pending;
use std::rc::Rc;
use std::time::Duration;

use crate::common::panic_message;
use raddle::runtime::{Builder, Handle, LocalOptions, LocalRuntime, UnhandledPanic};
use raddle::task::{spawn, spawn_blocking, spawn_local, yield_now};
use raddle::time::sleep;

#[test]
fn local_tasks_run_beside_the_future_and_others() {
    let runtime = LocalRuntime::new().unwrap();
    let text = Rc::new("not Send");
    let ours = text.clone();
    let before = runtime.spawn_local(async move {
        sleep(Duration::from_millis(1)).await;
        ours.len()
    });
    let sum = runtime.block_on(async move {
        let nested = spawn_local(async move { spawn_local(async move { text.len() }).await });
        // A task that is `Send` may spawn local tasks, too.
        let sent = spawn(async { spawn_local(async { yield_now().await }).await });
        let blocking = spawn_blocking(|| 1);
        sent.await.unwrap().unwrap();
        before.await.unwrap() + nested.await.unwrap().unwrap() + blocking.await.unwrap()
    });
    assert_eq!(sum, 17);
}

#[test]
fn entering_allows_spawn_and_spawn_local() {
    let runtime = LocalRuntime::new().unwrap();
    let (local, sent) = {
        let _entered = runtime.enter();
        (spawn_local(async { 1 }), spawn(async { 2 }))
    };
    let sum = runtime.block_on(async { local.await.unwrap() + sent.await.unwrap() });
    assert_eq!(sum, 3);
    // A handle may leave the thread, so it cannot spawn local tasks.
    let handle = runtime.handle().clone();
    let _entered = handle.enter();
    assert!(panic_message(|| drop(spawn_local(async {}))).contains("LocalRuntime"));
}

#[test]
fn dropping_the_runtime_drops_its_tasks_inside_it() {
    struct AtDrop(Rc<Cell<usize>>);
    impl Drop for AtDrop {
        fn drop(&mut self) {
            Handle::current();
            self.0.set(self.0.get() + 1);
        }
    }
    let drops = Rc::new(Cell::new(0));
    for end in [
        (|runtime| drop(runtime)) as fn(LocalRuntime),
        |runtime| runtime.shutdown_timeout(Duration::from_secs(60)),
        |runtime| runtime.shutdown_background(),
    ] {
        let runtime = LocalRuntime::new().unwrap();
        let at_drop = AtDrop(drops.clone());
        let task = runtime.spawn_local(async move {
            let _at_drop = at_drop;
            pending::<()>().await;
        });
        runtime.block_on(yield_now());
        end(runtime);
        assert!(task.is_finished());
    }
    assert_eq!(drops.get(), 3);
}

#[test]
fn a_multi_thread_runtime_is_not_local() {
    let said = panic_message(|| {
        let _ = Builder::new_multi_thread().build_local(LocalOptions::default());
    });
    assert!(said.contains("new_current_thread"), "{said}");
}

#[raddle::test(flavor = "local")]
async fn a_test_may_run_on_a_local_runtime() {
    let text = Rc::new("not Send");
    assert_eq!(spawn_local(async move { text.len() }).await.unwrap(), 8);
}

/// A local task is a task of the runtime.
#[test]
fn with_shutdown_runtime_a_panic_of_a_local_task_shuts_the_runtime_down() {
    let runtime = Builder::new_current_thread()
        .unhandled_panic(UnhandledPanic::ShutdownRuntime)
        .build_local(LocalOptions::default())
        .unwrap();
    let waits = runtime.spawn_local(pending::<()>());
    for _ in 0..2 {
        let message = panic_message(|| {
            runtime.block_on(async {
                spawn_local(async { panic!("a task panics on purpose") });
                pending::<()>().await;
            });
        });
        assert!(message.contains("set to shut down"), "{message}");
        assert!(waits.is_finished());
    }
}
