//! The runtimes that are compared.

use std::future::Future;
use std::io::Result;
use std::thread;

use futures_lite::future;
use futures_util::compat::Compat;
use raddle::runtime::Policy;
use tokio::sync::oneshot;
use tokio_threadpool::ThreadPool;

/// What a workload needs from a runtime.
pub trait Executor {
    /// The runtime's name in tables.
    const NAME: &'static str;

    /// Spawns tasks from any place of a workload.
    type Spawner: Spawn;

    /// Starts `workers` threads.
    fn new(workers: usize) -> Self;

    /// Returns a spawner.
    fn spawner(&self) -> Self::Spawner;

    /// Runs `future` on the calling thread, which is no worker.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
}

/// A contestant that has been started: a runtime with its threads, or a queue.
pub struct Ready<I> {
    /// The name in tables.
    pub name: &'static str,
    /// Runs the benchmark once and returns its figures.
    pub run: Box<dyn Fn(I) -> Result<Vec<f64>>>,
}

/// Starts each of the listed runtimes with a number of workers, and makes a [`Ready`] of each that
/// evaluates the expression with the runtime and an input.
#[macro_export]
macro_rules! ready {
    ($workers:expr, |$runtime:ident, $input:ident: $type:ty| $run:expr; $($listed:ty),+) => {
        [$({
            let $runtime = <$listed as $crate::executors::Executor>::new($workers);
            $crate::executors::Ready {
                name: <$listed as $crate::executors::Executor>::NAME,
                run: Box::new(move |$input: $type| Ok($run)),
            }
        }),+]
    };
}

/// Spawns tasks on the workers.
pub trait Spawn: Copy + Send + 'static {
    /// Spawns `future` and drops its handle.
    fn spawn(self, future: impl Future<Output = ()> + Send + 'static);

    /// Spawns `future` at once, and returns a future that waits for its completion.
    fn spawn_joined(
        self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static;
}

/// Waits until all tasks have completed.
pub(crate) async fn all(tasks: Vec<impl Future<Output = ()>>) {
    for task in tasks {
        task.await;
    }
}

/// Defines an executor from a library with Tokio's names. Its builder may get more options.
macro_rules! runtime {
    (
        $(#[$doc:meta])* $name:ident, $spawner:ident: $library:ident, $called:literal
        $(, $option:ident($value:expr))*
    ) => {
        $(#[$doc])*
        pub struct $name(pub(crate) $library::runtime::Runtime);

        impl Executor for $name {
            const NAME: &'static str = $called;
            type Spawner = $spawner;

            fn new(workers: usize) -> Self {
                let runtime = $library::runtime::Builder::new_multi_thread()
                    .worker_threads(workers)
                    $(.$option($value))*
                    .enable_all()
                    .build();
                Self(runtime.expect("the runtime starts"))
            }

            fn spawner(&self) -> $spawner {
                $spawner
            }

            fn block_on<F: Future>(&self, future: F) -> F::Output {
                self.0.block_on(future)
            }
        }
    };
}

/// Defines a spawner that uses the free function of such a library.
macro_rules! spawner {
    ($spawner:ident: $library:ident) => {
        /// Spawns by the free function of the library.
        #[derive(Clone, Copy, Debug)]
        pub struct $spawner;

        impl Spawn for $spawner {
            fn spawn(self, future: impl Future<Output = ()> + Send + 'static) {
                drop($library::spawn(future));
            }

            fn spawn_joined(
                self,
                future: impl Future<Output = ()> + Send + 'static,
            ) -> impl Future<Output = ()> + Send + 'static {
                let handle = $library::spawn(future);
                async { handle.await.expect("the task ends") }
            }
        }
    };
}

spawner!(RaddleSpawner: raddle);
spawner!(TokioSpawner: tokio);

runtime! {
    /// Raddle's multi-thread runtime.
    Raddle, RaddleSpawner: raddle, "raddle"
}
runtime! {
    /// The same without spare workers.
    NoSpares, RaddleSpawner: raddle, "raddle, no spares", max_spare_workers(0)
}
runtime! {
    /// The same with one queue that all workers share.
    RaddleShared, RaddleSpawner: raddle, "raddle, shared", scheduler(Policy::Shared)
}
runtime! {
    /// The same with tasks that stay on their worker.
    RaddleSharded, RaddleSpawner: raddle, "raddle, sharded", scheduler(Policy::Sharded)
}
runtime! {
    /// Tokio's multi-thread runtime.
    Tokio, TokioSpawner: tokio, "tokio"
}

/// Spawns on the executor that it refers to.
#[derive(Clone, Copy, Debug)]
pub struct AsyncExecutorSpawner(&'static async_executor::Executor<'static>);

/// Defines async-executor, with workers that are threads that run it with the given `block_on`.
macro_rules! on_async_executor {
    ($(#[$doc:meta])* $name:ident: $block_on:path) => {
        $(#[$doc])*
        /// The threads live as long as the process, so an executor should be built only once.
        pub struct $name(AsyncExecutorSpawner);

        impl Executor for $name {
            const NAME: &'static str = "async-executor";
            type Spawner = AsyncExecutorSpawner;

            fn new(workers: usize) -> Self {
                let executor: &_ = Box::leak(Box::new(async_executor::Executor::new()));
                for _ in 0..workers {
                    thread::spawn(|| $block_on(executor.run(future::pending::<()>())));
                }
                Self(AsyncExecutorSpawner(executor))
            }

            fn spawner(&self) -> AsyncExecutorSpawner {
                self.0
            }

            fn block_on<F: Future>(&self, future: F) -> F::Output {
                $block_on(future)
            }
        }
    };
}

on_async_executor! {
    /// async-executor. Each worker is a thread that runs it.
    AsyncExecutor: future::block_on
}
on_async_executor! {
    /// async-executor. Each worker is a thread that runs it. When there is no task, the worker
    /// waits for sockets in the reactor of async-io, as in smol.
    Smol: async_io::block_on
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

/// tokio-threadpool 0.1, Tokio's scheduler of 2018.
///
/// Its tasks are futures 0.1, so each future that a workload spawns is converted by `futures-util`.
/// That costs a second box, since a future 0.1 is not pinned, and one look-up of the current task
/// in each poll. A native future 0.1 also looks up its task, but only when it has to wait. The
/// README states this cost; avoiding it takes unsafe code.
///
/// The threads live as long as the process and sleep when there is no task, so an executor should
/// be built only once.
pub struct TokioThreadpool(TokioThreadpoolSpawner);

/// Spawns on the pool that it refers to.
#[derive(Clone, Copy, Debug)]
pub struct TokioThreadpoolSpawner(&'static ThreadPool);

impl Executor for TokioThreadpool {
    const NAME: &'static str = "tokio-threadpool";
    type Spawner = TokioThreadpoolSpawner;

    fn new(workers: usize) -> Self {
        let pool = tokio_threadpool::Builder::new().pool_size(workers).build();
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
