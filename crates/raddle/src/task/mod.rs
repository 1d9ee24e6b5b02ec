//! Tasks: futures that a runtime runs independently of each other.
//!
//! A task is like a thread, but switching between tasks is a function's return, and a task costs
//! about a hundred bytes. [`spawn`] makes a task of a future and returns a [`JoinHandle`], which is
//! a future of the task's output:
//!
//! ```
//! # #[raddle::main]
//! # async fn main() -> Result<(), raddle::task::JoinError> {
//! let task = raddle::spawn(async { 6 * 7 });
//! // The task runs, whether or not the handle is awaited.
//! assert_eq!(task.await?, 42);
//! # Ok(())
//! # }
//! ```
//!
//! | to | use |
//! |---|---|
//! | run a future concurrently with others | [`spawn`] |
//! | wait for many tasks, in the order in which they end | [`JoinSet`] |
//! | run a few futures within one task | [`join!`](crate::join), [`select!`](crate::select) |
//! | run many futures that borrow, and wait for all of them | [`scope`] |
//! | run tasks that borrow on all workers | [`Runtime::scope`](crate::runtime::Runtime::scope), which blocks |
//! | abort a task when its owner goes away | [`JoinHandle::abort_on_drop`] |
//! | call a function that blocks | [`spawn_blocking`]; on borrowed data [`block_in_place`] |
//! | run futures that are not `Send` | [`LocalSet`], [`spawn_local`], a `LocalRuntime` |
//! | let other tasks run within a long loop | [`yield_now`], [`consume_budget`] |
//! | give each task a variable of its own | [`task_local!`](crate::task_local) |
//!
//! # Cancelling
//!
//! [`JoinHandle::abort`] drops the task's future at its next `.await`; awaiting the handle then
//! gives an error that [`is_cancelled`](JoinError::is_cancelled). Dropping the handle does not
//! cancel the task; dropping an [`AbortOnDropHandle`] does, and dropping a [`JoinSet`] aborts its
//! tasks.
//!
//! # Panics
//!
//! A panic ends only the task in which it happens; awaiting its handle returns it in a
//! [`JoinError`].
//!
//! # Blocking
//!
//! A poll that does not return prevents its worker from running other tasks. Do not sleep, wait
//! long for a lock of std, or compute for more than about 100 microseconds in a task; see
//! `docs/guide/blocking.md` in the repository.
//!
//! # The budget of a poll
//!
//! A task that waits for something that is always ready, such as a full channel, would never return
//! from its poll. Each poll therefore has a budget of 128 operations on sockets, channels, timers
//! and locks of Raddle. When it is spent, they report that they are not ready, and the task runs
//! again after the others. Resources of other crates can use the budget through [`coop`].

#[cfg(feature = "rt-multi-thread")]
mod in_place;
mod local_set;

use std::future::Future;

pub use raddle_leaf::coop::{Unconstrained, consume_budget, unconstrained};
pub use raddle_sched::yield_now;
pub use raddle_task::{
    AbortHandle, AbortOnDropHandle, AccessError, Id, JoinError, JoinHandle, LocalEnterGuard,
    LocalKey, Scope, ScopedJoinHandle, id, scope, try_id,
};

#[cfg(feature = "rt-multi-thread")]
pub use self::in_place::block_in_place;
pub use self::local_set::{LocalSet, spawn_local};
use crate::runtime::Handle;
use raddle_task::trace::{self, Kind};
use raddle_task::{SpawnMeta, box_if_large};

/// Spawns a task that has a name.
pub type Builder<'a> = raddle_task::Builder<'a, Handle>;

/// Spawns tasks that borrow onto the workers of a runtime; see
/// [`Runtime::scope`](crate::runtime::Runtime::scope).
pub type ParallelScope<'scope, 'env> = raddle_task::ParallelScope<'scope, 'env, Handle>;

/// A set of tasks with the same output type, which are joined in the order of their completion.
/// Dropping the set aborts the tasks in it.
///
/// # Examples
///
/// ```
/// use raddle::task::JoinSet;
///
/// # #[raddle::main]
/// # async fn main() -> Result<(), raddle::task::JoinError> {
/// let mut set = JoinSet::new();
/// for number in 0..10 {
///     set.spawn(async move { number });
/// }
/// let mut sum = 0;
/// while let Some(output) = set.join_next().await {
///     sum += output?;
/// }
/// assert_eq!(sum, 45);
/// # Ok(())
/// # }
/// ```
pub type JoinSet<T> = raddle_task::JoinSet<T, Handle>;

/// The type [`JoinSet`], and the builder of its named tasks.
pub mod join_set {
    pub use super::JoinSet;

    /// Spawns a task that has a name into a [`JoinSet`]; from [`JoinSet::build_task`].
    pub type Builder<'a, T> = raddle_task::JoinSetBuilder<'a, T, crate::runtime::Handle>;
}

/// The futures that methods of this module's types return.
pub mod futures {
    pub use raddle_task::TaskLocalFuture;
}

/// The budget of a poll, with which a resource that is always ready makes its task yield
/// occasionally.
pub mod coop {
    pub use raddle_leaf::coop::{
        Coop, RestoreOnPending, Unconstrained, consume_budget, cooperative, has_budget_remaining,
        poll_proceed, unconstrained,
    };
}

/// Spawns a task on the current runtime. It runs whether or not the handle is awaited; dropping the
/// handle detaches it.
///
/// A panic ends only the task: awaiting the handle returns it in a [`JoinError`]. A runtime can be
/// [set](crate::runtime::Builder::unhandled_panic) to shut down when a task panics.
///
/// ```
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() {
/// let task = raddle::spawn(async { 1 + 1 });
/// assert_eq!(task.await.unwrap(), 2);
/// # }
/// ```
///
/// # Panics
///
/// Panics if the thread is not in a runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let meta = SpawnMeta::of::<F>();
    box_if_large!(future: F, Box::pin => spawn_as(future, meta))
}

#[track_caller]
#[inline]
fn spawn_as<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    raddle_sched::spawn(trace::task_as(Kind::Task, meta, future))
}

/// Runs a function that may block, on a thread for blocking work of the current runtime.
///
/// At most [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads) functions run at
/// a time; further ones wait. [`JoinHandle::abort`] cancels a function that has not started; a
/// running one cannot be stopped. The runtime's shutdown waits for running functions.
///
/// If the runtime has no thread for it and the system refuses to start one, the function is dropped
/// and the handle returns an error that [`is_panic`](JoinError::is_panic) and names the reason.
///
/// ```
/// # #[raddle::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let text = raddle::task::spawn_blocking(|| std::fs::read_to_string("/dev/null")).await??;
/// assert!(text.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Panics
///
/// Panics if the thread is not in a runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    let meta = SpawnMeta::of::<F>();
    box_if_large!(f: F, Box::new => Handle::current().spawn_blocking_as(f, meta))
}

impl raddle_task::Spawn for Handle {
    type LocalSet = LocalSet;

    fn spawn<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        spawn_as(future, meta)
    }

    fn spawn_on<F>(&self, future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        self.spawn_as(future, meta)
    }

    fn spawn_local<F>(future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        local_set::spawn_local_as(future, meta)
    }

    fn spawn_local_on<F>(set: &LocalSet, future: F, meta: SpawnMeta) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
    {
        set.spawn_local_as(future, meta)
    }

    fn spawn_blocking<F, T: Send + 'static>(f: F, meta: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        Handle::current().spawn_blocking_as(f, meta)
    }

    fn spawn_blocking_on<F, T: Send + 'static>(&self, f: F, meta: SpawnMeta) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
    {
        self.spawn_blocking_as(f, meta)
    }
}
