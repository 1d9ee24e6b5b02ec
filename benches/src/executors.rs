//! The runtimes that are compared.

mod smol;
mod threadpool;

use std::future::Future;
use std::thread;

use futures_lite::future;

pub use smol::Smol;
pub use threadpool::{TokioThreadpool, TokioThreadpoolSpawner};

/// What a workload needs of a runtime.
pub trait Executor {
    /// The runtime's name in tables.
    const NAME: &'static str;

    /// Spawns tasks from wherever a workload spawns them.
    type Spawner: Spawn;

    /// Starts `workers` threads.
    ///
    /// # Panics
    ///
    /// If a thread cannot be had.
    fn new(workers: usize) -> Self;

    /// Hands out a way to spawn.
    fn spawner(&self) -> Self::Spawner;

    /// Runs `future` on the calling thread, which is none of the workers.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
}

/// Spawns tasks on the workers.
pub trait Spawn: Copy + Send + 'static {
    /// Spawns `future` and drops its handle.
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static);

    /// Spawns `future` at once, and returns what waits for its end.
    ///
    /// # Panics
    ///
    /// What is returned panics if `future` did.
    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// Raddle's multi-thread runtime.
#[derive(Debug)]
pub struct Raddle(raddle::runtime::Runtime);

/// Spawns by `raddle::spawn`.
#[derive(Clone, Copy, Debug)]
pub struct RaddleSpawner;

impl Executor for Raddle {
    const NAME: &'static str = "raddle";
    type Spawner = RaddleSpawner;

    fn new(workers: usize) -> Self {
        let runtime = raddle::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build();
        Self(runtime.expect("raddle starts"))
    }

    fn spawner(&self) -> RaddleSpawner {
        RaddleSpawner
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

impl Spawn for RaddleSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        drop(raddle::spawn(future));
    }

    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let handle = raddle::spawn(future);
        async { handle.await.expect("the task ends") }
    }
}

/// Tokio's multi-thread runtime.
#[derive(Debug)]
pub struct Tokio(tokio::runtime::Runtime);

/// Spawns by `tokio::spawn`.
#[derive(Clone, Copy, Debug)]
pub struct TokioSpawner;

impl Executor for Tokio {
    const NAME: &'static str = "tokio";
    type Spawner = TokioSpawner;

    fn new(workers: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build();
        Self(runtime.expect("tokio starts"))
    }

    fn spawner(&self) -> TokioSpawner {
        TokioSpawner
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }
}

impl Spawn for TokioSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        drop(tokio::spawn(future));
    }

    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let handle = tokio::spawn(future);
        async { handle.await.expect("the task ends") }
    }
}

/// async-executor, each worker a thread that runs it.
///
/// The threads live as long as the process: an executor is built once.
#[derive(Debug)]
pub struct AsyncExecutor(AsyncExecutorSpawner);

/// Spawns on the executor it refers to.
#[derive(Clone, Copy, Debug)]
pub struct AsyncExecutorSpawner(&'static async_executor::Executor<'static>);

impl Executor for AsyncExecutor {
    const NAME: &'static str = "async-executor";
    type Spawner = AsyncExecutorSpawner;

    fn new(workers: usize) -> Self {
        let executor: &_ = Box::leak(Box::new(async_executor::Executor::new()));
        for _ in 0..workers {
            thread::spawn(|| future::block_on(executor.run(future::pending::<()>())));
        }
        Self(AsyncExecutorSpawner(executor))
    }

    fn spawner(&self) -> Self::Spawner {
        self.0
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        future::block_on(future)
    }
}

impl Spawn for AsyncExecutorSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        self.0.spawn(future).detach();
    }

    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        self.0.spawn(future)
    }
}
