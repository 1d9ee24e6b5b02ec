//! The span of a task, as its header knows it, and the events of its wakes. Without the feature
//! `tracing` there are none, and a header has no room for a span.

#[cfg(feature = "tracing")]
pub(crate) use on::{SpanId, set_next, take_next, woken};

#[cfg(not(feature = "tracing"))]
pub(crate) use off::{SpanId, take_next, woken};

#[cfg(feature = "tracing")]
mod on {
    use std::cell::Cell;
    use std::num::NonZeroU64;

    raddle_primitives::thread_local! {
        /// The span of the task that this thread is about to spawn.
        static NEXT: Cell<Option<SpanId>> = Cell::new(None);
    }

    /// The id of a span, if a subscriber is interested in it.
    pub(crate) type SpanId = NonZeroU64;

    /// Sets the span of the task that is spawned next.
    pub(crate) fn set_next(span: Option<SpanId>) {
        let _ = NEXT.try_with(|next| next.set(span));
    }

    /// Takes the span of the task that is being spawned, so that no other task gets it.
    pub(crate) fn take_next() -> Option<SpanId> {
        NEXT.try_with(Cell::take).ok().flatten()
    }

    /// Emits the event that the task with this span is woken. Tokio also emits events when a waker
    /// is cloned or dropped. That may happen under a lock, where a subscriber must not run.
    #[inline]
    pub(crate) fn woken(span: Option<SpanId>, op: &'static str) {
        if let Some(span) = span {
            tracing::trace!(target: "tokio::task::waker", op, task.id = span.get());
        }
    }
}

#[cfg(not(feature = "tracing"))]
mod off {
    use std::convert::Infallible;

    pub(crate) type SpanId = Infallible;

    #[inline(always)]
    pub(crate) fn take_next() -> Option<SpanId> {
        None
    }

    #[inline(always)]
    pub(crate) fn woken(_: Option<SpanId>, _: &'static str) {}
}
