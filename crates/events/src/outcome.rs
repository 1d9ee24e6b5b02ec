//! What has happened: the values that an observer gets.

use raddle_task::Outcome;

/// The state of a task after a poll.
///
/// # Examples
///
/// ```
/// use raddle_events::PollResult;
/// use raddle_task::Outcome;
///
/// assert_eq!(PollResult::of(&Outcome::Idle), PollResult::Pending);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PollResult {
    /// It waits to be woken.
    Pending,
    /// It is queued again: it was woken during the poll, or has yielded.
    Rescheduled,
    /// It has ended. [`Observer::task_ended`](crate::Observer::task_ended) follows and says why.
    Ended,
}

impl PollResult {
    /// The state that the outcome of a poll says.
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
///
/// # Examples
///
/// ```
/// use raddle_events::MonitorAction;
///
/// assert_eq!(format!("{:?}", MonitorAction::TookDriver), "TookDriver");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MonitorAction {
    /// It takes the task out of the next-task slot of the stuck worker.
    TookNextTask,
    /// It stops parking, to steal from the queue of the worker.
    HelpedWorker,
    /// It takes the driver, in which the worker was last.
    TookDriver,
}

/// What a driver has found in one park.
///
/// # Examples
///
/// ```
/// use raddle_events::Turn;
///
/// let turn = Turn { events: 1, timers: 2 };
/// assert_ne!(turn, Turn::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// How many tasks were woken by events.
    pub events: usize,
    /// How many timers have fired.
    pub timers: usize,
}
