//! The events of a recording, and the parts that each is stored as.

use crate::StringId;

/// Something that happened on a thread of a runtime.
///
/// An event does not contain what follows from the other events of its thread: a task is woken or
/// spawned by the task whose poll has started and not finished on the same thread, or by the driver
/// between [`DriverStarted`](Self::DriverStarted) and [`DriverFinished`](Self::DriverFinished).
///
/// Numbers of tasks, jobs and messages have 40 bits; of a larger one the lowest 40 are kept. Counts
/// that do not fit into the bits of their field are stored as the greatest that does.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A runtime starts.
    RuntimeStarted {
        /// The number of workers.
        workers: u32,
    },
    /// A runtime shuts down.
    RuntimeShutDown,
    /// A task is spawned. It waits for its first poll.
    TaskSpawned {
        /// The number of the task.
        task: u64,
        /// The location of the spawn.
        location: StringId,
    },
    /// A task gets a name.
    TaskNamed {
        /// The number of the task.
        task: u64,
        /// Its name.
        name: StringId,
    },
    /// A worker starts to poll a task. Task 0 is the future of a `block_on`.
    PollStarted {
        /// The number of the task.
        task: u64,
    },
    /// A worker has polled a task.
    PollFinished {
        /// The number of the task.
        task: u64,
        /// The state of the task after the poll.
        result: PollResult,
    },
    /// A task that waited is woken. It waits for its next poll.
    TaskWoken {
        /// The number of the task.
        task: u64,
    },
    /// A task has ended.
    TaskEnded {
        /// The number of the task.
        task: u64,
        /// The reason of the end.
        reason: EndReason,
    },
    /// A worker has nothing to do and parks.
    WorkerParked {
        /// The index of the worker.
        worker: u32,
    },
    /// A worker stops parking.
    WorkerUnparked {
        /// The index of the worker.
        worker: u32,
    },
    /// A worker starts to search other workers' queues.
    SearchStarted {
        /// The index of the worker.
        worker: u32,
    },
    /// A worker has stolen tasks.
    TasksStolen {
        /// The index of the worker whose tasks they were.
        victim: u32,
        /// The number of tasks.
        count: u32,
    },
    /// A worker asks the driver for events and due timers.
    DriverStarted,
    /// The driver has woken the tasks of its events and timers.
    DriverFinished {
        /// The number of I/O events, at most 2^24 - 1.
        events: u32,
        /// The number of timers.
        timers: u32,
    },
    /// The monitor helps a task that waits behind a long poll.
    MonitorActed {
        /// The index of the worker that is stuck in the poll.
        worker: u32,
        /// The action of the monitor.
        action: MonitorAction,
    },
    /// A worker core moves to another thread since its thread blocks.
    WorkerHandedOff {
        /// The index of the worker.
        worker: u32,
    },
    /// A thread starts to drive a spare worker.
    SpareWorkerStarted {
        /// The index of the worker, which follows those of the other workers.
        worker: u32,
        /// Which of the spare workers it is.
        spare: u32,
    },
    /// The thread stops driving the spare worker.
    SpareWorkerStopped {
        /// The index of the worker.
        worker: u32,
    },
    /// A blocking job waits for a thread.
    JobQueued {
        /// The number of the job.
        job: u64,
    },
    /// A thread starts a blocking job.
    JobStarted {
        /// The number of the job.
        job: u64,
    },
    /// A blocking job is done, or was dropped without a start.
    JobFinished {
        /// The number of the job.
        job: u64,
    },
    /// The kernel kept the thread waiting for a processor since the last record of this kind.
    ThreadDelayed {
        /// The total time in nanoseconds, at most 2^40 - 1: 18 minutes.
        nanos: u64,
    },
    /// The kernel took the thread off its processor since the last record of this kind.
    ContextSwitches {
        /// The number of times the thread blocked.
        voluntary: u32,
        /// The number of times the kernel preempted it, at most 2^24 - 1.
        involuntary: u32,
    },
    /// A message leaves the process of the thread: a segment or a datagram.
    MessageSent {
        /// The number of the message.
        message: u64,
        /// What it is and where it goes, such as `64 bytes to server`.
        text: StringId,
    },
    /// A message arrives at the process of the thread.
    MessageArrived {
        /// The number of the message, which [`MessageSent`](Self::MessageSent) has too.
        message: u64,
        /// What it is and where it comes from, such as `64 bytes from client`.
        text: StringId,
    },
    /// A message that the process of the thread has sent, or is to receive, is lost. TCP sends it
    /// again, as another message.
    MessageLost {
        /// What it is, and where it goes or comes from.
        text: StringId,
    },
    /// A fault begins.
    FaultStarted {
        /// What it is, such as `crash of server`.
        text: StringId,
    },
    /// A fault of this text ends.
    FaultEnded {
        /// The text with which it began.
        text: StringId,
    },
    /// Something else happens, such as the start of a host.
    Marked {
        /// What it is.
        text: StringId,
    },
    /// A worker polls a task that has waited for long since it was woken or spawned.
    TaskDelayed {
        /// The number of the task.
        task: u64,
        /// The time in units of 100 microseconds, at most 2^24 - 1: 27 minutes.
        tenths: u32,
    },
    /// The thread enters a span of the application.
    SpanEntered {
        /// The name of the span.
        name: StringId,
    },
    /// The thread leaves the innermost span of this name.
    SpanLeft {
        /// The name of the span.
        name: StringId,
    },
    /// Records of the thread were overwritten before a [follower](crate::recorder::Follower) has
    /// read them.
    RecordsLost {
        /// Their number.
        count: u64,
    },
}

impl Event {
    /// The number of the task that the event is about, if it is about one.
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_recording::Event;
    ///
    /// assert_eq!(Event::TaskWoken { task: 7 }.task(), Some(7));
    /// assert_eq!(Event::JobQueued { job: 7 }.task(), None);
    /// ```
    pub fn task(&self) -> Option<u64> {
        match *self {
            Self::TaskSpawned { task, .. }
            | Self::TaskNamed { task, .. }
            | Self::PollStarted { task }
            | Self::PollFinished { task, .. }
            | Self::TaskWoken { task }
            | Self::TaskEnded { task, .. }
            | Self::TaskDelayed { task, .. } => Some(task),
            _ => None,
        }
    }
}

/// The state of a task after a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PollResult {
    /// The task waits to be woken.
    Pending,
    /// The task is due to be polled again: it was woken during the poll, or yielded.
    Rescheduled,
    /// The task has ended.
    Ended,
}

/// The reason why a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EndReason {
    /// Its future returned a value, or the recorder does not know better.
    Completed,
    /// It was aborted, or the runtime shut down.
    Cancelled,
    /// Its future panicked.
    Panicked,
}

/// The result of a poll and, if the task has ended, the reason.
///
/// # Examples
///
/// ```
/// use raddle_recording::{EndReason, Event, PollEnd, PollResult};
///
/// let events: Vec<_> = PollEnd::Ended(EndReason::Cancelled).events(7).collect();
/// assert_eq!(events, [
///     Event::PollFinished { task: 7, result: PollResult::Ended },
///     Event::TaskEnded { task: 7, reason: EndReason::Cancelled },
/// ]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PollEnd {
    /// The task waits to be woken.
    Pending,
    /// The task is due to be polled again.
    Rescheduled,
    /// The task has ended.
    Ended(EndReason),
}

impl PollEnd {
    /// Returns the events that a poll of `task` with this end causes.
    pub fn events(self, task: u64) -> impl Iterator<Item = Event> {
        let (result, ended) = match self {
            Self::Pending => (PollResult::Pending, None),
            Self::Rescheduled => (PollResult::Rescheduled, None),
            Self::Ended(reason) => (PollResult::Ended, Some(Event::TaskEnded { task, reason })),
        };
        [Event::PollFinished { task, result }]
            .into_iter()
            .chain(ended)
    }

    /// Returns the number by which the record of the next poll stores `end`; 0 stands for `None`.
    #[inline]
    pub(crate) const fn number(end: Option<Self>) -> u32 {
        match end {
            None => 0,
            Some(Self::Pending) => 1,
            Some(Self::Rescheduled) => 2,
            Some(Self::Ended(EndReason::Completed)) => 3,
            Some(Self::Ended(EndReason::Cancelled)) => 4,
            Some(Self::Ended(EndReason::Panicked)) => 5,
        }
    }

    /// The greatest such number.
    pub(crate) const MAX_NUMBER: u32 = 5;

    pub(crate) fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Pending,
            2 => Self::Rescheduled,
            3 => Self::Ended(EndReason::Completed),
            4 => Self::Ended(EndReason::Cancelled),
            5 => Self::Ended(EndReason::Panicked),
            _ => return None,
        })
    }
}

/// An action of the monitor for a task that waits behind a long poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MonitorAction {
    /// It wakes a parked worker to steal from the queue of the stuck worker.
    HelpedWorker,
    /// It wakes a parked worker to take the task in the stuck worker's next-task slot.
    TookNextTask,
    /// It wakes a parked worker to wait in the driver.
    TookDriver,
    /// It starts a spare worker.
    StartedSpare,
    /// Tasks wait, and all spare workers are in long polls.
    LacksSpare,
}

/// An event as it is stored: a kind, an operand of 40 bits and an argument of 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) kind: u8,
    /// The number of a task, a job, a message or a worker, or a time.
    pub(crate) operand: u64,
    /// The argument, whose meaning depends on the kind.
    pub(crate) argument: u32,
}

/// The greatest operand.
pub(crate) const MAX_OPERAND: u64 = (1 << 40) - 1;
/// The greatest argument.
pub(crate) const MAX_ARGUMENT: u32 = (1 << 24) - 1;

/// The numbers of the kinds. A number is never reused, because files contain it.
pub(crate) mod kind {
    pub(super) const RUNTIME_STARTED: u8 = 1;
    pub(super) const RUNTIME_SHUT_DOWN: u8 = 2;
    pub(super) const TASK_SPAWNED: u8 = 3;
    pub(super) const TASK_NAMED: u8 = 4;
    pub(crate) const POLL_STARTED: u8 = 5;
    pub(super) const POLL_FINISHED: u8 = 6;
    pub(super) const TASK_WOKEN: u8 = 7;
    pub(super) const TASK_ENDED: u8 = 8;
    pub(super) const WORKER_PARKED: u8 = 9;
    pub(super) const WORKER_UNPARKED: u8 = 10;
    pub(super) const SEARCH_STARTED: u8 = 11;
    pub(super) const TASKS_STOLEN: u8 = 12;
    pub(super) const DRIVER_STARTED: u8 = 13;
    pub(super) const DRIVER_FINISHED: u8 = 14;
    pub(super) const MONITOR_ACTED: u8 = 15;
    pub(super) const WORKER_HANDED_OFF: u8 = 16;
    pub(super) const JOB_QUEUED: u8 = 17;
    pub(super) const JOB_STARTED: u8 = 18;
    pub(super) const JOB_FINISHED: u8 = 19;
    pub(super) const THREAD_DELAYED: u8 = 20;
    pub(super) const CONTEXT_SWITCHES: u8 = 21;
    pub(super) const SPARE_WORKER_STARTED: u8 = 22;
    pub(super) const SPARE_WORKER_STOPPED: u8 = 23;
    pub(super) const MESSAGE_SENT: u8 = 24;
    pub(super) const MESSAGE_ARRIVED: u8 = 25;
    pub(super) const MESSAGE_LOST: u8 = 26;
    pub(super) const FAULT_STARTED: u8 = 27;
    pub(super) const FAULT_ENDED: u8 = 28;
    pub(super) const MARKED: u8 = 29;
    pub(super) const TASK_DELAYED: u8 = 30;
    pub(super) const SPAN_ENTERED: u8 = 31;
    pub(super) const SPAN_LEFT: u8 = 32;
    pub(super) const RECORDS_LOST: u8 = 33;

    // Only in a ring of rare events, never in a file.
    /// The position that the record which follows has in the ring of all events. If it is the end
    /// of a poll in the record of the next poll, the argument is the number of records from the
    /// start of the poll to there.
    pub(crate) const POSITION: u8 = 253;
    /// A task and its location, which is 0 if it is unknown.
    pub(crate) const IDENTITY: u8 = 254;
    /// A task and its name, or a parent of the task before it.
    pub(crate) const IDENTITY_NAME: u8 = 255;
    pub(crate) const IDENTITY_PARENT: u8 = 252;
}

impl Parts {
    #[inline]
    fn new(kind: u8, operand: u64, argument: u32) -> Self {
        Self {
            kind,
            operand,
            argument,
        }
    }

    /// Returns the parts for a number, which is truncated to its lowest bits.
    #[inline]
    pub(crate) fn of_number(kind: u8, number: u64, argument: u32) -> Self {
        Self::new(kind, number & MAX_OPERAND, argument.min(MAX_ARGUMENT))
    }

    #[inline]
    pub(crate) fn of(event: Event) -> Self {
        use Event as E;
        match event {
            E::RuntimeStarted { workers } => Self::new(kind::RUNTIME_STARTED, workers.into(), 0),
            E::RuntimeShutDown => Self::new(kind::RUNTIME_SHUT_DOWN, 0, 0),
            E::TaskSpawned { task, location } => {
                Self::of_number(kind::TASK_SPAWNED, task, location.number())
            }
            E::TaskNamed { task, name } => Self::of_number(kind::TASK_NAMED, task, name.number()),
            E::PollStarted { task } => Self::of_number(kind::POLL_STARTED, task, 0),
            E::PollFinished { task, result } => {
                Self::of_number(kind::POLL_FINISHED, task, result as u32)
            }
            E::TaskWoken { task } => Self::of_number(kind::TASK_WOKEN, task, 0),
            E::TaskEnded { task, reason } => Self::of_number(kind::TASK_ENDED, task, reason as u32),
            E::WorkerParked { worker } => Self::new(kind::WORKER_PARKED, worker.into(), 0),
            E::WorkerUnparked { worker } => Self::new(kind::WORKER_UNPARKED, worker.into(), 0),
            E::SearchStarted { worker } => Self::new(kind::SEARCH_STARTED, worker.into(), 0),
            E::TasksStolen { victim, count } => {
                Self::of_number(kind::TASKS_STOLEN, victim.into(), count)
            }
            E::DriverStarted => Self::new(kind::DRIVER_STARTED, 0, 0),
            E::DriverFinished { events, timers } => {
                Self::of_number(kind::DRIVER_FINISHED, timers.into(), events)
            }
            E::MonitorActed { worker, action } => {
                Self::new(kind::MONITOR_ACTED, worker.into(), action as u32)
            }
            E::WorkerHandedOff { worker } => Self::new(kind::WORKER_HANDED_OFF, worker.into(), 0),
            E::SpareWorkerStarted { worker, spare } => {
                Self::of_number(kind::SPARE_WORKER_STARTED, worker.into(), spare)
            }
            E::SpareWorkerStopped { worker } => {
                Self::new(kind::SPARE_WORKER_STOPPED, worker.into(), 0)
            }
            E::JobQueued { job } => Self::of_number(kind::JOB_QUEUED, job, 0),
            E::JobStarted { job } => Self::of_number(kind::JOB_STARTED, job, 0),
            E::JobFinished { job } => Self::of_number(kind::JOB_FINISHED, job, 0),
            E::ThreadDelayed { nanos } => {
                Self::new(kind::THREAD_DELAYED, nanos.min(MAX_OPERAND), 0)
            }
            E::ContextSwitches {
                voluntary,
                involuntary,
            } => Self::of_number(kind::CONTEXT_SWITCHES, voluntary.into(), involuntary),
            E::MessageSent { message, text } => {
                Self::of_number(kind::MESSAGE_SENT, message, text.number())
            }
            E::MessageArrived { message, text } => {
                Self::of_number(kind::MESSAGE_ARRIVED, message, text.number())
            }
            E::MessageLost { text } => Self::new(kind::MESSAGE_LOST, 0, text.number()),
            E::FaultStarted { text } => Self::new(kind::FAULT_STARTED, 0, text.number()),
            E::FaultEnded { text } => Self::new(kind::FAULT_ENDED, 0, text.number()),
            E::Marked { text } => Self::new(kind::MARKED, 0, text.number()),
            E::TaskDelayed { task, tenths } => Self::of_number(kind::TASK_DELAYED, task, tenths),
            E::SpanEntered { name } => Self::new(kind::SPAN_ENTERED, 0, name.number()),
            E::SpanLeft { name } => Self::new(kind::SPAN_LEFT, 0, name.number()),
            E::RecordsLost { count } => Self::new(kind::RECORDS_LOST, count.min(MAX_OPERAND), 0),
        }
    }

    /// Returns the event, or `None` if this version does not know its kind or its details.
    pub(crate) fn event(self) -> Option<Event> {
        use Event as E;
        let number = self.operand;
        let argument = self.argument;
        // A count or an index of 32 bits; a damaged file may have a larger number.
        let small = || u32::try_from(number).ok();
        let string = || StringId::new(argument);
        Some(match self.kind {
            kind::RUNTIME_STARTED => E::RuntimeStarted { workers: small()? },
            kind::RUNTIME_SHUT_DOWN => E::RuntimeShutDown,
            kind::TASK_SPAWNED => E::TaskSpawned {
                task: number,
                location: string()?,
            },
            kind::TASK_NAMED => E::TaskNamed {
                task: number,
                name: string()?,
            },
            kind::POLL_STARTED => E::PollStarted { task: number },
            kind::POLL_FINISHED => E::PollFinished {
                task: number,
                result: match argument {
                    0 => PollResult::Pending,
                    1 => PollResult::Rescheduled,
                    2 => PollResult::Ended,
                    _ => return None,
                },
            },
            kind::TASK_WOKEN => E::TaskWoken { task: number },
            kind::TASK_ENDED => E::TaskEnded {
                task: number,
                reason: match argument {
                    0 => EndReason::Completed,
                    1 => EndReason::Cancelled,
                    2 => EndReason::Panicked,
                    _ => return None,
                },
            },
            kind::WORKER_PARKED => E::WorkerParked { worker: small()? },
            kind::WORKER_UNPARKED => E::WorkerUnparked { worker: small()? },
            kind::SEARCH_STARTED => E::SearchStarted { worker: small()? },
            kind::TASKS_STOLEN => E::TasksStolen {
                victim: small()?,
                count: argument,
            },
            kind::DRIVER_STARTED => E::DriverStarted,
            kind::DRIVER_FINISHED => E::DriverFinished {
                events: argument,
                timers: small()?,
            },
            kind::MONITOR_ACTED => E::MonitorActed {
                worker: small()?,
                action: match argument {
                    0 => MonitorAction::HelpedWorker,
                    1 => MonitorAction::TookNextTask,
                    2 => MonitorAction::TookDriver,
                    3 => MonitorAction::StartedSpare,
                    4 => MonitorAction::LacksSpare,
                    _ => return None,
                },
            },
            kind::WORKER_HANDED_OFF => E::WorkerHandedOff { worker: small()? },
            kind::SPARE_WORKER_STARTED => E::SpareWorkerStarted {
                worker: small()?,
                spare: argument,
            },
            kind::SPARE_WORKER_STOPPED => E::SpareWorkerStopped { worker: small()? },
            kind::JOB_QUEUED => E::JobQueued { job: number },
            kind::JOB_STARTED => E::JobStarted { job: number },
            kind::JOB_FINISHED => E::JobFinished { job: number },
            kind::THREAD_DELAYED => E::ThreadDelayed { nanos: number },
            kind::CONTEXT_SWITCHES => E::ContextSwitches {
                voluntary: small()?,
                involuntary: argument,
            },
            kind::MESSAGE_SENT => E::MessageSent {
                message: number,
                text: string()?,
            },
            kind::MESSAGE_ARRIVED => E::MessageArrived {
                message: number,
                text: string()?,
            },
            kind::MESSAGE_LOST => E::MessageLost { text: string()? },
            kind::FAULT_STARTED => E::FaultStarted { text: string()? },
            kind::FAULT_ENDED => E::FaultEnded { text: string()? },
            kind::MARKED => E::Marked { text: string()? },
            kind::TASK_DELAYED => E::TaskDelayed {
                task: number,
                tenths: argument,
            },
            kind::SPAN_ENTERED => E::SpanEntered { name: string()? },
            kind::SPAN_LEFT => E::SpanLeft { name: string()? },
            kind::RECORDS_LOST => E::RecordsLost { count: number },
            _ => return None,
        })
    }
}
