//! The values that an observer receives with an event.

use raddle_task::Outcome;

/// The state of a task after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PollResult {
    /// The task waits to be woken.
    Pending,
    /// The task is queued again: it was woken during the poll, or has yielded.
    Rescheduled,
    /// The task has ended. The call of [`Observer::task_ended`](crate::Observer::task_ended) that
    /// follows has the reason.
    Ended,
}

impl PollResult {
    /// Returns the result for the outcome of a run.
    #[inline]
    pub fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Idle => Self::Pending,
            Outcome::Again(_) => Self::Rescheduled,
            Outcome::Complete | Outcome::CompleteElsewhere => Self::Ended,
        }
    }
}

/// What the monitor does for tasks that wait behind a poll, for
/// [`Observer::monitor_acted`](crate::Observer::monitor_acted).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonitorAction {
    /// It takes the task out of the next-task slot of the stuck worker.
    TookNextTask,
    /// It stops parking, to steal from the queue of the worker.
    HelpedWorker,
    /// It takes the driver, which the worker was the last to use.
    TookDriver,
}

/// The result of one park of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The number of tasks that events have woken.
    pub events: usize,
    /// The number of timers that have fired.
    pub timers: usize,
}
