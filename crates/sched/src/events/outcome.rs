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

/// What the monitor does for tasks and events that wait behind a poll, for
/// [`Observer::monitor_acted`](crate::Observer::monitor_acted).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonitorAction {
    /// It wakes a parked worker to take the task in the next-task slot of the worker.
    TookNextTask,
    /// It wakes a parked worker to steal from the queue of the worker.
    HelpedWorker,
    /// It wakes a parked worker to wait in the driver.
    TookDriver,
    /// It is about to start a spare worker, whose thread the system may refuse.
    StartedSpare,
    /// Tasks wait, and all spare workers are in long polls. Reported at most every 10 s.
    LacksSpare,
}

/// The result of one park of a driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// The number of tasks that events have woken.
    pub events: usize,
    /// The number of timers that have fired.
    pub timers: usize,
}
