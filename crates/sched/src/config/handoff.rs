//! A handoff, as a scheduler's configuration sees it: the worker that another thread is to drive.

use std::fmt;

/// The worker of a [`Handoff`].
pub(crate) trait HandoffTarget: Send {
    /// Drives the worker on the calling thread.
    fn run(self: Box<Self>);
    /// Called if no thread drives the worker.
    fn refuse(self: Box<Self>);
}

/// A worker whose thread is in [`block_in_place`](crate::block_in_place), to be driven by another
/// thread. While a handoff has not been run or dropped, the worker requests no second one, even if
/// its thread returns and blocks again.
///
/// Dropping a handoff leaves the worker where it is: its tasks wait until the function that blocks
/// returns, unless other workers steal them. If the scheduler is shutting down, dropping it retires
/// the worker, on the thread that drops it.
#[must_use = "dropping it leaves the tasks of the worker waiting; call run on some thread"]
pub struct Handoff(Option<Box<dyn HandoffTarget>>);

impl Handoff {
    pub(crate) fn new(target: impl HandoffTarget + 'static) -> Self {
        Self(Some(Box::new(target)))
    }

    /// Drives the worker on the calling thread, until the scheduler shuts down or until a task of
    /// the worker blocks in place and another thread takes the worker over. Returns at once if
    /// another thread has the worker already.
    ///
    /// Meanwhile the scheduler is the current one.
    /// [`Config::around_worker`](crate::Config::around_worker) is not called: the caller sets up
    /// everything else that tasks expect.
    pub fn run(mut self) {
        if let Some(target) = self.0.take() {
            target.run();
        }
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        if let Some(target) = self.0.take() {
            target.refuse();
        }
    }
}

impl fmt::Debug for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff").finish_non_exhaustive()
    }
}
