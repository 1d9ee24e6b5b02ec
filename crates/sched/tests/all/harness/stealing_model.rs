//! A model of `WorkStealing`: the ready tasks that other workers can take, whichever worker has
//! them now. It copies none of the scheduler's decisions.

use super::world::{QueueModel, TaskId, TaskLocation};

/// The tasks that became ready outside the workers and have not run since: each is in the injection
/// queue or in a run queue, and a worker was notified of it.
pub(crate) struct StealingModel {
    injected: Vec<TaskId>,
    steps: Vec<usize>,
}

impl StealingModel {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            injected: Vec::new(),
            steps: vec![0; workers],
        }
    }
}

impl QueueModel for StealingModel {
    fn location_of(&self, _task: TaskId) -> TaskLocation {
        TaskLocation::Unknown
    }

    fn scheduled(&mut self, task: TaskId, worker: Option<usize>) {
        if worker.is_none() {
            self.injected.push(task);
        }
    }

    fn requeued(&mut self, _task: TaskId, _worker: usize) {}

    fn ran(&mut self, task: TaskId, _worker: usize) -> Result<(), String> {
        self.injected.retain(|injected| *injected != task);
        Ok(())
    }

    fn step(&mut self, worker: usize) -> usize {
        self.steps[worker] += 1;
        self.steps[worker]
    }

    fn left(&mut self, worker: usize) {
        self.steps[worker] -= 1;
    }

    fn has_stealable(&self) -> bool {
        !self.injected.is_empty()
    }
}
