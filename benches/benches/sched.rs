//! The scheduler workloads, measured with criterion on each runtime.
//!
//! `RADDLE_BENCH_WORKERS` lists the numbers of workers, `1,2` by default.
#![allow(missing_docs, reason = "criterion_group makes a public function")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use raddle_benches::executors::{AsyncExecutor, Executor, Raddle, Tokio, TokioThreadpool};
use raddle_benches::workloads::{Workload, spawn_all};

fn sched(criterion: &mut Criterion) {
    let list = std::env::var("RADDLE_BENCH_WORKERS").unwrap_or_else(|_| "1,2".to_owned());
    for workers in list.split(',') {
        let workers = workers
            .parse()
            .expect("RADDLE_BENCH_WORKERS is a list of numbers");
        runtime::<Raddle>(criterion, workers);
        runtime::<Tokio>(criterion, workers);
        runtime::<AsyncExecutor>(criterion, workers);
        runtime::<TokioThreadpool>(criterion, workers);
    }
}

fn runtime<E: Executor>(criterion: &mut Criterion, workers: usize) {
    let executor = E::new(workers);
    for workload in Workload::ALL {
        let id = BenchmarkId::new(E::NAME, workers);
        let mut group = criterion.benchmark_group(workload.name());
        group.sample_size(20);
        group.bench_function(id, |bencher| bencher.iter(|| workload.run(&executor)));
        group.finish();
    }
}

/// How the cost of a task grows with the number of tasks, with 2 workers.
fn growth(criterion: &mut Criterion) {
    tasks(criterion, &Raddle::new(2));
    tasks(criterion, &Tokio::new(2));
}

fn tasks<E: Executor>(criterion: &mut Criterion, executor: &E) {
    let mut group = criterion.benchmark_group("tasks");
    group.sample_size(10);
    for tasks in [10, 100, 1_000, 10_000, 100_000] {
        group.throughput(Throughput::Elements(tasks as u64));
        group.bench_function(BenchmarkId::new(E::NAME, tasks), |bencher| {
            bencher.iter(|| spawn_all(executor, tasks));
        });
    }
    group.finish();
}

criterion_group!(benches, sched, growth);
criterion_main!(benches);
