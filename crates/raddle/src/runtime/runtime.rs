//! The owner of a runtime.

use std::fmt;
use std::future::Future;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_primitives::random::Random;
use raddle_primitives::sync::Mutex;
use raddle_primitives::thread;

use crate::runtime::blocking::PoolOwner;
use crate::runtime::context::{self, EnterGuard};
use crate::runtime::tools::Running;
use crate::runtime::{Handle, RuntimeMetrics};
use crate::task::{JoinHandle, ParallelScope};
use raddle_task::trace::{self, Kind};
use raddle_task::{SpawnMeta, box_if_large};

/// A runtime: it runs tasks, and has the threads, sockets and timers that they use.
///
/// Dropping it shuts it down; the [module](crate::runtime#shutdown) says how.
///
/// # Examples
///
/// ```
/// use raddle::runtime::Runtime;
///
/// let runtime = Runtime::new()?;
/// let sum = runtime.block_on(async {
///     let tasks = [1, 2, 3].map(|number| raddle::spawn(async move { number * number }));
///     let mut sum = 0;
///     for task in tasks {
///         sum += task.await.unwrap();
///     }
///     sum
/// });
/// assert_eq!(sum, 14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Runtime {
    handle: Handle,
    /// `None` once the shutdown has taken them.
    parts: Option<Parts>,
}

/// The parts of a runtime that must be shut down, in this order.
struct Parts {
    scheduler: Scheduler,
    blocking: Box<dyn PoolOwner>,
    tools: Vec<Box<dyn Running>>,
}

/// The result of a shutdown.
#[derive(Clone, Copy, Default)]
#[cfg_attr(
    not(feature = "watchdog"),
    allow(dead_code, reason = "only the watchdog reads it")
)]
pub(crate) struct Stopped {
    pub(crate) workers: bool,
    pub(crate) blocking: bool,
    /// The number of tasks that have not completed.
    pub(crate) alive_tasks: usize,
}

pub(crate) enum Scheduler {
    CurrentThread(Box<raddle_sched::CurrentThread>),
    MultiThread {
        pool: raddle_sched::Pool,
        /// The threads that take over workers whose own threads block.
        handoffs: Box<dyn PoolOwner>,
    },
}

impl Runtime {
    /// Makes a multi-thread runtime with sockets, timers and the [default
    /// number](crate::runtime::Builder::worker_threads) of workers.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no threads or descriptors for it.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "rt-multi-thread")]
    #[track_caller]
    pub fn new() -> std::io::Result<Self> {
        crate::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
    }

    pub(crate) fn from_parts(
        handle: Handle,
        scheduler: Scheduler,
        blocking: Box<dyn PoolOwner>,
    ) -> Self {
        Self {
            handle,
            parts: Some(Parts {
                scheduler,
                blocking,
                tools: Vec::new(),
            }),
        }
    }

    /// Returns a handle of the runtime.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// let handle = runtime.handle().clone();
    /// std::thread::spawn(move || handle.spawn(async {}));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Spawns a task on the runtime. It runs whether or not the handle is awaited. On a
    /// current-thread runtime it runs only while a thread is in [`block_on`](Self::block_on).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// // Runs on a worker, while this thread does something else.
    /// let task = runtime.spawn(async { 42 });
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
        box_if_large!(future: F, Box::pin => self.handle.spawn_as(future, meta))
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
    /// let call = runtime.spawn_blocking(|| 42);
    /// assert_eq!(runtime.block_on(call)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(f: F, Box::new => self.handle.spawn_blocking_as(f, meta))
    }

    /// Runs `future` to completion on this thread, which blocks meanwhile.
    ///
    /// On a current-thread runtime this call drives tasks, sockets and timers. Several threads may
    /// call it at the same time; one of them then drives the runtime.
    ///
    /// # Panics
    ///
    /// Panics in async code, where a thread must not block; if the future panics; and if a task has
    /// panicked and
    /// [`UnhandledPanic::ShutdownRuntime`](crate::runtime::UnhandledPanic::ShutdownRuntime) is set.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// assert_eq!(runtime.block_on(async { 6 * 7 }), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(future: F, Box::pin => self.block_on_as(future, meta))
    }

    #[track_caller]
    fn block_on_as<F: Future>(&self, future: F, meta: SpawnMeta) -> F::Output {
        match &self.parts().scheduler {
            Scheduler::MultiThread { .. } => self.handle.block_on_as(future, meta),
            Scheduler::CurrentThread(scheduler) => {
                let _guard = self.enter();
                let random = self.handle.inner.random.as_ref();
                let _random = random.map(Random::enter_call);
                scheduler.block_on(trace::task_as(Kind::BlockOn, meta, future))
            }
        }
    }

    /// Runs `body` and the tasks that it spawns into the scope, and blocks this thread until all of
    /// them have completed. The tasks run on the workers, in parallel, and may borrow what lives
    /// longer than the scope.
    ///
    /// The thread blocks, so that the borrows cannot end before the tasks do. An async function
    /// could not promise that, since its future can be leaked: [`task::scope`](crate::task::scope)
    /// runs its tasks within one task. No task is aborted: one that never completes blocks the
    /// scope forever, and so do tasks of a current-thread runtime after a panic of its hooks.
    ///
    /// # Panics
    ///
    /// Panics in async code, where a thread must not block; with the payload of the first task or
    /// the body that panicked, after all tasks have completed; and if the shutdown of the runtime
    /// has dropped a task.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// let text = "one two three four".to_owned();
    /// let (first, second) = text.split_at(text.len() / 2);
    /// let words = runtime.scope(async |scope| {
    ///     let first = scope.spawn(async { first.split_whitespace().count() });
    ///     let second = scope.spawn(async { second.split_whitespace().count() });
    ///     first.await + second.await
    /// });
    /// assert_eq!(words, 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn scope<'env, F, T>(&'env self, body: F) -> T
    where
        F: for<'scope> AsyncFnOnce(&'scope ParallelScope<'scope, 'env>) -> T,
    {
        // The panic of `block_on` would name the closure.
        context::check_may_scope();
        raddle_task::parallel_scope(&self.handle, |future| self.block_on(future), body)
    }

    /// Makes this the thread's current runtime until the guard is dropped; see
    /// [`Handle::enter`].
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::net::UdpSocket;
    /// use raddle::runtime::Runtime;
    ///
    /// let runtime = Runtime::new()?;
    /// // Values that need a current runtime can be created here.
    /// let _guard = runtime.enter();
    /// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
    /// socket.set_nonblocking(true)?;
    /// let socket = UdpSocket::from_std(socket)?;
    /// # drop(socket);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn enter(&self) -> EnterGuard<'_> {
        self.handle.enter()
    }

    /// Returns a view of the runtime's metrics.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.handle.metrics()
    }

    /// Shuts the runtime down, and waits at most `duration` for running polls and blocking work and
    /// for the runtime's threads to exit. Those that take longer continue to run, and end by
    /// themselves.
    ///
    /// Inside async code and on a thread of this runtime it does not wait. If the runtime has a
    /// watchdog, its action receives a report of the polls and jobs that still run;
    /// `shutdown_report`, with the feature `watchdog`, returns that report.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Runtime;
    /// use std::time::Duration;
    ///
    /// let runtime = Runtime::new()?;
    /// runtime.spawn_blocking(|| std::thread::sleep(Duration::from_millis(50)));
    /// // Does not wait for the call to return.
    /// runtime.shutdown_timeout(Duration::from_millis(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn shutdown_timeout(mut self, duration: Duration) {
        self.shut_down_within(duration);
    }

    /// Shuts the runtime down without waiting: running polls and blocking work continue, and end by
    /// themselves.
    pub fn shutdown_background(mut self) {
        self.shut_down_within(Duration::ZERO);
    }

    pub(crate) fn shut_down_within(&mut self, duration: Duration) {
        self.shut_down(Some(duration), !duration.is_zero());
    }

    /// Begins the shutdown of a current-thread runtime that has not been shut down: it no longer
    /// spawns tasks.
    pub(crate) fn close(&mut self) {
        if let Some(Scheduler::CurrentThread(scheduler)) =
            self.parts.as_mut().map(|parts| &mut parts.scheduler)
        {
            scheduler.close();
        }
    }

    /// Starts a tool, and keeps it until the shutdown.
    pub(crate) fn serve(&mut self, mut tool: Box<dyn Running>) -> std::io::Result<()> {
        tool.serve(&self.handle)?;
        let parts = self.parts.as_mut();
        let parts = parts.expect("only the shutdown takes the parts out");
        parts.tools.push(tool);
        Ok(())
    }

    fn parts(&self) -> &Parts {
        let parts = self.parts.as_ref();
        parts.expect("only the shutdown takes the parts out")
    }

    /// Shuts the runtime down, unless it has been shut down, and returns what has stopped. Reports
    /// this to the tools if `reports` is true, or if the thread must not wait for as long as `wait`
    /// allows.
    pub(crate) fn shut_down(&mut self, wait: Option<Duration>, reports: bool) -> Option<Stopped> {
        let mut parts = self.parts.take()?;
        if wait != Some(Duration::ZERO) && context::must_not_wait_for(&self.handle) {
            let stopped = Stopped {
                alive_tasks: self.handle.metrics().num_alive_tasks(),
                ..Stopped::default()
            };
            parts.report(stopped);
            parts.hand_over(self.handle.clone(), wait);
            Some(stopped)
        } else {
            let stopped = parts.shut_down(&self.handle, wait);
            if reports {
                parts.report(stopped);
            }
            Some(stopped)
        }
    }
}

impl Parts {
    /// Returns what has stopped.
    fn shut_down(&mut self, handle: &Handle, wait: Option<Duration>) -> Stopped {
        // A deadline that the clock cannot represent is no limit.
        let deadline = wait.and_then(|wait| Instant::now().checked_add(wait));
        let left = || deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let mut workers = {
            // Futures find the same current runtime when they are dropped as when they are polled.
            // All futures of a current-thread runtime are dropped here, and those of a worker
            // without a thread.
            let _entered = context::enter(handle);
            match &mut self.scheduler {
                Scheduler::CurrentThread(scheduler) => {
                    scheduler.shutdown();
                    true
                }
                Scheduler::MultiThread { pool, .. } => pool.shutdown(wait),
            }
        };
        if let Scheduler::MultiThread { handoffs, .. } = &mut self.scheduler {
            workers &= handoffs.shutdown(left());
        }
        let blocking = self.blocking.shutdown(left());
        self.tools.iter_mut().for_each(|tool| tool.stop());
        Stopped {
            workers,
            blocking,
            alive_tasks: handle.metrics().num_alive_tasks(),
        }
    }

    fn report(&self, stopped: Stopped) {
        self.tools.iter().for_each(|tool| tool.report(stopped));
    }

    /// Starts a thread that shuts the runtime down and waits. If the system refuses to start one,
    /// shuts down on this thread without waiting.
    fn hand_over(self, handle: Handle, wait: Option<Duration>) {
        // Shared, since a failed spawn drops its closure.
        // UNRANKED: only one of the two threads locks it, so no thread waits for it.
        let parts = Arc::new(Mutex::new(Some(self)));
        let theirs = (Arc::clone(&parts), handle.clone());
        let shut_down = move || {
            let (parts, handle) = theirs;
            let parts = parts.lock().take();
            if let Some(mut parts) = parts {
                let stopped = parts.shut_down(&handle, wait);
                if wait.is_some() {
                    parts.report(stopped);
                }
            }
        };
        let builder = thread::Builder::new().name("raddle-shutdown".to_owned());
        if thread::spawn_boxed(builder, Box::new(shut_down)).is_err() {
            let parts = parts.lock().take();
            if let Some(mut parts) = parts {
                parts.shut_down(&handle, Some(Duration::ZERO));
            }
        }
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        self.shut_down(None, false);
    }
}

/// As for [`Handle`]: a panic in a task or a future leaves the runtime's state consistent.
impl UnwindSafe for Runtime {}
impl RefUnwindSafe for Runtime {}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("handle", &self.handle)
            .finish_non_exhaustive()
    }
}
