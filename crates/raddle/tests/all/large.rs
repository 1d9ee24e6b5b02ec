//! Large futures and closures: how much of the stack each function that takes one needs.
//!
//! Each call runs on a thread with a small stack. A stack that overflows aborts the process; the
//! message of the abort has the name of the thread, which names the call.

use std::future::Future;
use std::hint::black_box;
use std::thread;
use std::time::Duration;

use crate::common::{current_thread, multi_thread, with_policy};
use raddle::runtime::{LocalOptions, LocalRuntime, Policy, Runtime};
use raddle::task::{self, Builder, JoinSet, LocalSet};
use raddle::time::timeout;

const SIZE: usize = 256 << 10;

/// The stack of a call that needs room for a number of values, in a build without optimizations:
/// in its caller, which has made the value, and in itself.
const fn stack(values: usize) -> usize {
    values * SIZE + (192 << 10)
}

/// The value in the frame of its maker, and as the argument.
const ONCE: usize = stack(2);
/// The same value where the closure of a test makes it first.
const CLOSURE: usize = stack(3);
/// Awaited in place: in the state of the future, and in the functions that make and await it.
const IN_PLACE: usize = stack(7);

async fn large() -> u8 {
    let mut content = [1; SIZE];
    task::yield_now().await;
    content[7] += 1;
    black_box(&mut content)[7]
}

fn large_closure() -> impl FnOnce() -> u8 + Send + 'static {
    let content = black_box([2; SIZE]);
    move || black_box(&content)[7]
}

/// Runs `f` on a thread with this stack.
fn on_stack(name: &str, size: usize, f: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().name(name.to_owned());
    thread.stack_size(size).spawn(f).unwrap().join().unwrap();
}

/// Runs the future of `make` on a thread with this stack, in a current-thread runtime.
fn in_runtime<F: Future>(name: &str, size: usize, make: impl FnOnce() -> F + Send + 'static) {
    on_stack(name, size, || {
        current_thread().build().unwrap().block_on(make());
    });
}

fn local_runtime() -> LocalRuntime {
    let options = LocalOptions::default();
    current_thread().build_local(options).unwrap()
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_large_future_is_spawned_on_a_small_stack() {
    for build in [multi_thread, current_thread] {
        let runtime = move || build().build().unwrap();
        on_stack("Runtime::spawn", ONCE, move || {
            drop(runtime().spawn(large()));
        });
        on_stack("Handle::spawn", ONCE, move || {
            drop(runtime().handle().spawn(large()));
        });
        on_stack("spawn from outside", ONCE, move || {
            let runtime = runtime();
            let _entered = runtime.enter();
            drop(raddle::spawn(large()));
        });
        on_stack("JoinSet::spawn_on", ONCE, move || {
            JoinSet::new().spawn_on(large(), runtime().handle());
        });
        on_stack("Builder::spawn_on", ONCE, move || {
            let runtime = runtime();
            drop(Builder::new().spawn_on(large(), runtime.handle()).unwrap());
        });
        on_stack("JoinSetBuilder::spawn_on", ONCE, move || {
            let (mut set, runtime) = (JoinSet::new(), runtime());
            let task = set.build_task().name("large");
            task.spawn_on(large(), runtime.handle()).unwrap();
        });
    }
    in_runtime("spawn", ONCE, || async {
        assert_eq!(raddle::spawn(large()).await.unwrap(), 2);
    });
    in_runtime("JoinSet::spawn", ONCE, || async {
        let mut set = JoinSet::new();
        set.spawn(large());
        assert_eq!(set.join_next().await.unwrap().unwrap(), 2);
    });
    in_runtime("Builder::spawn", ONCE, || async {
        let task = Builder::new().name("large").spawn(large()).unwrap();
        assert_eq!(task.await.unwrap(), 2);
    });
    in_runtime("JoinSetBuilder::spawn", ONCE, || async {
        let mut set = JoinSet::new();
        set.build_task().spawn(large()).unwrap();
        assert_eq!(set.join_next().await.unwrap().unwrap(), 2);
    });
    // The iterator has the future too, as an `Option`.
    in_runtime("JoinSet::from_iter", stack(4), || async {
        let set = std::iter::repeat_with(large).take(2);
        assert_eq!(set.collect::<JoinSet<_>>().join_all().await, [2, 2]);
    });
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_large_future_is_spawned_and_run_on_the_small_stack_of_a_worker() {
    for policy in [Policy::WorkStealing, Policy::Shared, Policy::Sharded] {
        let mut builder = with_policy(policy);
        let runtime = builder.thread_stack_size(ONCE).thread_name("worker");
        let runtime = runtime.build().unwrap();
        let spawned = runtime.spawn(async { raddle::spawn(large()).await.unwrap() });
        assert_eq!(runtime.block_on(spawned).unwrap(), 2);
    }
    let mut builder = with_policy(Policy::Sharded);
    let runtime = builder.thread_stack_size(ONCE).thread_name("pinned worker");
    let runtime = runtime.build().unwrap();
    let pinned = runtime.handle().spawn_on(0, large);
    assert_eq!(runtime.block_on(pinned).unwrap(), 2);
    let local = async { task::spawn_local(large()).await.unwrap() };
    let local = runtime.handle().spawn_on(0, || local);
    assert_eq!(runtime.block_on(local).unwrap(), 2);
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_large_future_is_spawned_in_a_local_set_on_a_small_stack() {
    on_stack("LocalSet::spawn_local", ONCE, || {
        drop(LocalSet::new().spawn_local(large()));
    });
    on_stack("LocalRuntime::spawn_local", ONCE, || {
        drop(local_runtime().spawn_local(large()));
    });
    on_stack("JoinSet::spawn_local_on", ONCE, || {
        JoinSet::new().spawn_local_on(large(), &LocalSet::new());
    });
    on_stack("Builder::spawn_local_on", ONCE, || {
        let task = Builder::new().spawn_local_on(large(), &LocalSet::new());
        drop(task.unwrap());
    });
    on_stack("JoinSetBuilder::spawn_local_on", ONCE, || {
        let (mut set, local_set) = (JoinSet::new(), LocalSet::new());
        let task = set.build_task().spawn_local_on(large(), &local_set);
        task.unwrap();
    });
    let in_local = |name, test: fn()| {
        in_runtime(name, ONCE, move || async move {
            LocalSet::new().run_until(async { test() }).await;
        });
    };
    in_local("spawn_local", || drop(task::spawn_local(large())));
    in_local("JoinSet::spawn_local", || {
        JoinSet::new().spawn_local(large());
    });
    in_local("Builder::spawn_local", || {
        drop(Builder::new().spawn_local(large()).unwrap());
    });
    in_local("JoinSetBuilder::spawn_local", || {
        JoinSet::new().build_task().spawn_local(large()).unwrap();
    });
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_thread_with_a_small_stack_blocks_on_a_large_future() {
    on_stack("Runtime::block_on, current thread", ONCE, || {
        assert_eq!(current_thread().build().unwrap().block_on(large()), 2);
    });
    on_stack("Runtime::block_on, multi-thread", ONCE, || {
        assert_eq!(multi_thread().build().unwrap().block_on(large()), 2);
    });
    on_stack("Handle::block_on", ONCE, || {
        let runtime = multi_thread().build().unwrap();
        assert_eq!(runtime.handle().block_on(large()), 2);
    });
    on_stack("LocalRuntime::block_on", ONCE, || {
        assert_eq!(local_runtime().block_on(large()), 2);
    });
    on_stack("LocalSet::block_on", ONCE, || {
        let runtime = current_thread().build().unwrap();
        assert_eq!(LocalSet::new().block_on(&runtime, large()), 2);
    });
    on_stack("main", CLOSURE, || {
        #[raddle::main(flavor = "current_thread")]
        async fn main() -> u8 {
            let mut content = [1; SIZE];
            task::yield_now().await;
            content[7] += 1;
            black_box(&mut content)[7]
        }
        assert_eq!(main(), 2);
    });
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_large_future_is_awaited_on_a_small_stack() {
    in_runtime("LocalSet::run_until", IN_PLACE, || async {
        assert_eq!(LocalSet::new().run_until(large()).await, 2);
    });
    in_runtime("timeout", IN_PLACE, || async {
        assert_eq!(timeout(Duration::MAX, large()).await.unwrap(), 2);
    });
    in_runtime("unconstrained", IN_PLACE, || async {
        assert_eq!(task::unconstrained(large()).await, 2);
    });
}

/// Bug: own. Each function copied the future, and without optimizations had a copy in its frame.
#[test]
fn a_large_closure_is_run_on_a_blocking_thread_with_small_stacks() {
    let make = |build: fn() -> raddle::runtime::Builder| -> Runtime {
        build().thread_stack_size(ONCE).build().unwrap()
    };
    for build in [multi_thread, current_thread] {
        let runtime = make(build);
        on_stack("Runtime::spawn_blocking", CLOSURE, move || {
            let call = runtime.spawn_blocking(large_closure());
            assert_eq!(runtime.block_on(call).unwrap(), 2);
        });
        let runtime = make(build);
        on_stack("Handle::spawn_blocking", CLOSURE, move || {
            let call = runtime.handle().spawn_blocking(large_closure());
            assert_eq!(runtime.block_on(call).unwrap(), 2);
        });
        let runtime = make(build);
        on_stack("JoinSet::spawn_blocking_on", CLOSURE, move || {
            JoinSet::new().spawn_blocking_on(large_closure(), runtime.handle());
        });
        let runtime = make(build);
        on_stack("Builder::spawn_blocking_on", CLOSURE, move || {
            let call = Builder::new().spawn_blocking_on(large_closure(), runtime.handle());
            assert_eq!(runtime.block_on(call.unwrap()).unwrap(), 2);
        });
        let runtime = make(build);
        on_stack("JoinSetBuilder::spawn_blocking_on", CLOSURE, move || {
            let mut set = JoinSet::new();
            let call = set.build_task();
            call.spawn_blocking_on(large_closure(), runtime.handle())
                .unwrap();
        });
    }
    on_stack("LocalRuntime::spawn_blocking", CLOSURE, || {
        drop(local_runtime().spawn_blocking(large_closure()));
    });
    in_runtime("spawn_blocking", CLOSURE, || async {
        assert_eq!(task::spawn_blocking(large_closure()).await.unwrap(), 2);
    });
    in_runtime("JoinSet::spawn_blocking", CLOSURE, || async {
        JoinSet::new().spawn_blocking(large_closure());
    });
    in_runtime("Builder::spawn_blocking", CLOSURE, || async {
        drop(Builder::new().spawn_blocking(large_closure()).unwrap());
    });
    in_runtime("JoinSetBuilder::spawn_blocking", CLOSURE, || async {
        let mut set = JoinSet::new();
        set.build_task().spawn_blocking(large_closure()).unwrap();
    });
}

#[test]
fn a_large_future_is_cancelled_on_a_small_stack() {
    in_runtime("abort", ONCE, || async {
        let task = raddle::spawn(large());
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
}
