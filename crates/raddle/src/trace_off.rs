//! No spans: the feature `tracing` is off.

use std::future::Future;

/// What runs a future.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    Task,
    Local,
    BlockOn,
}

/// Would name the task that is spawned next.
#[inline(always)]
pub(crate) fn name_next(_: Option<&str>) {}

/// The future as it is.
#[inline(always)]
pub(crate) fn task<F: Future>(_: Kind, future: F) -> F {
    future
}

/// The task as it is.
#[inline(always)]
pub(crate) fn blocking<T: Future>(task: T) -> T {
    task
}
