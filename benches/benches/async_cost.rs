//! The cost of async, measured with criterion for each variant.
#![allow(missing_docs, reason = "criterion_group makes a public function")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use raddle_benches::async_cost::fake_io::Calls;
use raddle_benches::async_cost::{REQUESTS, VARIANTS};

fn async_cost(criterion: &mut Criterion) {
    let in_memory: &'static Calls = Box::leak(Box::new(Calls::in_memory()));
    let with_syscalls = Calls::with_syscalls().expect("there is a pipe to be had");
    let with_syscalls: &'static Calls = Box::leak(Box::new(with_syscalls));
    for requests in REQUESTS {
        let mut group = criterion.benchmark_group(format!("async_cost, {requests} requests"));
        group.sample_size(20);
        group.throughput(Throughput::Elements(requests as u64));
        for variant in VARIANTS {
            for (suffix, calls) in [("", in_memory), ("_with_syscalls", with_syscalls)] {
                group.bench_function(format!("{}{suffix}", variant.name), |bencher| {
                    bencher.iter_custom(|runs| {
                        let runs = u32::try_from(runs).expect("criterion asks for fewer");
                        variant.time(calls, requests, runs)
                    });
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, async_cost);
criterion_main!(benches);
