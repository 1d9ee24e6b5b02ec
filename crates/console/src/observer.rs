//! The observer of the scheduler's workers and tasks.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::{Duration, Instant};

use raddle_sched::{EndReason, PollResult, SpawnedTask, TaskRef, Turn};
use raddle_task::Id;

use crate::table::{Activity, Table};

/// Keeps the table up to date.
pub(crate) struct ConsoleObserver {
    table: Arc<Table>,
    /// The observer that updates the tasks of the table, if it is not another one.
    tasks: Arc<dyn raddle_sched::Observer>,
}

/// Does nothing: the scheduler has another observer of its tasks.
pub(crate) struct NoTasks;

impl raddle_sched::Observer for NoTasks {
    fn needs_locations(&self) -> bool {
        false
    }
}

impl ConsoleObserver {
    pub(crate) fn new(table: Arc<Table>, tasks: Arc<dyn raddle_sched::Observer>) -> Self {
        Self { table, tasks }
    }

    fn set_ready(&self, worker: usize) {
        self.table
            .set_activity(worker, Activity::Ready, Instant::now());
    }
}

impl raddle_sched::Observer for ConsoleObserver {
    fn started(&self, workers: usize) {
        self.table.set_workers(workers);
    }

    fn worker_started(&self, worker: usize) {
        self.set_ready(worker);
    }

    fn worker_stopped(&self, worker: usize) {
        self.table
            .set_activity(worker, Activity::Stopped, Instant::now());
    }

    fn needs_locations(&self) -> bool {
        self.tasks.needs_locations()
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        self.tasks.task_spawned(task);
    }

    fn task_woken(&self, task: Id) {
        self.tasks.task_woken(task);
    }

    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        let activity = Activity::Polling(NonZeroU64::from(task.id()).get());
        self.table.set_activity(worker, activity, Instant::now());
        self.tasks.poll_started(worker, task);
    }

    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        if let Some(worker) = worker {
            self.set_ready(worker);
        }
        self.tasks.poll_finished(worker, task, result);
    }

    fn task_ended(&self, task: Id, reason: EndReason) {
        self.tasks.task_ended(task, reason);
    }

    fn root_poll_started(&self, worker: Option<usize>) {
        self.tasks.root_poll_started(worker);
    }

    fn root_poll_finished(&self, worker: Option<usize>, is_ready: bool) {
        self.tasks.root_poll_finished(worker, is_ready);
    }

    fn driver_started(&self, worker: usize, timeout: Option<Duration>) {
        self.tasks.driver_started(worker, timeout);
    }

    fn driver_finished(&self, worker: usize, turn: Turn) {
        self.tasks.driver_finished(worker, turn);
    }

    fn search_started(&self, worker: usize) {
        self.table
            .set_activity(worker, Activity::Searching, Instant::now());
    }

    fn worker_parked(&self, worker: usize) {
        self.table
            .set_activity(worker, Activity::Parked, Instant::now());
    }

    fn worker_unparked(&self, worker: usize) {
        self.set_ready(worker);
    }
}
