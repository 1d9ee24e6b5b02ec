//! Reaching a scheduler from anywhere.

use std::fmt;
use std::future::Future;

use raddle_std::sync::Arc;
use raddle_task::JoinHandle;

use crate::block_on;
use crate::context::{self, Blocking, EnterGuard};
use crate::id::Id;
use crate::metrics::Metrics;
use crate::panics;
use crate::shared::Shared;
use crate::task::{self, Task};
use crate::worker::Core;

/// A reference to a scheduler. It does not keep the scheduler running.
#[derive(Clone)]
pub struct Handle {
    shared: Arc<Shared>,
}

impl Handle {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The scheduler's id.
    pub fn id(&self) -> Id {
        self.shared.id
    }

    /// The scheduler that the calling thread has entered last.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[track_caller]
    pub fn current() -> Self {
        Self::try_current().unwrap_or_else(|| no_scheduler())
    }

    /// The scheduler that the calling thread has entered last, if any.
    pub fn try_current() -> Option<Self> {
        context::current_handle()
    }

    /// Makes this the current scheduler of the calling thread, until the guard
    /// is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        context::enter_handle(self)
    }

    /// Spawns a task: onto the worker that calls this, or through the
    /// injection queue. After the scheduler's end the task is cancelled at
    /// once.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.worker() {
            Some(worker) => worker.spawn(future),
            None => {
                let (task, handle) = task::spawn(&self.shared, future);
                self.shared.inject_spawned(Task(task));
                handle
            }
        }
    }

    /// Polls a future on the calling thread, which sleeps while it is pending,
    /// with this scheduler as the current one. It runs no tasks meanwhile.
    ///
    /// # Panics
    ///
    /// On a thread that runs tasks or blocks on a future already, and if a task
    /// has panicked under [`UnhandledPanic::ShutdownRuntime`](crate::UnhandledPanic::ShutdownRuntime).
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        let _blocking = context::enter_blocking(Blocking::BesideWorkers);
        let _handle = self.enter();
        block_on::block_on(&self.shared, future).unwrap_or_else(|| panics::end_block_on())
    }

    /// The scheduler's worker that the calling thread is running, if any.
    fn worker<'a>(&self) -> Option<&'a Core> {
        context::worker().filter(|worker| worker.scheduler == self.id())
    }

    /// Whether the calling thread runs a worker of the scheduler, or ends a
    /// poll that a worker has left.
    pub(crate) fn is_on_worker(&self) -> bool {
        self.worker().is_some() || context::is_at_post_of(self.id())
    }

    /// What the scheduler counts.
    pub fn metrics(&self) -> Metrics {
        Metrics::new(self.shared.clone())
    }

    /// How many workers the scheduler has.
    pub fn workers(&self) -> usize {
        self.shared.remotes.len()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.shared).finish()
    }
}

/// Spawns a task onto the current scheduler.
///
/// # Panics
///
/// Outside any scheduler.
#[track_caller]
#[inline]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match context::current_worker() {
        Some(worker) => worker.spawn(future),
        None => Handle::current().spawn(future),
    }
}

/// Whether the calling thread runs tasks, or blocks on a future, so that it
/// must not block on another.
pub fn is_inside() -> bool {
    context::is_inside()
}

#[cold]
#[track_caller]
fn no_scheduler() -> ! {
    panic!("no runtime on this thread; call this inside block_on, a task, or Handle::enter")
}
