//! Tasks that stay on one thread.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_task::trace::{self, Kind};
use raddle_task::{CurrentLocalSet, LocalEnterGuard, SpawnMeta, box_if_large};

use crate::runtime::{Id, Runtime, UnhandledPanic};
use crate::task::JoinHandle;

/// Tasks that run on one thread, so that they need not be `Send`.
///
/// They run while the set is polled: in [`run_until`](Self::run_until), in
/// [`block_on`](Self::block_on), or while the set itself is awaited, which ends when all of them
/// have completed. Code inside the set adds tasks with [`spawn_local`]. Since the set cannot leave
/// its thread, it must be polled in a `block_on`, on a runtime of either flavor, or in a task of
/// another set, but not in a task of [`spawn`](crate::spawn).
///
/// Wakers may be used on any thread. Tasks run in the order in which they become ready, whether
/// they were woken on this thread or on another. One poll of the set runs at most 61 tasks, and
/// then yields to the other tasks of the thread. On a worker of a runtime, each of them counts as a
/// poll of the worker, so that events and timers wait no longer than they do for other tasks. The
/// future of [`run_until`](Self::run_until) takes turns with the tasks.
///
/// Dropping the set drops the futures of its tasks; awaiting their handles returns an error that
/// [`is_cancelled`](crate::task::JoinError::is_cancelled).
///
/// ```
/// use std::rc::Rc;
/// use raddle::task::{self, LocalSet};
///
/// # #[raddle::main]
/// # async fn main() {
/// let text = Rc::new("not Send");
/// let local = LocalSet::new();
/// let length = local.run_until(async move {
///     task::spawn_local(async move { text.len() }).await.unwrap()
/// });
/// assert_eq!(length.await, 8);
/// # }
/// ```
pub struct LocalSet {
    tasks: raddle_task::LocalSet,
    id: Id,
}

impl LocalSet {
    /// Makes an empty set for the calling thread.
    pub fn new() -> Self {
        Self {
            tasks: raddle_task::LocalSet::new(raddle_sched::count_nested_poll),
            id: raddle_sched::take_id(),
        }
    }

    /// Spawns a task in the set. It runs when the set is polled next.
    ///
    /// A panic ends only that task: awaiting the handle returns it in a
    /// [`JoinError`](crate::task::JoinError).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::LocalSet;
    /// use std::rc::Rc;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let set = LocalSet::new();
    /// let text = Rc::new("not Send");
    /// let task = set.spawn_local(async move { text.len() });
    /// assert_eq!(set.run_until(task).await?, 8);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn spawn_local<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let meta = SpawnMeta::of::<F>();
        box_if_large!(future: F, Box::pin => self.spawn_local_as(future, meta))
    }

    #[track_caller]
    pub(crate) fn spawn_local_as<F>(&self, future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        let future = trace::task_as(Kind::Local, meta, future);
        self.tasks.spawn_local(future)
    }

    /// Runs `future` and the tasks of the set concurrently, until `future` is ready. Tasks that
    /// have not completed by then stay in the set.
    ///
    /// # Cancel safety
    ///
    /// It is as cancel safe as `future`. The tasks stay in the set.
    pub fn run_until<'a, F: Future>(
        &'a self,
        future: F,
    ) -> impl Future<Output = F::Output> + use<'a, F> {
        self.tasks.run_until(future)
    }

    /// Runs `future` and the tasks of the set on this thread until `future` is ready:
    /// [`Runtime::block_on`] of [`run_until`](Self::run_until).
    ///
    /// # Panics
    ///
    /// Panics in async code, where a thread must not block, and if the future panics.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::runtime::Builder;
    /// use raddle::task::{LocalSet, spawn_local};
    ///
    /// let runtime = Builder::new_current_thread().enable_all().build()?;
    /// let set = LocalSet::new();
    /// let output = set.block_on(&runtime, async { spawn_local(async { 42 }).await.unwrap() });
    /// assert_eq!(output, 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn block_on<F: Future>(&self, runtime: &Runtime, future: F) -> F::Output {
        box_if_large!(future: F, Box::pin => runtime.block_on(self.run_until(future)))
    }

    /// Sets the effect of a task's panic on the set, from now on. The setting of the
    /// [runtime](crate::runtime::Builder::unhandled_panic) does not apply to these tasks. Default:
    /// [`UnhandledPanic::Ignore`].
    ///
    /// With [`UnhandledPanic::ShutdownRuntime`] the set drops its other tasks, cancels those that
    /// are spawned later, and panics wherever it is polled: in [`run_until`](Self::run_until), in
    /// [`block_on`](Self::block_on) or when it is awaited. If that is in a task of a runtime, it is
    /// this task that panics.
    ///
    /// ```should_panic
    /// use raddle::runtime::UnhandledPanic;
    /// use raddle::task::{LocalSet, spawn_local};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut local = LocalSet::new();
    /// local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    /// // Panics too, instead of waiting forever.
    /// local.run_until(async {
    ///     spawn_local(async { panic!("the task's own message") });
    ///     std::future::pending::<()>().await;
    /// }).await;
    /// # }
    /// ```
    pub fn unhandled_panic(&mut self, behavior: UnhandledPanic) -> &mut Self {
        let shuts_down = behavior == UnhandledPanic::ShutdownRuntime;
        self.tasks.shut_down_on_panic(shuts_down);
        self
    }

    /// Returns the id of the set, which no other set or runtime of the process has.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Makes this the set that [`spawn_local`] adds tasks to, until the guard is dropped. The tasks
    /// do not run before the set is polled.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::{LocalSet, spawn_local};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let set = LocalSet::new();
    /// let task = {
    ///     let _guard = set.enter();
    ///     spawn_local(async { 42 })
    /// };
    /// assert_eq!(set.run_until(task).await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn enter(&self) -> LocalEnterGuard {
        self.tasks.enter()
    }
}

/// Runs the tasks until all have completed.
impl Future for LocalSet {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.tasks).poll(cx)
    }
}

impl Default for LocalSet {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tasks.fmt(f)
    }
}

/// Spawns a task in the current [`LocalSet`] or [`LocalRuntime`](crate::runtime::LocalRuntime). The
/// current set is the one whose task or [`run_until`](LocalSet::run_until) future calls this, or
/// that was [entered](LocalSet::enter) last. Neither the future nor its output need be `Send`.
///
/// A task that was spawned with [`spawn`](crate::spawn) is not part of the set in which it was
/// spawned.
///
/// On a worker of a [`Policy::Sharded`](crate::runtime::Policy::Sharded) runtime without a current
/// set, the task belongs to the worker and stays there.
///
/// # Panics
///
/// Panics if the thread has no current set, and is not such a worker.
///
/// # Examples
///
/// ```
/// use raddle::task::{LocalSet, spawn_local};
/// use std::rc::Rc;
///
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let text = Rc::new("not Send");
/// let set = LocalSet::new();
/// let length = set.run_until(async {
///     spawn_local(async move { text.len() }).await.unwrap()
/// });
/// assert_eq!(length.await, 8);
/// # }
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let meta = SpawnMeta::of::<F>();
    box_if_large!(future: F, Box::pin => spawn_local_as(future, meta))
}

#[track_caller]
pub(crate) fn spawn_local_as<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
where
    F: Future + 'static,
{
    match CurrentLocalSet::get() {
        Some(set) => set.spawn_local(trace::task_as(Kind::Local, meta, future)),
        None if raddle_sched::is_on_pinned_worker() => raddle_sched::spawn_local(future),
        None => panic!(
            "spawn_local was called outside a LocalSet; call it in LocalSet::run_until, in a task \
             of a set, while LocalSet::enter's guard lives, in a LocalRuntime, or in a task of a \
             sharded runtime"
        ),
    }
}
