//! The scheduler workloads, measured with criterion on each runtime.
//!
//! `RADDLE_BENCH_WORKERS` lists the numbers of workers, `1,2` by default.
#![allow(missing_docs, reason = "criterion_group makes a public function")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::workloads::{WORKLOADS, run};

fn sched(criterion: &mut Criterion) {
    let list = std::env::var("RADDLE_BENCH_WORKERS").unwrap_or_else(|_| "1,2".to_owned());
    for workers in list.split(',') {
        let workers = workers.parse();
        let workers = workers.expect("RADDLE_BENCH_WORKERS is a list of numbers");
        runtime::<Raddle>(criterion, workers);
        runtime::<Tokio>(criterion, workers);
        runtime::<AsyncExecutor>(criterion, workers);
        runtime::<TokioThreadpool>(criterion, workers);
    }
}

fn runtime<E: Executor>(criterion: &mut Criterion, workers: usize) {
    let executor = E::new(workers);
    for workload in WORKLOADS {
        let id = BenchmarkId::new(E::NAME, workers);
        let mut group = criterion.benchmark_group(workload);
        group.sample_size(20);
        group.bench_function(id, |bencher| bencher.iter(|| run(workload, &executor)));
        group.finish();
    }
}

criterion_group!(benches, sched);
criterion_main!(benches);
