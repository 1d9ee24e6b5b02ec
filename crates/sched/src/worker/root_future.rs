//! When the future of `block_on` is polled, among the tasks of its worker.

use std::cell::Cell;

/// The number of steps until the run queue has only tasks that have run since the future was
/// polled, and have woken themselves.
#[derive(Default)]
pub(crate) struct RootFuture {
    steps: Cell<usize>,
}

impl RootFuture {
    /// Makes the future wait for the `queued` tasks of the run queue.
    #[inline]
    pub(super) fn wait_for(&self, queued: usize) {
        self.steps.set(queued);
    }

    /// Counts a step that begins.
    pub(crate) fn count_step(&self) {
        self.steps.set(self.steps.get().saturating_sub(1));
    }

    /// Whether all tasks that the future waited for have run.
    pub(super) fn is_due(&self) -> bool {
        self.steps.get() == 0
    }
}
