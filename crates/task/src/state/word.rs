//! The word at one moment: its bits, and what follows from them.

use std::fmt;

use super::{Completion, Release, Wake};

/// Set while the holder of the runnable polls, drops or completes the future, and while a task that
/// was woken during its poll is queued again. Cleared by the end of a poll that was not woken, and
/// by completion.
pub(super) const RUNNING: usize = 1;
/// Set while a runnable exists whose task is not `RUNNING`, or while the running task must be
/// polled again because another thread has woken it. Cleared by the start of a run.
pub(super) const NOTIFIED: usize = RUNNING << 1;
/// Set once the future has been dropped; never cleared.
pub(super) const COMPLETE: usize = NOTIFIED << 1;
/// Set once the task is aborted; never cleared.
pub(super) const CANCELLED: usize = COMPLETE << 1;
/// Set while the join handle exists. Cleared by its drop, unless `COMPLETE` came first.
pub(super) const JOIN_INTEREST: usize = CANCELLED << 1;
/// Set while the join waker belongs to the thread that completes the task. Set and cleared by the
/// join handle, never after `COMPLETE`.
pub(super) const JOIN_WAKER: usize = JOIN_INTEREST << 1;
/// One reference.
pub(super) const REF_ONE: usize = JOIN_WAKER << 1;
/// Subtracting this changes `RUNNING`, which must be set, into `COMPLETE`, which must be clear, and
/// drops a reference.
pub(super) const COMPLETED_AND_RELEASED: usize = REF_ONE + RUNNING - COMPLETE;

/// The word at one moment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Snapshot(pub(super) usize);

impl Snapshot {
    #[inline]
    pub(super) fn is(self, bit: usize) -> bool {
        self.0 & bit != 0
    }

    #[inline]
    pub(crate) fn is_complete(self) -> bool {
        self.is(COMPLETE)
    }

    #[inline]
    pub(crate) fn has_join_waker(self) -> bool {
        self.is(JOIN_WAKER)
    }

    pub(super) fn references(self) -> usize {
        self.0 / REF_ONE
    }

    /// Returns the duty of a wake that found this state.
    #[inline]
    pub(super) fn on_wake(self) -> Wake {
        if self.0 & (RUNNING | NOTIFIED | COMPLETE) == 0 {
            Wake::Enqueue
        } else {
            Wake::Nothing
        }
    }

    /// Returns the duty after the completion of a task that was in this state.
    #[inline]
    pub(super) fn on_completion(self) -> Completion {
        debug_assert!(self.is(RUNNING) && !self.is(COMPLETE));
        if !self.is(JOIN_INTEREST) {
            Completion::Detached
        } else if self.is(JOIN_WAKER) {
            Completion::JoinedWithWaker
        } else {
            Completion::Joined
        }
    }

    /// Returns the duty after one of this state's references was dropped.
    #[inline]
    pub(super) fn released(self) -> Release {
        debug_assert!(self.references() >= 1);
        if self.references() == 1 {
            Release::Dealloc
        } else {
            Release::Nothing
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("running", &self.is(RUNNING))
            .field("notified", &self.is(NOTIFIED))
            .field("complete", &self.is(COMPLETE))
            .field("cancelled", &self.is(CANCELLED))
            .field("join_interest", &self.is(JOIN_INTEREST))
            .field("join_waker", &self.is(JOIN_WAKER))
            .field("references", &self.references())
            .finish()
    }
}
