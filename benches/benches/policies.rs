//! The loads of the policies, measured with criterion under each policy, with 2 workers.
#![allow(missing_docs, reason = "criterion_group makes a public function")]

use criterion::{Criterion, criterion_group, criterion_main};
use raddle_benches::policies::{LOADS, POLICIES, runtime};

const WORKERS: usize = 2;

fn policies(criterion: &mut Criterion) {
    for (name, policy) in POLICIES {
        let runtime = runtime(policy, WORKERS);
        for load in LOADS {
            let mut group = criterion.benchmark_group(format!("policies, {}", load.name()));
            group.sample_size(20);
            group.bench_function(name, |bencher| bencher.iter(|| load.run(&runtime, policy)));
            group.finish();
        }
    }
}

criterion_group!(benches, policies);
criterion_main!(benches);
