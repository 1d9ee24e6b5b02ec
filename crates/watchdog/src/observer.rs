//! Observers of the scheduler and the blocking pool.

use std::num::NonZeroU64;
use std::sync::Arc;

use raddle_blocking::JobMeta;
use raddle_sched::{EndReason, MonitorAction, PollResult, SpawnedTask, TaskRef};
use raddle_task::Id;

use crate::registry::Registry;
use crate::slot::{Activity, ActivityKind};

/// Records what the threads of a runtime run.
#[derive(Debug)]
pub(crate) struct WatchdogObserver(pub(crate) Arc<Registry>);

fn number(task: Id) -> u64 {
    NonZeroU64::from(task).get()
}

impl raddle_sched::Observer for WatchdogObserver {
    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        if let Some(name) = task.name() {
            self.0.name_task(number(task.id()), name);
        }
    }

    fn task_ended(&self, task: Id, _: EndReason) {
        self.0.forget_task(number(task));
    }

    // The thread may be one of the user, which drives a current-thread scheduler.
    fn worker_started(&self, _: usize) {
        self.0.unblock_signal();
    }

    fn worker_stopped(&self, _: usize) {
        self.0.restore_mask();
    }

    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        self.0.start(Activity {
            kind: ActivityKind::Poll,
            worker: Some(worker),
            id: number(task.id()),
            location: Some(task.location()),
        });
    }

    fn poll_finished(&self, _: Option<usize>, _: Id, _: PollResult) {
        self.0.finish();
    }

    fn root_poll_started(&self, worker: Option<usize>) {
        self.0.start_root(Activity {
            kind: ActivityKind::RootPoll,
            worker,
            id: 0,
            location: None,
        });
    }

    fn root_poll_finished(&self, _: Option<usize>, is_ready: bool) {
        self.0.finish_root(is_ready || std::thread::panicking());
    }

    fn worker_handed_off(&self, worker: usize) {
        self.0.allow_blocking(worker);
    }

    fn monitor_acted(&self, _: usize, action: MonitorAction) {
        // The monitor serves all runtimes, so the watchdog's own thread makes the report.
        if action == MonitorAction::LacksSpare {
            self.0.note_lack_of_spares();
        }
    }
}

impl raddle_blocking::JobObserver for WatchdogObserver {
    fn queued(&self, job: JobMeta) {
        self.0.queue_job(job.id, job.location);
    }

    fn started(&self, job: JobMeta) {
        self.0.take_job(job.id);
        self.0.unblock_signal();
        self.0.start(Activity {
            kind: ActivityKind::Job,
            worker: None,
            id: job.id,
            location: job.location,
        });
    }

    fn finished(&self, _: JobMeta) {
        self.0.finish();
    }

    fn dropped(&self, job: JobMeta) {
        self.0.take_job(job.id);
    }
}
