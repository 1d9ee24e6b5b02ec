//! The configuration of a pool.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::observer::JobObserver;

/// A hook that runs around the whole life of a thread: it gets the thread's loop as an argument,
/// and must call it once.
pub type AroundThread = Arc<dyn Fn(&mut dyn FnMut()) + Send + Sync>;

/// The settings of a [`Pool`](crate::Pool).
#[derive(Clone)]
pub struct Config {
    /// The maximum number of threads. Default: 512.
    pub max_threads: usize,
    /// The time that an idle thread waits for work before it exits; `None` keeps it until the
    /// shutdown. Default: 10 seconds.
    pub keep_alive: Option<Duration>,
    /// Returns the name of a new thread. Called on the submitting thread, without a lock of the
    /// pool. Default: `raddle-blocking`.
    pub thread_name: Arc<dyn Fn() -> String + Send + Sync>,
    /// The stack size of a thread in bytes; `None` uses std's default.
    pub stack_size: Option<usize>,
    /// Runs around each thread's loop, on that thread. A hook that panics or does not call the loop
    /// costs the pool that thread.
    pub around_thread: Option<AroundThread>,
    /// The observer, which is called for the events of jobs.
    pub observer: Option<Arc<dyn JobObserver>>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_threads: 512,
            keep_alive: Some(Duration::from_secs(10)),
            thread_name: Arc::new(|| "raddle-blocking".to_owned()),
            stack_size: None,
            around_thread: None,
            observer: None,
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("max_threads", &self.max_threads)
            .field("keep_alive", &self.keep_alive)
            .field("stack_size", &self.stack_size)
            .finish_non_exhaustive()
    }
}
