//! The run queues, measured with criterion.
#![allow(missing_docs, reason = "criterion_group makes a public function")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use raddle_benches::queues::{Item, Load, Queue};

const ITEMS: usize = 20_000;

fn queues(criterion: &mut Criterion) {
    for (load, name) in Load::ALL {
        queue::<raddle_queue::Owner<Item>>(criterion, load, name);
        queue::<crossbeam_deque::Worker<Item>>(criterion, load, name);
        queue::<st3::fifo::Worker<Item>>(criterion, load, name);
    }
}

fn queue<Q: Queue>(criterion: &mut Criterion, load: Load, name: &str) {
    let mut group = criterion.benchmark_group(format!("queue, {name}"));
    group.sample_size(20);
    group.throughput(Throughput::Elements(ITEMS as u64));
    group.bench_function(Q::NAME, |bencher| {
        bencher.iter_custom(|passes| (0..passes).map(|_| load.run::<Q>(ITEMS).0).sum());
    });
    group.finish();
}

criterion_group!(benches, queues);
criterion_main!(benches);
