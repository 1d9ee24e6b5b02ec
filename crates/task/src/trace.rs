//! A span for each task, of the crate `tracing`.
//!
//! Target, name and fields equal those of Tokio's spans, so that tools that read these work here.
//! Without the feature `tracing` the functions of this module do nothing.
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
use std::num::NonZeroU64;
use std::panic::Location;

use tracing::Span;
use tracing::instrument::{Instrument, Instrumented};

use crate::blocking::BlockingTask;
use crate::name::{give_back, take_for_span};
use crate::{Id, SpawnMeta, span, take_id, upcoming_id};

/// The kind of work that a span is for.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A task that may move to other threads.
    Task,
    /// A task of a [`LocalSet`](crate::LocalSet).
    Local,
    /// The thread that blocks on it.
    BlockOn,
}

/// Adds the span to a future that is about to become a task, or to be blocked on.
#[track_caller]
pub fn task<F: Future>(kind: Kind, future: F) -> Instrumented<F> {
    task_as(kind, SpawnMeta::of::<F>(), future)
}

/// Like [`task`], for a future that may have been boxed: the span has the size of what the user has
/// spawned.
#[track_caller]
pub fn task_as<F: Future>(kind: Kind, meta: SpawnMeta, future: F) -> Instrumented<F> {
    let location = Location::caller();
    let size = meta.size();
    // A task that a subscriber spawns meanwhile has no name.
    let next = take_for_span();
    let name = next.as_deref();
    let span = match kind {
        Kind::Task => named(|id| task_span("task", name, id, size, location)),
        Kind::Local => named(|id| task_span("local", name, id, size, location)),
        Kind::BlockOn => task_span("block_on", None, number(take_id()), size, location),
    };
    give_back(next);
    if !matches!(kind, Kind::BlockOn) {
        span::set_next(span.id().map(|id| id.into_non_zero_u64()));
    }
    future.instrument(span)
}

/// The span of blocking work.
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
pub struct BlockingSpan(Span);

/// Makes the span of blocking work that is about to be given to the pool.
pub fn blocking(task: &BlockingTask) -> BlockingSpan {
    let location = task.spawned_at();
    let name = take_for_span();
    BlockingSpan(tracing::trace_span!(
        target: "tokio::task::blocking",
        "runtime.spawn",
        kind = %"blocking",
        task.name = name.as_deref(),
        task.id = number(task.id()),
        "fn" = %task.closure().type_name(),
        size.bytes = task.closure().size(),
        loc.file = location.file(),
        loc.line = location.line(),
        loc.col = location.column(),
    ))
}

impl BlockingSpan {
    /// Calls `work` inside the span.
    pub fn in_scope<R>(&self, work: impl FnOnce() -> R) -> R {
        self.0.in_scope(work)
    }
}

fn task_span(
    kind: &'static str,
    name: Option<&str>,
    id: u64,
    size: usize,
    location: &Location<'_>,
) -> Span {
    tracing::trace_span!(
        target: "tokio::task",
        parent: None,
        "runtime.spawn",
        %kind,
        task.name = name,
        task.id = id,
        size.bytes = size,
        loc.file = location.file(),
        loc.line = location.line(),
        loc.col = location.column(),
    )
}

/// Makes a span with the id that the next task gets. If a subscriber spawns a task, that task takes
/// the id; then the span is made again.
fn named(span: impl Fn(u64) -> Span) -> Span {
    loop {
        let id = upcoming_id();
        let span = span(number(id));
        if upcoming_id() == id {
            return span;
        }
    }
}

fn number(id: Id) -> u64 {
    NonZeroU64::from(id).get()
}
