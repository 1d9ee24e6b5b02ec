use super::*;
use crate::executors::{AsyncExecutor, Raddle, Tokio};

/// Polls and spawns of the tasks of one run, on async-executor.
struct Counting {
    executor: AsyncExecutor,
    counts: &'static Counts,
}

#[derive(Default)]
struct Counts {
    spawns: AtomicUsize,
    polls: AtomicUsize,
}

#[derive(Clone, Copy)]
struct CountingSpawner {
    spawner: <AsyncExecutor as Executor>::Spawner,
    counts: &'static Counts,
}

impl Executor for Counting {
    const NAME: &'static str = "counting";
    type Spawner = CountingSpawner;

    fn new(workers: usize) -> Self {
        Self {
            executor: AsyncExecutor::new(workers),
            counts: Box::leak(Box::default()),
        }
    }

    fn spawner(&self) -> CountingSpawner {
        CountingSpawner {
            spawner: self.executor.spawner(),
            counts: self.counts,
        }
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.executor.block_on(future)
    }
}

impl Spawn for CountingSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        self.counts.spawns.fetch_add(1, Ordering::Relaxed);
        let mut future = Box::pin(future);
        self.spawner.spawn(std::future::poll_fn(move |cx| {
            self.counts.polls.fetch_add(1, Ordering::Relaxed);
            future.as_mut().poll(cx)
        }));
    }
}

fn counts(workload: Workload) -> (usize, usize) {
    let executor = Counting::new(1);
    workload.run(&executor);
    (
        executor.counts.spawns.load(Ordering::Relaxed),
        executor.counts.polls.load(Ordering::Relaxed),
    )
}

#[test]
fn each_workload_spawns_what_it_says() {
    assert_eq!(counts(Workload::ChainedSpawn).0, 1_000);
    assert_eq!(counts(Workload::PingPong).0, 1 + 2 * 1_000);
    assert_eq!(counts(Workload::SpawnManyRemote).0, 10_000);
    assert_eq!(counts(Workload::SpawnManyLocal).0, 1 + 10_000);
    assert_eq!(counts(Workload::YieldMany), (200, 200 * 1_001));
}

fn runs_every_workload_twice<E: Executor>() {
    for workers in [1, 2] {
        let executor = E::new(workers);
        for workload in Workload::ALL
            .into_iter()
            .cycle()
            .take(2 * Workload::ALL.len())
        {
            workload.run(&executor);
        }
    }
}

#[test]
fn raddle_runs_every_workload() {
    runs_every_workload_twice::<Raddle>();
}

#[test]
fn tokio_runs_every_workload() {
    runs_every_workload_twice::<Tokio>();
}

#[test]
fn async_executor_runs_every_workload() {
    runs_every_workload_twice::<AsyncExecutor>();
}
