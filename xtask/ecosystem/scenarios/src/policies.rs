//! Each scenario runs on each policy, with a limit on the time it may take.

use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Policy};

/// How long a scenario may take on one policy. A thread of its own measures
/// it, so that a runtime whose timers do not fire is seen too.
const LIMIT: Duration = Duration::from_secs(120);

/// More workers than one, so that tasks meet on different threads.
const WORKERS: usize = 3;

/// Runs the scenario as a task of a multi-thread runtime, once with work
/// stealing and once with a shard per worker.
///
/// # Panics
///
/// Panics if the scenario panics, or if it and the shutdown of its runtime take
/// longer than two minutes.
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
