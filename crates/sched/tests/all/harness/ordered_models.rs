//! Models of the policies that keep an order: the place of every ready task is known, and so is the
//! task that runs next.

use std::collections::VecDeque;

use super::world::{QueueModel, TaskId, TaskLocation};

/// Under `Shared`: one queue for all workers.
pub(crate) struct SharedModel {
    due: VecDeque<TaskId>,
    steps: Vec<usize>,
}

impl SharedModel {
    pub(crate) fn new(workers: usize) -> Self {
        Self {
            due: VecDeque::new(),
            steps: vec![0; workers],
        }
    }
}

impl QueueModel for SharedModel {
    fn location_of(&self, task: TaskId) -> TaskLocation {
        match self.due.contains(&task) {
            true => TaskLocation::Injection,
            false => TaskLocation::NotQueued,
        }
    }

    fn scheduled(&mut self, task: TaskId, _worker: Option<usize>) {
        self.due.push_back(task);
    }

    fn requeued(&mut self, task: TaskId, _worker: usize) {
        self.due.push_back(task);
    }

    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String> {
        ran_in_order(self.due.pop_front(), task, worker)
    }

    fn step(&mut self, worker: usize) -> usize {
        self.steps[worker] += 1;
        self.steps[worker]
    }

    fn left(&mut self, worker: usize) {
        self.steps[worker] -= 1;
    }

    fn has_stealable(&self) -> bool {
        !self.due.is_empty()
    }
}

/// Under `Sharded`: each worker's own queue, and its injection queue.
pub(crate) struct ShardedModel {
    shards: Vec<ShardModel>,
    /// The shard of each task.
    tasks: Vec<usize>,
    interval: usize,
}

#[derive(Clone, Default)]
struct ShardModel {
    queue: VecDeque<TaskId>,
    injected: VecDeque<TaskId>,
    steps: usize,
}

impl ShardedModel {
    pub(crate) fn new(workers: usize, interval: usize) -> Self {
        Self {
            shards: vec![ShardModel::default(); workers],
            tasks: Vec::new(),
            interval,
        }
    }
}

impl QueueModel for ShardedModel {
    fn add_task(&mut self, shard: usize) {
        self.tasks.push(shard);
    }

    fn location_of(&self, task: TaskId) -> TaskLocation {
        let shard = self.tasks[task];
        if self.shards[shard].queue.contains(&task) {
            TaskLocation::Queue(shard)
        } else if self.shards[shard].injected.contains(&task) {
            TaskLocation::Injection
        } else {
            TaskLocation::NotQueued
        }
    }

    fn scheduled(&mut self, task: TaskId, worker: Option<usize>) {
        let shard = self.tasks[task];
        let model = &mut self.shards[shard];
        match worker == Some(shard) {
            true => model.queue.push_back(task),
            false => model.injected.push_back(task),
        }
    }

    fn requeued(&mut self, task: TaskId, worker: usize) {
        self.shards[worker].queue.push_back(task);
    }

    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String> {
        if self.tasks[task] != worker {
            return Err(format!(
                "task {task} of worker {} runs on worker {worker}",
                self.tasks[task]
            ));
        }
        let ShardModel {
            queue,
            injected,
            steps,
        } = &mut self.shards[worker];
        let takes_injected = *steps % self.interval == 0 && !injected.is_empty();
        let next = if takes_injected {
            injected.pop_front()
        } else {
            if queue.is_empty() {
                // The worker takes all injected tasks at once.
                queue.append(injected);
            }
            queue.pop_front()
        };
        ran_in_order(next, task, worker)
    }

    fn step(&mut self, worker: usize) -> usize {
        self.shards[worker].steps += 1;
        self.shards[worker].steps
    }

    /// No worker takes tasks from another.
    fn has_stealable(&self) -> bool {
        false
    }
}

fn ran_in_order(next: Option<TaskId>, task: TaskId, worker: usize) -> Result<(), String> {
    match next == Some(task) {
        true => Ok(()),
        false => Err(format!(
            "worker {worker} runs task {task}, but {next:?} is next"
        )),
    }
}
