//! The verdicts of the transitions: what the caller has to do.

/// The duty of the holder of a runnable.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// Poll the future.
    Poll,
    /// Drop the future: the task was aborted.
    Cancel,
}

/// The duty of the caller after a poll that was pending.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The task waits for a wake; the runnable is used up.
    Idle,
    /// The task was woken during the poll: the runnable is to be queued again.
    Again,
}

/// The duty of the caller of a wake or an abort.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// A runnable has come into being and must be scheduled.
    Enqueue,
    /// The task is scheduled already, running, or complete.
    Nothing,
    /// The last reference is gone: the cell must be freed.
    Dealloc,
}

/// The owners of the output and the join waker of a task that has completed.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The join handle is gone: the runner drops the output.
    Detached,
    /// The output is the join handle's; there is no waker to wake.
    Joined,
    /// The output is the join handle's; the runner takes the join waker and
    /// wakes it.
    JoinedWithWaker,
}

/// The duty of the caller that has dropped a reference.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The last reference is gone: the cell must be freed.
    Dealloc,
    /// Others hold references.
    Nothing,
}

/// The duty of the join handle's drop.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Detach {
    /// Nothing: the handle's reference was dropped.
    Nothing,
    /// Take the join waker and drop it, then give the reference up.
    DropWaker,
    /// Drop the output, then give the reference up.
    DropOutput,
}
