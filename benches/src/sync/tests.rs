use super::*;
use crate::executors::{Executor, Raddle, RaddleSpawner};

/// Each load checks its own results.
#[test]
fn every_workload_runs() {
    let runtime = Raddle::new(2);
    for workload in workloads::<RaddleSpawner>() {
        for (library, load) in workload.loads {
            let spawner = runtime.spawner();
            let operations = runtime.block_on(load(spawner));
            assert!(operations > 0, "{} of {library}", workload.name);
        }
    }
}
