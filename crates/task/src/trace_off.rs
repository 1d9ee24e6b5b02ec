//! No spans: the feature `tracing` is off. The functions of this module do nothing.

use std::future::Future;

use crate::SpawnMeta;
use crate::blocking::BlockingTask;

/// The call that runs a future.
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
#[inline(always)]
pub fn task<F: Future>(_: Kind, future: F) -> F {
    future
}

/// Like [`task`], for a future that may have been boxed: the span has the size of what the user has
/// spawned.
#[inline(always)]
pub fn task_as<F: Future>(_: Kind, _: SpawnMeta, future: F) -> F {
    future
}

/// Nothing.
#[derive(Debug)]
pub struct BlockingSpan;

/// Makes nothing.
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
