//! No spans: the feature `tracing` is off.

use std::future::Future;

use raddle_task::blocking::BlockingTask;

/// What runs a future.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Task,
    Local,
    BlockOn,
}

/// Would name the task that is spawned next.
#[inline(always)]
pub(crate) fn name_next(_: Option<&str>) -> Named {
    Named
}

/// Nothing to restore.
pub(crate) struct Named;

/// The future as it is.
#[inline(always)]
pub(crate) fn task<F: Future>(_: Kind, future: F) -> F {
    future
}

/// Nothing.
pub(crate) struct BlockingSpan;

/// Makes nothing.
#[inline(always)]
pub(crate) fn blocking(_: &BlockingTask) -> BlockingSpan {
    BlockingSpan
}

impl BlockingSpan {
    /// Calls `work`.
    #[inline(always)]
    pub(crate) fn in_scope<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }
}
