//! The old scheduler: Tokio's thread pool of 2018, of the time of futures 0.1.
//!
//! Its tasks are futures of 0.1, so each future that a workload spawns crosses
//! a bridge, that of `futures-util`: a second box, since a future of 0.1 is not
//! pinned, and one look-up of the current task in each poll. A future of 0.1
//! looks its task up as well, but only when it has to wait. What that costs is
//! in the README; to do without takes unsafe code.

use futures_lite::future;
use futures_util::compat::Compat;
use tokio::sync::oneshot;
use tokio_threadpool::{Builder, ThreadPool};

use super::{Executor, Spawn};

/// tokio-threadpool 0.1.
///
/// The threads live as long as the process, asleep when there is nothing to
/// do: an executor is built once.
#[derive(Debug)]
pub struct TokioThreadpool(TokioThreadpoolSpawner);

/// Spawns on the pool it refers to.
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

    /// Joined by a oneshot, since the pool's own handles are one as well, but
    /// of futures 0.1, so that they would cost a bridge back.
    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (finish, finished) = oneshot::channel();
        self.spawn(async {
            future.await;
            // A dropped receiver does not wait for the end.
            let _ = finish.send(());
        });
        async { finished.await.expect("the task ends") }
    }
}
