//! The observer of the scheduler's workers and tasks.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::time::Instant;

use raddle_sched::{EndReason, PollResult, SpawnedTask, TaskRef};
use raddle_task::Id;

use crate::table::{Activity, State, Table, Task};

/// Keeps the table up to date.
pub(crate) struct Watch(pub(crate) Arc<Table>);

fn number(task: Id) -> u64 {
    NonZeroU64::from(task).get()
}

impl raddle_sched::Observer for Watch {
    fn started(&self, workers: usize) {
        self.0.set_workers(workers);
    }

    fn worker_started(&self, worker: usize) {
        self.0.set_activity(worker, Activity::Ready, Instant::now());
    }

    fn worker_stopped(&self, worker: usize) {
        self.0
            .set_activity(worker, Activity::Stopped, Instant::now());
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        let now = Instant::now();
        self.0.add(Task {
            id: number(task.id()),
            name: task.name().map(Into::into),
            location: task.location(),
            spawned: now,
            state: State::Queued,
            since: now,
            polls: 0,
            busy: Default::default(),
            longest: Default::default(),
        });
    }

    fn task_woken(&self, task: Id) {
        let now = Instant::now();
        self.0.change(number(task), |task| {
            task.state = State::Queued;
            task.since = now;
        });
    }

    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        let (id, now) = (number(task.id()), Instant::now());
        self.0.set_activity(worker, Activity::Polling(id), now);
        self.0.change(id, |task| {
            task.state = State::Running;
            task.since = now;
        });
    }

    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        let now = Instant::now();
        if let Some(worker) = worker {
            self.0.set_activity(worker, Activity::Ready, now);
        }
        self.0.change(number(task), |task| {
            let time = now.saturating_duration_since(task.since);
            task.polls += 1;
            task.busy += time;
            task.longest = task.longest.max(time);
            // One that has been woken since, by another thread, stays queued.
            if task.state == State::Running {
                task.since = now;
                task.state = match result {
                    PollResult::Rescheduled => State::Queued,
                    PollResult::Pending | PollResult::Ended => State::Waiting,
                };
            }
        });
    }

    fn task_ended(&self, task: Id, _: EndReason) {
        self.0.remove(number(task));
    }

    fn search_started(&self, worker: usize) {
        self.0
            .set_activity(worker, Activity::Searching, Instant::now());
    }

    fn worker_parked(&self, worker: usize) {
        self.0
            .set_activity(worker, Activity::Parked, Instant::now());
    }

    fn worker_unparked(&self, worker: usize) {
        self.0.set_activity(worker, Activity::Ready, Instant::now());
    }
}
