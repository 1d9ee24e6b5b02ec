//! Several observers as one.
#![cfg_attr(
    not(feature = "flight-recorder"),
    allow(
        dead_code,
        reason = "the recorder alone observes jobs, and it or another tool the rest"
    )
)]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use raddle_blocking::JobMeta;
use raddle_primitives::contain;
use raddle_sched::{EndReason, MonitorAction, PollResult, SpawnedTask, TaskRef, Turn};
use raddle_task::Id;

type SharedObserver = Arc<dyn raddle_sched::Observer>;
type SharedJobObserver = Arc<dyn raddle_blocking::JobObserver>;

/// The observers of one runtime. They are called in the order in which they are added.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    scheduler_observers: Vec<SharedObserver>,
    job_observers: Vec<SharedJobObserver>,
}

impl Observers {
    /// Adds an observer of workers and tasks.
    pub(crate) fn add_scheduler_observer(&mut self, observer: SharedObserver) {
        self.scheduler_observers.push(observer);
    }

    /// Adds an observer of blocking jobs.
    pub(crate) fn add_job_observer(&mut self, observer: SharedJobObserver) {
        self.job_observers.push(observer);
    }

    /// The observer for the configuration of a scheduler, if one was added.
    pub(crate) fn scheduler_observer(&self) -> Option<SharedObserver> {
        match self.scheduler_observers.as_slice() {
            [] => None,
            [one] => Some(Arc::clone(one)),
            several => Some(Arc::new(ObserverList(several.to_vec()))),
        }
    }

    /// The observer for the configuration of a blocking pool, if one was added.
    pub(crate) fn job_observer(&self) -> Option<SharedJobObserver> {
        match self.job_observers.as_slice() {
            [] => None,
            [one] => Some(Arc::clone(one)),
            several => Some(Arc::new(ObserverList(several.to_vec()))),
        }
    }
}

/// Calls each observer, in the order in which they were added. A panic ends only the call of that
/// observer.
struct ObserverList<T>(Vec<T>);

impl<T> ObserverList<T> {
    fn each(&self, call: &dyn Fn(&T)) {
        for observer in &self.0 {
            contain(|| call(observer));
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers")
            .field("scheduler_observers", &self.scheduler_observers.len())
            .field("job_observers", &self.job_observers.len())
            .finish()
    }
}

impl raddle_sched::Observer for ObserverList<SharedObserver> {
    fn needs_locations(&self) -> bool {
        self.0.iter().any(|observer| observer.needs_locations())
    }

    fn needs_poll_ends(&self) -> bool {
        self.0.iter().any(|observer| observer.needs_poll_ends())
    }

    fn started(&self, workers: usize) {
        self.each(&|observer| observer.started(workers));
    }

    fn shutdown_started(&self) {
        self.each(&|observer| observer.shutdown_started());
    }

    fn worker_started(&self, worker: usize) {
        self.each(&|observer| observer.worker_started(worker));
    }

    fn worker_stopped(&self, worker: usize) {
        self.each(&|observer| observer.worker_stopped(worker));
    }

    fn worker_handed_off(&self, worker: usize) {
        self.each(&|observer| observer.worker_handed_off(worker));
    }

    fn task_spawned(&self, task: &SpawnedTask<'_>) {
        self.each(&|observer| observer.task_spawned(task));
    }

    fn task_woken(&self, task: Id) {
        self.each(&|observer| observer.task_woken(task));
    }

    fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
        self.each(&|observer| observer.poll_started(worker, task));
    }

    fn poll_finished(&self, worker: Option<usize>, task: Id, result: PollResult) {
        self.each(&|observer| observer.poll_finished(worker, task, result));
    }

    fn task_ended(&self, task: Id, reason: EndReason) {
        self.each(&|observer| observer.task_ended(task, reason));
    }

    fn root_poll_started(&self, worker: Option<usize>) {
        self.each(&|observer| observer.root_poll_started(worker));
    }

    fn root_poll_finished(&self, worker: Option<usize>, is_ready: bool) {
        self.each(&|observer| observer.root_poll_finished(worker, is_ready));
    }

    fn worker_parked(&self, worker: usize) {
        self.each(&|observer| observer.worker_parked(worker));
    }

    fn worker_unparked(&self, worker: usize) {
        self.each(&|observer| observer.worker_unparked(worker));
    }

    fn search_started(&self, worker: usize) {
        self.each(&|observer| observer.search_started(worker));
    }

    fn tasks_stolen(&self, worker: usize, victim: usize, count: usize) {
        self.each(&|observer| observer.tasks_stolen(worker, victim, count));
    }

    fn driver_started(&self, worker: usize, timeout: Option<Duration>) {
        self.each(&|observer| observer.driver_started(worker, timeout));
    }

    fn driver_finished(&self, worker: usize, turn: Turn) {
        self.each(&|observer| observer.driver_finished(worker, turn));
    }

    fn monitor_acted(&self, stuck: usize, action: MonitorAction) {
        self.each(&|observer| observer.monitor_acted(stuck, action));
    }
}

impl raddle_blocking::JobObserver for ObserverList<SharedJobObserver> {
    fn queued(&self, job: JobMeta) {
        self.each(&|observer| observer.queued(job));
    }

    fn started(&self, job: JobMeta) {
        self.each(&|observer| observer.started(job));
    }

    fn finished(&self, job: JobMeta) {
        self.each(&|observer| observer.finished(job));
    }

    fn dropped(&self, job: JobMeta) {
        self.each(&|observer| observer.dropped(job));
    }
}

#[cfg(test)]
mod tests;
