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
    /// The task waits for a wake; the runnable no longer exists.
    Idle,
    /// The task was woken during the poll: the runnable must be queued again.
    Again,
}

/// The duty of the caller of a wake or an abort.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wake {
    /// A runnable now exists and must be scheduled.
    Enqueue,
    /// The task is already scheduled, running, or complete.
    Nothing,
    /// The last reference was dropped: the cell must be freed.
    Dealloc,
}

/// The owners of the output and the join waker of a task that has completed.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Completion {
    /// The join handle was dropped: the runner drops the output.
    Detached,
    /// The join handle owns the output; there is no waker to wake.
    Joined,
    /// The join handle owns the output; the runner takes the join waker and wakes it.
    JoinedWithWaker,
}

/// The duty of the caller that has dropped a reference.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Release {
    /// The last reference was dropped: the cell must be freed.
    Dealloc,
    /// Other references exist.
    Nothing,
}

/// The duty of the join handle's drop.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Detach {
    /// Nothing: the handle's reference was dropped.
    Nothing,
    /// Take the join waker and drop it, then give up the reference.
    DropWaker,
    /// Drop the output, then give up the reference.
    DropOutput,
}
