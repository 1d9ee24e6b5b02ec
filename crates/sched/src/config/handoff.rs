//! A handoff, as a scheduler's configuration sees it: the worker that another thread is to drive.

use std::fmt;

/// A worker whose thread is in [`block_in_place`](crate::block_in_place), to be driven by another
/// thread. While a handoff has not been run or dropped, the worker requests no second one, even if
/// its thread returns and blocks again.
///
/// Dropping a handoff leaves the worker where it is: its tasks wait until the function that blocks
/// returns, unless other workers steal them. If the scheduler is shutting down, dropping it retires
/// the worker, on the thread that drops it.
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use std::thread;
///
/// use raddle_sched::{Config, Handoff, Pool};
///
/// // A thread for each handoff. A runtime takes threads of its blocking pool.
/// let start = |handoff: Handoff| drop(thread::spawn(|| handoff.run()));
/// let config = Config { handoff: Some(Arc::new(start)), ..Config::default() };
/// let pool = Pool::start(config, None)?;
/// let blocks = pool.handle().spawn(async {
///     let (sender, receiver) = mpsc::channel();
///     raddle_sched::spawn(async move { sender.send(42) });
///     // The pool has one worker, which the other task needs.
///     raddle_sched::block_in_place(|| receiver.recv().unwrap())
/// });
/// assert_eq!(pool.handle().block_on(blocks).unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "dropping it leaves the tasks of the worker waiting; call run on some thread"]
pub struct Handoff {
    worker: usize,
    /// Called once: with true if the calling thread drives the worker, with false if no thread
    /// does.
    take: Option<Box<dyn FnOnce(bool) + Send>>,
}

impl Handoff {
    pub(crate) fn new(worker: usize, take: impl FnOnce(bool) + Send + 'static) -> Self {
        Self {
            worker,
            take: Some(Box::new(take)),
        }
    }

    /// Returns the index of the worker.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Drives the worker on the calling thread, until the scheduler shuts down or until a task of
    /// the worker blocks in place and another thread takes the worker over. Returns at once if
    /// another thread has the worker already.
    ///
    /// Meanwhile the scheduler is the current one.
    /// [`Config::around_worker`](crate::Config::around_worker) is not called: the caller sets up
    /// everything else that tasks expect, such as what belongs to the [worker](Self::worker).
    pub fn run(mut self) {
        if let Some(take) = self.take.take() {
            take(true);
        }
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        if let Some(take) = self.take.take() {
            take(false);
        }
    }
}

impl fmt::Debug for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff")
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}
