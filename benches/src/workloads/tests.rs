use super::*;
use crate::executors::{AsyncExecutor, Raddle, Tokio, TokioThreadpool};

/// Counts the polls and spawns of the tasks of one run, on async-executor.
struct Counting {
    executor: AsyncExecutor,
    counts: &'static Counts,
}

#[derive(Default)]
struct Counts {
    spawns: AtomicUsize,
    joined: AtomicUsize,
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

impl CountingSpawner {
    /// Counts a spawn, and wraps `future` to count its polls.
    fn counted(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        self.counts.spawns.fetch_add(1, Ordering::Relaxed);
        let mut future = Box::pin(future);
        std::future::poll_fn(move |cx| {
            self.counts.polls.fetch_add(1, Ordering::Relaxed);
            future.as_mut().poll(cx)
        })
    }
}

impl Spawn for CountingSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        self.spawner.spawn(self.counted(future));
    }

    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        self.counts.joined.fetch_add(1, Ordering::Relaxed);
        self.spawner.spawn_joined(self.counted(future))
    }
}

fn run_counted(workload: Workload) -> &'static Counts {
    let executor = Counting::new(1);
    workload.run(&executor);
    executor.counts
}

fn counts(workload: Workload) -> (usize, usize) {
    let counts = run_counted(workload);
    (
        counts.spawns.load(Ordering::Relaxed),
        counts.polls.load(Ordering::Relaxed),
    )
}

#[test]
fn each_workload_spawns_what_it_says() {
    assert_eq!(counts(Workload::ChainedSpawn).0, 1_000);
    assert_eq!(counts(Workload::PingPong).0, 1 + 2 * 1_000);
    assert_eq!(counts(Workload::SpawnManyRemote).0, 10_000);
    assert_eq!(counts(Workload::SpawnManyLocal).0, 1 + 10_000);
    assert_eq!(counts(Workload::YieldMany), (200, 200 * 1_001));
    assert_eq!(counts(Workload::Skewed).0, 1 + 2_000);
    // One task per fork, and the task that waits for the first.
    assert_eq!(counts(Workload::ForkJoin).0, 2_048);
    assert_eq!(counts(Workload::FanOut).0, 1 + 50 * 64);
    assert_eq!(counts(Workload::RequestChain).0, 4 + 16);
}

#[test]
fn spawn_join_awaits_all_tasks_but_the_first() {
    let counts = run_counted(Workload::SpawnJoin);
    assert_eq!(counts.spawns.load(Ordering::Relaxed), 1 + 10_000);
    assert_eq!(counts.joined.load(Ordering::Relaxed), 10_000);
    // Each task but the first is empty, and was polled before its join.
    assert!(counts.polls.load(Ordering::Relaxed) > 10_000);
}

/// Checks that a join waits until the task has finished.
fn joins_wait<E: Executor>() {
    let executor = E::new(2);
    let spawner = executor.spawner();
    let finished = Arc::new(AtomicUsize::new(0));
    executor.block_on(async {
        for joined in 1..=100 {
            let finished_too = Arc::clone(&finished);
            let handle = spawner.spawn_joined(async move {
                Yields(100).await;
                finished_too.fetch_add(1, Ordering::Relaxed);
            });
            handle.await;
            assert_eq!(finished.load(Ordering::Relaxed), joined);
        }
    });
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
    joins_wait::<Raddle>();
}

#[test]
fn tokio_runs_every_workload() {
    runs_every_workload_twice::<Tokio>();
    joins_wait::<Tokio>();
}

#[test]
fn async_executor_runs_every_workload() {
    runs_every_workload_twice::<AsyncExecutor>();
    joins_wait::<AsyncExecutor>();
}

#[test]
fn tokio_threadpool_runs_every_workload() {
    runs_every_workload_twice::<TokioThreadpool>();
    joins_wait::<TokioThreadpool>();
}
