//! async-executor with the reactor of async-io, as smol has it.

use std::future::{Future, pending};
use std::thread;

use super::{AsyncExecutorSpawner, Executor};

/// async-executor, each worker a thread that runs it and, when there is nothing to
/// run, waits for sockets.
///
/// The threads live as long as the process: an executor is built once.
#[derive(Debug)]
pub struct Smol(AsyncExecutorSpawner);

impl Executor for Smol {
    const NAME: &'static str = "async-executor";
    type Spawner = AsyncExecutorSpawner;

    fn new(workers: usize) -> Self {
        let executor: &_ = Box::leak(Box::new(async_executor::Executor::new()));
        for _ in 0..workers {
            thread::spawn(|| async_io::block_on(executor.run(pending::<()>())));
        }
        Self(AsyncExecutorSpawner(executor))
    }

    fn spawner(&self) -> Self::Spawner {
        self.0
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }
}
