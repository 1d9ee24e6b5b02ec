//! Tasks: futures that a runtime runs on their own.
//!
//! [`spawn`] makes a task of a future and returns its [`JoinHandle`], a future
//! of the output. [`JoinSet`] waits for many tasks in the order in which they
//! end. [`spawn_blocking`] is for functions that would block a worker;
//! [`block_in_place`] calls one inside the task.
//! [`LocalSet`] runs tasks that stay on one thread, and [`task_local!`](crate::task_local)
//! declares variables that each task has for itself.

mod builder;
#[cfg(feature = "rt-multi-thread")]
mod in_place;
pub mod join_set;
mod local_set;
mod task_local;

use std::future::Future;

pub use raddle_coop::{Unconstrained, consume_budget, unconstrained};
pub use raddle_sched::yield_now;
pub use raddle_task::{AbortHandle, Id, JoinError, JoinHandle, id, try_id};

pub use self::builder::Builder;
#[cfg(feature = "rt-multi-thread")]
pub use self::in_place::block_in_place;
pub use self::join_set::JoinSet;
pub use self::local_set::{LocalEnterGuard, LocalSet, spawn_local};
pub use self::task_local::{AccessError, LocalKey};
use crate::runtime::Handle;
use crate::trace::{self, Kind};

/// The futures that methods of this module's types return.
pub mod futures {
    pub use super::task_local::TaskLocalFuture;
}

/// The budget of a poll, with which a resource that is always ready makes its
/// task yield now and then.
pub mod coop {
    pub use raddle_coop::{
        Coop, RestoreOnPending, Unconstrained, consume_budget, cooperative, has_budget_remaining,
        poll_proceed, unconstrained,
    };
}

/// Spawns a task on the current runtime. It runs whether or not the handle is
/// awaited; dropping the handle detaches it.
///
/// A panic in the task ends the task alone: it is in the [`JoinError`] that
/// awaiting the handle gives. A runtime may
/// [be set](crate::runtime::Builder::unhandled_panic) to end by it.
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
/// If the thread is in no runtime.
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    raddle_sched::spawn(trace::task(Kind::Task, future))
}

/// Runs a function that may block on a thread of the current runtime that is
/// there for such work.
///
/// There may be as many at a time as
/// [`max_blocking_threads`](crate::runtime::Builder::max_blocking_threads)
/// says; further ones wait. [`JoinHandle::abort`] keeps a function from being
/// called if it has not been yet; one that runs cannot be stopped. The runtime's
/// shutdown waits for those that run.
///
/// If the runtime has no thread for it and the system refuses to start one,
/// the function is dropped and the handle ends with an error that
/// [`is_panic`](JoinError::is_panic) and says so.
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
/// If the thread is in no runtime.
#[track_caller]
pub fn spawn_blocking<F, R>(f: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    Handle::current().spawn_blocking(f)
}
