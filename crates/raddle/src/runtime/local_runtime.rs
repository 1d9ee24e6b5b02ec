//! A runtime that stays on its thread, and so runs tasks that are not `Send`.

use std::fmt;
use std::future::Future;
use std::io;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::time::Duration;

use crate::runtime::{Builder, EnterGuard, Handle, Runtime, RuntimeMetrics, UnhandledPanic};
use crate::task::{JoinHandle, LocalSet};
use raddle_task::{SpawnMeta, box_if_large};

/// A current-thread runtime that belongs to its thread, so that
/// [`spawn_local`](crate::task::spawn_local) works everywhere in it, without a
/// [`LocalSet`].
///
/// It runs its tasks inside [`block_on`](Self::block_on). Dropping it shuts it down; the
/// [module](crate::runtime#shutdown) says how.
///
/// ```
/// use std::rc::Rc;
/// use raddle::runtime::LocalRuntime;
/// use raddle::task::spawn_local;
///
/// let runtime = LocalRuntime::new()?;
/// let text = Rc::new("not Send");
/// let length = runtime.block_on(async move {
///     spawn_local(async move { text.len() }).await.unwrap()
/// });
/// assert_eq!(length, 8);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LocalRuntime {
    /// The tasks that are not `Send`. `None` once the shutdown has dropped them.
    set: Option<LocalSet>,
    runtime: Runtime,
}

/// Options of a [`LocalRuntime`], for [`Builder::build_local`]. There are none yet.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LocalOptions {
    /// Makes the type `!Send`, so that later options need not be `Send`.
    _thread: PhantomData<*mut ()>,
}

impl LocalRuntime {
    /// Makes a runtime with sockets and timers.
    ///
    /// # Errors
    ///
    /// Returns an error if the system has no descriptors for it.
    pub fn new() -> io::Result<Self> {
        Builder::new_current_thread()
            .enable_all()
            .build_local(LocalOptions::default())
    }

    pub(crate) fn from_runtime(runtime: Runtime, unhandled_panic: UnhandledPanic) -> Self {
        let mut set = LocalSet::new();
        set.unhandled_panic(unhandled_panic);
        Self {
            set: Some(set),
            runtime,
        }
    }

    fn set(&self) -> &LocalSet {
        let set = self.set.as_ref();
        set.expect("only the shutdown takes the set out")
    }

    /// Drops the local tasks, whose drops may still use the runtime but no longer spawn on it.
    fn drop_local_tasks(&mut self) {
        self.runtime.close();
        let set = self.set.take();
        let _entered = self.runtime.enter();
        drop(set);
    }

    /// Returns a handle of the runtime, which can be sent to other threads. Tasks that are spawned
    /// through it must be `Send`.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::LocalRuntime;
    ///
    /// let runtime = LocalRuntime::new()?;
    /// let handle = runtime.handle().clone();
    /// let task = handle.spawn(async { 42 });
    /// assert_eq!(runtime.block_on(task)?, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle(&self) -> &Handle {
        self.runtime.handle()
    }

    /// Spawns a task that need not be `Send`. It runs while this thread is in
    /// [`block_on`](Self::block_on).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::LocalRuntime;
    ///
    /// let runtime = LocalRuntime::new()?;
    /// let text = std::rc::Rc::new("not Send");
    /// let task = runtime.spawn_local(async move { text.len() });
    /// assert_eq!(runtime.block_on(task)?, 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let meta = SpawnMeta::of::<F>();
        let set = self.set();
        box_if_large!(future: F, Box::pin => set.spawn_local_as(future, meta))
    }

    /// Runs a function that may block, on a thread for blocking work; see
    /// [`task::spawn_blocking`](crate::task::spawn_blocking).
    #[track_caller]
    pub fn spawn_blocking<F, R>(&self, f: F) -> JoinHandle<R>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Send + 'static,
    {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(f: F, Box::new => self.handle().spawn_blocking_as(f, meta))
    }

    /// Runs `future` on this thread until it is ready, and drives the runtime's tasks, sockets and
    /// timers meanwhile.
    ///
    /// # Panics
    ///
    /// As [`Runtime::block_on`].
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        // Lets tasks of the runtime that are outside the set call `spawn_local`.
        let _local = self.set().enter();
        let set = self.set();
        box_if_large!(future: F, Box::pin => set.block_on(&self.runtime, future))
    }

    /// Makes this the thread's current runtime until the guard is dropped, including for
    /// [`spawn_local`](crate::task::spawn_local).
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtime.enter().with_local(self.set().enter())
    }

    /// Returns the metrics of the runtime. They do not count local tasks.
    pub fn metrics(&self) -> RuntimeMetrics {
        self.runtime.metrics()
    }

    /// Shuts the runtime down and waits for running blocking work, for at most `duration`; see
    /// [`Runtime::shutdown_timeout`].
    pub fn shutdown_timeout(mut self, duration: Duration) {
        self.drop_local_tasks();
        self.runtime.shut_down_within(duration);
    }

    /// Shuts the runtime down without waiting.
    pub fn shutdown_background(self) {
        self.shutdown_timeout(Duration::ZERO);
    }
}

impl Drop for LocalRuntime {
    fn drop(&mut self) {
        self.drop_local_tasks();
    }
}

/// As for [`Runtime`].
impl UnwindSafe for LocalRuntime {}
impl RefUnwindSafe for LocalRuntime {}

impl fmt::Debug for LocalRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalRuntime")
            .field("handle", self.handle())
            .finish_non_exhaustive()
    }
}
