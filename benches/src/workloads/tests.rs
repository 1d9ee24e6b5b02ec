use super::*;
use crate::executors::{AsyncExecutor, Raddle, Tokio, TokioThreadpool};

#[test]
fn each_workload_spawns_what_it_says() {
    for (workload, expected) in WORKLOADS.into_iter().zip([
        1_000,
        1 + 2 * 1_000,
        10_000,
        1 + 10_000,
        1 + 10_000,
        200,
        1 + 2_000,
        // One task per fork, and the task that waits for the first.
        2_048,
        1 + 50 * 64,
        4 + 16,
    ]) {
        let raddle = Raddle::new(1);
        run(workload, &raddle);
        let metrics = raddle.0.metrics();
        assert_eq!(metrics.spawned_tasks_count(), expected, "{workload}");
        let polls = metrics.worker_poll_count(0);
        assert!(workload != "yield_many" || polls >= 200 * 1_000, "{polls}");
    }
}

/// Runs every workload on a runtime, and checks that a join waits until the task has finished.
fn runs_every_workload<E: Executor>() {
    let executor = E::new(2);
    for workload in WORKLOADS {
        run(workload, &executor);
    }
    let spawner = executor.spawner();
    let finished = Arc::new(AtomicUsize::new(0));
    executor.block_on(async {
        for joined in 1..=100 {
            let finished_too = Arc::clone(&finished);
            let handle = spawner.spawn_joined(async move {
                Yields(100).await;
                finished_too.fetch_add(1, Ordering::Relaxed);
            });
            handle.await;
            assert_eq!(finished.load(Ordering::Relaxed), joined);
        }
    });
}

#[test]
fn every_runtime_runs_every_workload() {
    runs_every_workload::<Raddle>();
    runs_every_workload::<Tokio>();
    runs_every_workload::<AsyncExecutor>();
    runs_every_workload::<TokioThreadpool>();
}
