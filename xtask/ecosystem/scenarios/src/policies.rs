//! Runs each scenario under each policy, with a time limit.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Policy};

/// The time limit of a scenario under one policy. A separate thread measures it, so that a runtime
/// whose timers do not fire is noticed too.
const LIMIT: Duration = Duration::from_secs(120);

/// More than one worker, so that tasks meet on different threads.
const WORKERS: usize = 3;

/// Runs the scenario as a task of a multi-thread runtime: once with work stealing and once with a
/// shard per worker.
///
/// # Panics
///
/// Panics if the scenario panics, or if it and the shutdown of its runtime take longer than two
/// minutes.
pub fn on_each_policy<F>(scenario: impl Fn() -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    for policy in [Policy::WorkStealing, Policy::Sharded] {
        run(policy, scenario());
    }
}

fn run(policy: Policy, scenario: impl Future<Output = ()> + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let outcome = panic::catch_unwind(AssertUnwindSafe(|| {
            let runtime = Builder::new_multi_thread()
                .worker_threads(WORKERS)
                .scheduler(policy)
                .enable_all()
                .build()
                .expect("the runtime is built");
            runtime.block_on(async { tokio::spawn(scenario).await.map_err(|e| e.into_panic()) })
        }));
        let _ = sender.send(outcome.and_then(|outcome| outcome));
    });
    match receiver.recv_timeout(LIMIT) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => panic!("with {policy:?}: {}", text_of(&*panic)),
        Err(_) => panic!("with {policy:?}: not finished after {LIMIT:?}"),
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a text")
}
