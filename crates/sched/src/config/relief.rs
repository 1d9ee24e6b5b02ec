//! The worker that another thread is asked to drive: what a scheduler's configuration knows of
//! a handoff.

use std::fmt;

/// What a [`Relief`] refers to.
pub(crate) trait Handoff: Send {
    /// Drives the worker, if it is still to be had.
    fn run(self: Box<Self>);
    /// No thread drives it.
    fn refuse(self: Box<Self>);
}

/// A worker whose thread is in [`block_in_place`](crate::block_in_place), for
/// another thread to drive. If that thread has come back and blocks again in the
/// meantime, no second one is made.
///
/// Dropped, it leaves the worker where it is: its tasks wait until the function
/// that blocks returns, or are stolen. If the scheduler is shutting down, so does the
/// worker, on the thread that drops it.
#[must_use = "dropping it leaves the tasks of the worker waiting; call run on some thread"]
pub struct Relief(Option<Box<dyn Handoff>>);

impl Relief {
    pub(crate) fn new(handoff: impl Handoff + 'static) -> Self {
        Self(Some(Box::new(handoff)))
    }

    /// Drives the worker: until the scheduler shuts down, or until a task of
    /// the worker blocks and has it driven by another thread in turn. Returns at
    /// once if the worker is not to be had any more.
    ///
    /// To be called in what tasks of the scheduler expect around them, as
    /// [`Config::around_worker`](crate::Config::around_worker) provides it; that
    /// function is not called here. The scheduler is made the current one.
    pub fn run(mut self) {
        if let Some(handoff) = self.0.take() {
            handoff.run();
        }
    }
}

impl Drop for Relief {
    fn drop(&mut self) {
        if let Some(handoff) = self.0.take() {
            handoff.refuse();
        }
    }
}

impl fmt::Debug for Relief {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relief").finish_non_exhaustive()
    }
}
