use super::*;
use crate::executors::{Executor, Raddle, RaddleSpawner};

/// Each load checks its own results.
#[test]
fn every_workload_runs() {
    let runtime = Raddle::new(2);
    for (name, loads) in workloads::<RaddleSpawner>() {
        for (library, load) in loads {
            let spawner = runtime.spawner();
            let operations = runtime.block_on(load(spawner));
            assert!(operations > 0, "{name} of {library}");
        }
    }
}
