//! Tasks that stay on one thread.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use raddle_task::trace::{self, Kind};
use raddle_task::{CurrentLocalSet, LocalEnterGuard};

use crate::runtime::{Id, Runtime, UnhandledPanic};
use crate::task::JoinHandle;

/// Tasks that run on one thread, so that they need not be `Send`.
///
/// They run while the set is polled: in [`run_until`](Self::run_until), in
/// [`block_on`](Self::block_on), or when the set itself is awaited, which waits
/// for all of them to end. Inside, [`spawn_local`] adds tasks. Since the set
/// cannot leave its thread, that has to be in a `block_on`, on a runtime of
/// either kind, or in a task of another set; not in a task of
/// [`spawn`](crate::spawn).
///
/// Wakers may be anywhere. Tasks run in the order in which they become due,
/// whether they were woken on this thread or on another. One poll of the set
/// runs at most 61, and then lets the other tasks of the thread have their turn;
/// on a worker of a runtime each counts as a poll of the worker, so that events
/// and timers wait no longer than beside other tasks. The future of
/// [`run_until`](Self::run_until) has its turn as if it were one of the tasks.
///
/// Dropping the set drops the futures of its tasks; awaiting their handles
/// gives an error that [`is_cancelled`](crate::task::JoinError::is_cancelled).
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
    /// Makes an empty set, which belongs to this thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::LocalSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let set = LocalSet::new();
    /// let task = set.spawn_local(async { 42 });
    /// assert_eq!(set.run_until(task).await?, 42);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self {
            tasks: raddle_task::LocalSet::new(raddle_sched::count_nested_poll),
            id: raddle_sched::take_id(),
        }
    }

    /// Adds a task to the set. It runs when the set is polled next.
    ///
    /// A panic in the task ends that task alone: it is in the
    /// [`JoinError`](crate::task::JoinError) that awaiting the handle gives.
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
        self.tasks.spawn_local(trace::task(Kind::Local, future))
    }

    /// Runs `future`, and the tasks of the set beside it, until `future` is
    /// ready. Tasks that have not ended by then stay in the set.
    ///
    /// # Cancel safety
    ///
    /// As `future` itself. The tasks stay in the set.
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
    pub async fn run_until<F: Future>(&self, future: F) -> F::Output {
        self.tasks.run_until(future).await
    }

    /// Runs `future`, and the tasks of the set beside it, on this thread until
    /// `future` is ready; as [`Runtime::block_on`] with
    /// [`run_until`](Self::run_until) in it.
    ///
    /// # Panics
    ///
    /// In async code, where a thread must not wait; and if the future panics.
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
        runtime.block_on(self.run_until(future))
    }

    /// Sets what the panic of a task of the set does to the set, from now on;
    /// the setting of the [runtime](crate::runtime::Builder::unhandled_panic)
    /// is not about these tasks. Default: [`UnhandledPanic::Ignore`].
    ///
    /// With [`UnhandledPanic::ShutdownRuntime`] the set drops its other tasks,
    /// cancels those that are spawned later, and panics wherever it is polled:
    /// in [`run_until`](Self::run_until), in [`block_on`](Self::block_on) or
    /// when it is awaited. If that is in a task of a runtime, it is this task
    /// that panics.
    ///
    /// ```should_panic
    /// use raddle::runtime::UnhandledPanic;
    /// use raddle::task::{LocalSet, spawn_local};
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let mut local = LocalSet::new();
    /// local.unhandled_panic(UnhandledPanic::ShutdownRuntime);
    /// // Panics too, instead of waiting for ever.
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

    /// The id of the set, which no other set and no runtime of the process has
    /// or will have.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle::task::LocalSet;
    ///
    /// # #[raddle::main(flavor = "current_thread")]
    /// # async fn main() {
    /// assert_ne!(LocalSet::new().id(), LocalSet::new().id());
    /// # }
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Makes this the set that [`spawn_local`] adds tasks to, until the guard
    /// is dropped. The tasks do not run before the set is polled.
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

/// Runs the tasks until all have ended.
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

/// Adds a task to the current [`LocalSet`]: the one whose task, or whose
/// [`run_until`](LocalSet::run_until), this is called in, or that was
/// [entered](LocalSet::enter) last, or to the
/// [`LocalRuntime`](crate::runtime::LocalRuntime). Neither the future nor its output need be
/// `Send`.
///
/// A task of [`spawn`](crate::spawn) is outside the set that it was spawned in.
///
/// Where no set is current, on a worker of a runtime that is
/// [`Policy::Sharded`](crate::runtime::Policy::Sharded), the task is the worker's, and
/// stays there.
///
/// # Panics
///
/// Elsewhere.
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
    match CurrentLocalSet::get() {
        Some(set) => set.spawn_local(trace::task(Kind::Local, future)),
        None if raddle_sched::is_on_pinned_worker() => raddle_sched::spawn_local(future),
        None => panic!(
            "spawn_local was called outside a LocalSet; call it in LocalSet::run_until, in a task \
             of a set, while LocalSet::enter's guard lives, in a LocalRuntime, or in a task of a \
             sharded runtime"
        ),
    }
}
