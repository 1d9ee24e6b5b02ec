use super::*;
use crate::executors::NoSpares;

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
        // On a busy machine a spare worker would make some of the polls.
        let raddle = NoSpares::new(1);
        run(workload, &raddle);
        let metrics = raddle.0.metrics();
        assert_eq!(metrics.spawned_tasks_count(), expected, "{workload}");
        let polls = metrics.worker_poll_count(0);
        assert!(workload != "yield_many" || polls >= 200 * 1_000, "{polls}");
    }
}
