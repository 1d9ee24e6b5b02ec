use super::*;
use crate::executors::AsyncExecutor;

#[test]
fn a_stall_adds_to_the_latency_of_each_request_that_came_during_it() {
    const STALL: Duration = Duration::from_millis(200);
    let executor = AsyncExecutor::new(1);
    executor.spawner().spawn(async { thread::sleep(STALL) });
    // All requests come within the stall, so at least half of them wait for half of it. If each had
    // waited for the answer to the last, only the first would have.
    let latencies = Shape::Skewed.run(&executor, 1_000, STALL / 2).unwrap();
    assert!(latencies.value_at_percentile(50.0) > STALL.as_nanos() as u64 / 4);
}
