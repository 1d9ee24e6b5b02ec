//! The observer of the runtime of a host.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Duration;

use raddle_blocking::{JobMeta, JobObserver};
use raddle_recording::{Event, MonitorAction};
use raddle_sched::{EndReason, Observer, PollResult, SpawnedTask, TaskRef, Turn};
use raddle_task::Id;

use super::{Recorder, small};

/// The number of the future of a `block_on`.
const ROOT: u64 = 0;

/// Records what the runtime of a host does.
pub(crate) struct HostObserver {
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) host: usize,
}

impl HostObserver {
    fn add(&self, event: Event) {
        self.recorder.add(self.host, |_| event);
    }

    fn add_of_worker(&self, worker: usize, event: Event) {
        self.recorder.add_of_worker(self.host, worker, event);
    }
}

impl Observer for HostObserver {
    fn needs_locations(&self) -> bool {
        false
    }

    fn started(&self, workers: usize) {
        self.add(Event::RuntimeStarted {
            workers: small(workers),
        });
    }

    fn shutdown_started(&self) {
        self.add(Event::RuntimeShutDown);
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        let id = number(task.id());
        let location = task.location().to_string();
        self.recorder.add(self.host, |state| Event::TaskSpawned {
            task: id,
            location: state.text(location),
        });
        if let Some(name) = task.name() {
            self.recorder.add(self.host, |state| Event::TaskNamed {
                task: id,
                name: state.text(name.to_owned()),
            });
        }
    }

    fn task_woken(&self, task: Id) {
        self.add(Event::TaskWoken { task: number(task) });
    }

    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        let task = number(task.id());
        self.add_of_worker(worker, Event::PollStarted { task });
    }

    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        let event = Event::PollFinished {
            task: number(task),
            result: result.into(),
        };
        match worker {
            Some(worker) => self.add_of_worker(worker, event),
            None => self.add(event),
        }
    }

    fn task_ended(&self, task: Id, reason: EndReason) {
        self.add(Event::TaskEnded {
            task: number(task),
            reason: reason.into(),
        });
    }

    fn root_poll_started(&self, _worker: Option<usize>) {
        self.add(Event::PollStarted { task: ROOT });
    }

    fn root_poll_finished(&self, _worker: Option<usize>, _is_ready: bool) {
        self.add(Event::PollFinished {
            task: ROOT,
            result: raddle_recording::PollResult::Pending,
        });
    }

    fn worker_parked(&self, worker: usize) {
        let event = Event::WorkerParked {
            worker: small(worker),
        };
        self.add_of_worker(worker, event);
    }

    fn worker_unparked(&self, worker: usize) {
        let event = Event::WorkerUnparked {
            worker: small(worker),
        };
        self.add_of_worker(worker, event);
    }

    fn search_started(&self, worker: usize) {
        let event = Event::SearchStarted {
            worker: small(worker),
        };
        self.add_of_worker(worker, event);
    }

    fn tasks_stolen(&self, worker: usize, victim: usize, count: usize) {
        let event = Event::TasksStolen {
            victim: small(victim),
            count: small(count),
        };
        self.add_of_worker(worker, event);
    }

    fn driver_started(&self, worker: usize, _timeout: Option<Duration>) {
        self.add_of_worker(worker, Event::DriverStarted);
    }

    fn driver_finished(&self, worker: usize, turn: Turn) {
        let event = Event::DriverFinished {
            events: small(turn.events),
            timers: small(turn.timers),
        };
        self.add_of_worker(worker, event);
    }

    fn monitor_acted(&self, stuck: usize, action: raddle_sched::MonitorAction) {
        if let Some(action) = MonitorAction::of(action) {
            self.add(Event::MonitorActed {
                worker: small(stuck),
                action,
            });
        }
    }
}

impl JobObserver for HostObserver {
    fn queued(&self, job: JobMeta) {
        self.add(Event::JobQueued { job: job.id });
    }

    fn started(&self, job: JobMeta) {
        self.add(Event::JobStarted { job: job.id });
    }

    fn finished(&self, job: JobMeta) {
        self.add(Event::JobFinished { job: job.id });
    }

    fn dropped(&self, job: JobMeta) {
        self.add(Event::JobFinished { job: job.id });
    }
}

fn number(task: Id) -> u64 {
    NonZeroU64::from(task).get()
}
