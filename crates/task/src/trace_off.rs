//! No spans: the feature `tracing` is off. The functions of this module do nothing.
//!
//! ```
//! use raddle_task::Runnable;
//! use raddle_task::trace::{self, Kind};
//!
//! let _named = raddle_task::name_next(Some("answer"));
//! let future = trace::task(Kind::Task, async { 42 });
//! let (task, handle) = raddle_task::spawn(future, drop::<Runnable>);
//! drop(task.run());
//! assert!(handle.is_finished());
//! ```

use std::future::Future;

use crate::SpawnMeta;
use crate::blocking::BlockingTask;

/// The call that runs a future.
///
/// ```
/// use raddle_task::Runnable;
/// use raddle_task::trace::{self, Kind};
///
/// // A subscriber sees which futures are tasks, and which ones a thread blocks on.
/// let main = trace::task(Kind::BlockOn, async {
///     let request = trace::task(Kind::Task, async { 42 });
///     let (task, handle) = raddle_task::spawn(request, drop::<Runnable>);
///     drop(task.run());
///     handle.await.unwrap()
/// });
/// assert_eq!(raddle_testing::block_on(main), 42);
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A task that may move to other threads.
    Task,
    /// A task of a [`LocalSet`](crate::LocalSet).
    Local,
    /// The thread that blocks on it.
    BlockOn,
}

/// The future as it is.
///
/// ```
/// use raddle_task::Runnable;
/// use raddle_task::trace::{self, Kind};
///
/// let future = trace::task(Kind::Task, async { 42 });
/// let (task, handle) = raddle_task::spawn(future, drop::<Runnable>);
/// drop(task.run());
/// assert_eq!(raddle_testing::ready(handle).unwrap(), 42);
/// ```
#[inline(always)]
pub fn task<F: Future>(_: Kind, future: F) -> F {
    future
}

/// Like [`task`], for a future that may have been boxed: the span has the size of what the user has
/// spawned.
///
/// ```
/// use raddle_task::trace::{self, Kind};
/// use raddle_task::{Runnable, SpawnMeta};
///
/// fn spawn_boxed<F: Future<Output: Send> + Send + 'static>(future: F) -> Runnable {
///     let meta = SpawnMeta::of::<F>();
///     let future = trace::task_as(Kind::Task, meta, Box::pin(future));
///     raddle_task::spawn(future, drop::<Runnable>).0
/// }
///
/// drop(spawn_boxed(async { println!("runs in a span") }).run());
/// ```
#[inline(always)]
pub fn task_as<F: Future>(_: Kind, _: SpawnMeta, future: F) -> F {
    future
}

/// Nothing.
///
/// ```
/// use std::thread;
///
/// use raddle_task::{blocking, trace};
///
/// let answer = blocking::spawn(|| 6 * 7, |task| {
///     let span = trace::blocking(&task);
///     thread::spawn(move || span.in_scope(|| drop(task.into_runnable().run())));
///     Ok(())
/// });
/// assert_eq!(raddle_testing::block_on(answer).unwrap(), 42);
/// ```
#[derive(Debug)]
pub struct BlockingSpan;

/// Makes nothing.
///
/// ```
/// use raddle_task::{blocking, trace};
///
/// let answer = blocking::spawn(|| 6 * 7, |task| {
///     // The span has the place of the spawn, so it is made before the task goes to the pool.
///     let span = trace::blocking(&task);
///     span.in_scope(|| drop(task.into_runnable().run()));
///     Ok(())
/// });
/// assert_eq!(raddle_testing::ready(answer).unwrap(), 42);
/// ```
#[inline(always)]
pub fn blocking(_: &BlockingTask) -> BlockingSpan {
    BlockingSpan
}

impl BlockingSpan {
    /// Calls `work`.
    #[inline(always)]
    pub fn in_scope<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}
