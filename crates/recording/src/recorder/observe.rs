//! The recorder as an observer of a scheduler and of a blocking pool.

use std::num::NonZeroU64;
use std::time::Duration;

use crate::{Event, PollEnd};
use raddle_blocking::JobMeta;
use raddle_sched::{MonitorAction, PollResult, SpawnedTask, TaskRef, Turn};
use raddle_task::Id;

use crate::recorder::Recorder;

/// Records what a scheduler does: for `Config::observer`.
impl raddle_sched::Observer for Recorder {
    fn needs_locations(&self) -> bool {
        false
    }

    fn needs_poll_ends(&self) -> bool {
        false
    }

    fn started(&self, workers: usize) {
        self.record_runtime(small(workers));
    }

    fn shutdown_started(&self) {
        self.record(Event::RuntimeShutDown);
    }

    fn worker_started(&self, worker: usize) {
        let worker = small(worker);
        if let Some(spare) = self.spare_number(worker) {
            self.record(Event::SpareWorkerStarted { worker, spare });
        }
    }

    fn worker_stopped(&self, worker: usize) {
        let worker = small(worker);
        match self.spare_number(worker) {
            Some(_) => self.record(Event::SpareWorkerStopped { worker }),
            None => self.end_poll(),
        }
    }

    fn worker_handed_off(&self, worker: usize) {
        let worker = small(worker);
        self.record(Event::WorkerHandedOff { worker });
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        let id = number(task.id());
        self.record_spawn(id, task.location());
        if let Some(name) = task.name() {
            let name = self.text(name);
            self.record(Event::TaskNamed { task: id, name });
        }
    }

    fn task_woken(&self, task: Id) {
        self.record(Event::TaskWoken { task: number(task) });
    }

    #[inline]
    fn poll_started(&self, _worker: usize, task: TaskRef<'_>) {
        self.record_poll(number(task.id()));
    }

    #[inline]
    fn poll_finished(&self, _worker: Option<usize>, task: Id, result: PollResult) {
        self.record_poll_end(
            number(task),
            PollEnd::of(result, raddle_sched::EndReason::Completed),
        );
    }

    #[inline]
    fn task_ended(&self, task: Id, reason: raddle_sched::EndReason) {
        self.record_end(number(task), reason.into());
    }

    fn root_poll_started(&self, _worker: Option<usize>) {
        self.record_root_poll();
    }

    fn root_poll_finished(&self, _worker: Option<usize>, _is_ready: bool) {
        self.record_root_poll_end();
    }

    fn worker_parked(&self, worker: usize) {
        self.record_kernel_delays();
        let worker = small(worker);
        self.record(Event::WorkerParked { worker });
    }

    fn worker_unparked(&self, worker: usize) {
        let worker = small(worker);
        self.record(Event::WorkerUnparked { worker });
    }

    fn search_started(&self, worker: usize) {
        let worker = small(worker);
        self.record(Event::SearchStarted { worker });
    }

    fn tasks_stolen(&self, _worker: usize, victim: usize, count: usize) {
        self.record(Event::TasksStolen {
            victim: small(victim),
            count: small(count),
        });
    }

    fn driver_started(&self, _worker: usize, timeout: Option<Duration>) {
        // A worker that never parks records its delays here.
        self.record_kernel_delays();
        self.record_turn(timeout != Some(Duration::ZERO));
    }

    fn driver_finished(&self, _worker: usize, turn: Turn) {
        self.record_turn_end(Event::DriverFinished {
            events: small(turn.events),
            timers: small(turn.timers),
        });
    }

    fn monitor_acted(&self, stuck: usize, action: MonitorAction) {
        if let Some(action) = crate::MonitorAction::of(action) {
            self.record(Event::MonitorActed {
                worker: small(stuck),
                action,
            });
        }
    }
}

/// Records the jobs of a blocking pool. A job that is dropped without a run is done.
impl raddle_blocking::JobObserver for Recorder {
    fn queued(&self, job: JobMeta) {
        self.record_job(job.id);
    }

    fn started(&self, job: JobMeta) {
        self.record_job_start(job.id);
    }

    fn finished(&self, job: JobMeta) {
        self.record(Event::JobFinished { job: job.id });
    }

    fn dropped(&self, job: JobMeta) {
        self.record(Event::JobFinished { job: job.id });
    }
}

impl PollEnd {
    /// Returns the end of a poll with this result, and this reason if the task has ended.
    #[inline]
    pub(crate) fn of(result: PollResult, reason: raddle_sched::EndReason) -> Self {
        match result {
            PollResult::Rescheduled => Self::Rescheduled,
            PollResult::Ended => Self::Ended(reason.into()),
            _ => Self::Pending,
        }
    }
}

impl From<PollResult> for crate::PollResult {
    #[inline]
    fn from(result: PollResult) -> Self {
        match result {
            PollResult::Rescheduled => Self::Rescheduled,
            PollResult::Ended => Self::Ended,
            _ => Self::Pending,
        }
    }
}

impl From<raddle_sched::EndReason> for crate::EndReason {
    #[inline]
    fn from(reason: raddle_sched::EndReason) -> Self {
        use raddle_sched::EndReason as Observed;
        match reason {
            Observed::Completed => Self::Completed,
            Observed::Panicked => Self::Panicked,
            _ => Self::Cancelled,
        }
    }
}

impl crate::MonitorAction {
    /// Returns the action as a recording has it, or `None` if a recording cannot express it.
    pub fn of(action: MonitorAction) -> Option<Self> {
        Some(match action {
            MonitorAction::TookNextTask => Self::TookNextTask,
            MonitorAction::HelpedWorker => Self::HelpedWorker,
            MonitorAction::TookDriver => Self::TookDriver,
            MonitorAction::StartedSpare => Self::StartedSpare,
            MonitorAction::LacksSpare => Self::LacksSpare,
            _ => return None,
        })
    }
}

#[inline]
pub(crate) fn number(task: Id) -> u64 {
    NonZeroU64::from(task).get()
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
