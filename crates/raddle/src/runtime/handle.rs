//! The reference to a runtime.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::{Arc, OnceLock};

use crate::runtime::Id;
use crate::runtime::blocking::{self, PoolJob};
use crate::runtime::context::{self, EnterGuard};
use crate::runtime::driver::DriverHandles;
use crate::runtime::error::TryCurrentError;
use crate::runtime::metrics::RuntimeMetrics;
use crate::runtime::tools;
use crate::task::{JoinHandle, ParallelScope};
use raddle_primitives::random::Random;
use raddle_task::trace::{self, Kind};
use raddle_task::{SpawnMeta, box_if_large};

/// A reference to a runtime.
///
/// It does not keep the runtime running: tasks that are spawned through it after the shutdown are
/// cancelled at once.
///
/// # Examples
///
/// ```
/// use raddle::runtime::Runtime;
///
/// let runtime = Runtime::new()?;
/// let handle = runtime.handle().clone();
/// // From a thread outside the runtime.
/// let thread = std::thread::spawn(move || handle.block_on(async { raddle::spawn(async { 42 }).await }));
/// assert_eq!(thread.join().unwrap()?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    pub(crate) inner: Arc<Inner>,
}

/// The parts of a runtime that a handle reaches. Nothing here owns the runtime.
pub(crate) struct Inner {
    /// Set by the builder, or by a worker that starts earlier, before any code reads it.
    pub(crate) scheduler: OnceLock<raddle_sched::Handle>,
    /// One for each worker, with its reactor and its timer shard; or one for all workers.
    pub(crate) drivers: Box<[DriverHandles]>,
    pub(crate) blocking: raddle_blocking::Handle<PoolJob>,
    pub(crate) flavor: RuntimeFlavor,
    pub(crate) name: Option<String>,
    pub(crate) random: Option<Random>,
    #[cfg_attr(
        not(any(
            feature = "flight-recorder",
            feature = "metrics-server",
            feature = "task-dumps",
            feature = "tracing-layer",
            feature = "watchdog"
        )),
        expect(dead_code, reason = "only the methods of tools use it")
    )]
    pub(crate) tools: tools::Shared,
}

/// The kinds of runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuntimeFlavor {
    /// Runs its tasks inside `block_on`, on the thread that calls it.
    CurrentThread,
    /// Runs its tasks on worker threads.
    MultiThread,
}

impl Handle {
    /// Returns the handle of the current runtime.
    ///
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime; see [`try_current`](Self::try_current).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let handle = Handle::current();
    /// // The program's own threads can spawn onto the runtime.
    /// let thread = std::thread::spawn(move || handle.spawn(async { 42 }));
    /// assert_eq!(thread.join().unwrap().await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn current() -> Self {
        match Self::try_current() {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the handle of the current runtime: the runtime whose task or blocking work this
    /// thread runs, or that the thread [entered](Self::enter) last.
    ///
    /// # Errors
    ///
    /// Returns an error if the thread is not in a runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    ///
    /// assert!(Handle::try_current().is_err());
    /// raddle::runtime::Runtime::new()?.block_on(async {
    ///     assert!(Handle::try_current().is_ok());
    /// });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn try_current() -> Result<Self, TryCurrentError> {
        context::current()
    }

    /// Makes this the thread's current runtime until the guard is dropped: [`spawn`](crate::spawn)
    /// spawns on it, and new sockets and timers belong to it. If it was built without sockets or
    /// timers, none can be created meanwhile, even inside a runtime that has them.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// let handle = runtime.handle().clone();
    /// let _guard = handle.enter();
    /// let task = raddle::spawn(async { 42 });
    /// assert_eq!(handle.block_on(task)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self)
    }

    /// Spawns a task on the runtime. It runs whether or not the handle is awaited.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// let task = runtime.handle().spawn(async { 42 });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(future: F, Box::pin => self.spawn_as(future, meta))
    }

    #[track_caller]
    pub(crate) fn spawn_as<F>(&self, future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let future = trace::task_as(Kind::Task, meta, future);
        self.scheduler().spawn(future)
    }

    /// Sends a function to a worker, which calls it and runs the returned future as a task. The
    /// task stays on that worker, so the future need not be `Send`, and its sockets and timers
    /// belong to the worker.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::rc::Rc;
    /// use raddle::runtime::{Builder, Policy};
    ///
    /// let runtime = Builder::new_multi_thread()
    ///     .worker_threads(2)
    ///     .scheduler(Policy::Sharded)
    ///     .build()?;
    /// let tasks: Vec<_> = (0..2)
    ///     .map(|worker| {
    ///         runtime.handle().spawn_on(worker, move || {
    ///             let count = Rc::new(Cell::new(worker));
    ///             async move {
    ///                 raddle::task::yield_now().await;
    ///                 count.get()
    ///             }
    ///         })
    ///     })
    ///     .collect();
    /// for (worker, task) in tasks.into_iter().enumerate() {
    ///     assert_eq!(runtime.block_on(task).unwrap(), worker);
    /// }
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the runtime is not [`Policy::Sharded`](crate::runtime::Policy::Sharded), or has no
    /// worker of that index.
    #[track_caller]
    pub fn spawn_on<F, R>(&self, worker: usize, make: F) -> JoinHandle<R::Output>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future + 'static,
        R::Output: Send + 'static,
    {
        box_if_large!(make: F, Box::new => self.scheduler().spawn_on(worker, make))
    }

    /// Runs a function that may block, on a thread for blocking work; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// let call = runtime.handle().spawn_blocking(|| std::fs::read_to_string("/dev/null"));
    /// assert!(runtime.block_on(call)??.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(f: F, Box::new => self.spawn_blocking_as(f, meta))
    }

    #[track_caller]
    pub(crate) fn spawn_blocking_as<F, R>(&self, f: F, meta: SpawnMeta) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        raddle_task::blocking::spawn_as(meta, f, |task| blocking::submit(self, task))
    }

    /// Keeps a paused clock from advancing automatically while blocking work is queued or runs.
    pub(crate) fn hold_auto_advance(&self) -> Option<raddle_timer::AutoAdvanceHold> {
        match self.inner.flavor {
            // The clock of a multi-thread runtime is never paused.
            RuntimeFlavor::MultiThread => None,
            RuntimeFlavor::CurrentThread => {
                let timers = self.driver(0).timers.as_ref();
                timers.map(raddle_timer::Handle::hold_auto_advance)
            }
        }
    }

    /// Blocks this thread until `future` is ready.
    ///
    /// On a current-thread runtime only [`Runtime::block_on`](crate::runtime::Runtime::block_on)
    /// drives tasks, sockets and timers: this method relies on another thread that has called it.
    ///
    /// # Panics
    ///
    /// As [`Runtime::block_on`](crate::runtime::Runtime::block_on).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// assert_eq!(runtime.handle().block_on(async { 42 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(future: F, Box::pin => self.block_on_as(future, meta))
    }

    #[track_caller]
    pub(crate) fn block_on_as<F: Future>(&self, future: F, meta: SpawnMeta) -> F::Output {
        let _guard = self.enter();
        let _random = self.inner.random.as_ref().map(Random::enter_call);
        self.scheduler()
            .block_on(trace::task_as(Kind::BlockOn, meta, future))
    }

    /// Runs `body` and the tasks that it spawns, which may borrow, and blocks this thread until all
    /// of them have completed; see [`Runtime::scope`](crate::runtime::Runtime::scope). A task calls
    /// this in [`block_in_place`](crate::task::block_in_place).
    ///
    /// On a current-thread runtime only [`Runtime::block_on`](crate::runtime::Runtime::block_on)
    /// drives tasks, sockets and timers: this method relies on another thread that has called it.
    ///
    /// # Panics
    ///
    /// As [`Runtime::scope`](crate::runtime::Runtime::scope).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Handle;
    /// use raddle::task::block_in_place;
    ///
    /// # #[raddle::main]
    /// # async fn main() -> Result<(), raddle::task::JoinError> {
    /// let request = raddle::spawn(async {
    ///     let rows = vec![3, 1, 2];
    ///     block_in_place(|| {
    ///         Handle::current().scope(async |scope| {
    ///             let smallest = scope.spawn(async { rows.iter().min() });
    ///             let largest = scope.spawn(async { rows.iter().max() });
    ///             (smallest.await.copied(), largest.await.copied())
    ///         })
    ///     })
    /// });
    /// assert_eq!(request.await?, (Some(1), Some(3)));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn scope<'env, F, T>(&'env self, body: F) -> T
    where
        F: for<'scope> AsyncFnOnce(&'scope ParallelScope<'scope, 'env>) -> T,
    {
        // The panic of `block_on` would name the closure.
        context::check_may_scope();
        raddle_task::parallel_scope(self, |future| self.block_on(future), body)
    }

    /// Returns the kind of the runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::{Runtime, RuntimeFlavor};
    ///
    /// let runtime = Runtime::new()?;
    /// assert_eq!(runtime.handle().runtime_flavor(), RuntimeFlavor::MultiThread);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn runtime_flavor(&self) -> RuntimeFlavor {
        self.inner.flavor
    }

    /// Returns the id of the runtime, which is unique in the process.
    pub fn id(&self) -> Id {
        self.scheduler().id()
    }

    /// Returns the [name](crate::runtime::Builder::name) of the runtime, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.inner.name.as_deref()
    }

    /// Returns a view of the runtime's metrics.
    pub fn metrics(&self) -> RuntimeMetrics {
        RuntimeMetrics::new(self.clone())
    }

    pub(crate) fn scheduler(&self) -> &raddle_sched::Handle {
        let scheduler = self.inner.scheduler.get();
        scheduler.expect("the builder sets the scheduler before it returns the handle")
    }

    /// Returns the handles of a worker's reactor and timers.
    pub(crate) fn driver(&self, worker: usize) -> &DriverHandles {
        let drivers = &self.inner.drivers;
        drivers.get(worker).unwrap_or(&drivers[0])
    }
}

/// A panic interrupts a task or a hook, never a change of the state behind a handle.
impl UnwindSafe for Handle {}
impl RefUnwindSafe for Handle {}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("runtime::Handle")
            .field("flavor", &self.inner.flavor)
            .field("name", &self.inner.name)
            .finish_non_exhaustive()
    }
}
