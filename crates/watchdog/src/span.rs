//! The tracing span of a thread, which reports show.

use std::cell::OnceCell;
use std::sync::Arc;

use raddle_primitives::sync::{Mutex, Rank};

/// The text of the span that a thread has entered, written by the thread and read by watchdogs.
#[derive(Debug)]
pub(crate) struct Span(Mutex<Option<Arc<str>>>);

raddle_primitives::thread_local! {
    static SPAN: OnceCell<Arc<Span>> = OnceCell::new();
}

impl Span {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::ranked(Rank::leaf("watchdog span"), None)))
    }

    /// Returns the calling thread's span. A thread that ends has another one.
    pub(crate) fn of_current_thread() -> Arc<Self> {
        SPAN.try_with(|span| Arc::clone(span.get_or_init(Self::new)))
            .unwrap_or_else(|_| Self::new())
    }

    pub(crate) fn text(&self) -> Option<Arc<str>> {
        self.0.lock().clone()
    }
}

/// Sets the calling thread's span, and returns the one before.
pub(crate) fn set(span: Option<Arc<str>>) -> Option<Arc<str>> {
    SPAN.try_with(|own| std::mem::replace(&mut *own.get_or_init(Span::new).0.lock(), span))
        .unwrap_or_default()
}
