//! The old scheduler: Tokio's thread pool of 2018, for futures 0.1.
//!
//! Its tasks are futures 0.1, so each future that a workload spawns is converted by `futures-util`.
//! That costs a second box, since a future 0.1 is not pinned, and one look-up of the current task
//! in each poll. A native future 0.1 also looks up its task, but only when it has to wait. The
//! README states this cost; avoiding it takes unsafe code.

use futures_lite::future;
use futures_util::compat::Compat;
use tokio::sync::oneshot;
use tokio_threadpool::{Builder, ThreadPool};

use super::{Executor, Spawn};

/// tokio-threadpool 0.1.
///
/// The threads live as long as the process and sleep when there is no task, so an executor should
/// be built only once.
#[derive(Debug)]
pub struct TokioThreadpool(TokioThreadpoolSpawner);

/// Spawns on the pool that it refers to.
#[derive(Clone, Copy, Debug)]
pub struct TokioThreadpoolSpawner(&'static ThreadPool);

impl Executor for TokioThreadpool {
    const NAME: &'static str = "tokio-threadpool";
    type Spawner = TokioThreadpoolSpawner;

    fn new(workers: usize) -> Self {
        let pool = Builder::new().pool_size(workers).build();
        Self(TokioThreadpoolSpawner(Box::leak(Box::new(pool))))
    }

    fn spawner(&self) -> Self::Spawner {
        self.0
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        future::block_on(future)
    }
}

impl Spawn for TokioThreadpoolSpawner {
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
        let fallible = async {
            future.await;
            Ok::<(), ()>(())
        };
        self.0.spawn(Compat::new(Box::pin(fallible)));
    }

    /// Waits through a oneshot. The pool's own handles do the same, but with futures 0.1, which
    /// would have to be converted back.
    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (finish, finished) = oneshot::channel();
        self.spawn(async {
            future.await;
            // Nothing waits for the completion if the receiver was dropped.
            let _ = finish.send(());
        });
        async { finished.await.expect("the task ends") }
    }
}
