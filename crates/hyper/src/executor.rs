//! hyper's tasks on Raddle.

use std::future::Future;

use hyper::rt::Executor;

/// Spawns hyper's background tasks on the current runtime.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RaddleExecutor;

impl RaddleExecutor {
    /// Makes an executor. It has no state: the runtime is the one that the thread is in when hyper
    /// spawns.
    pub fn new() -> Self {
        Self
    }
}

impl<F> Executor<F> for RaddleExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    /// # Panics
    ///
    /// Panics if the thread is not in a runtime.
    fn execute(&self, future: F) {
        raddle::spawn(future);
    }
}
