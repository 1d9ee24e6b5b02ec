//! A model of `WorkStealing`: the places of ready tasks as far as the harness can know them, and
//! the fairness bounds that follow.

use super::world::{QueueModel, TaskId, TaskLocation};

/// How many times in a row a worker may run its slot while its queue is not empty.
const SLOT_STREAK: usize = 3;

/// A task that is certainly in the injection queue.
struct Injected {
    task: TaskId,
    /// How many tasks may be ahead of it.
    ahead: usize,
    /// How many times each worker had taken from the injection queue before.
    takes: Vec<usize>,
}

#[derive(Clone, Default)]
struct WorkerModel {
    slot: Option<TaskId>,
    /// Whether the slot may hold a task other than `slot`.
    slot_uncertain: bool,
    /// The task that was woken last, and how many times in a row.
    last_woken: Option<(TaskId, usize)>,
    /// The tasks in the queue, each with the number of times in a row that the slot ran before it.
    queue: Vec<(TaskId, usize)>,
    /// The task in the queue for which no other worker may have been notified.
    unnotified: Option<TaskId>,
    steps: usize,
}

pub(crate) struct StealingModel {
    tasks: Vec<TaskLocation>,
    workers: Vec<WorkerModel>,
    injected: Vec<Injected>,
    interval: usize,
    /// Whether the last step took from the injection queue and may have taken more tasks than were
    /// seen to run: the first ones may have been aborted.
    unseen_take: bool,
}

impl WorkerModel {
    /// Whether this task alone was woken more times in a row than the slot allows.
    fn is_woken_again(&mut self, task: TaskId) -> bool {
        let times = match self.last_woken {
            Some((last, times)) if last == task => times + 1,
            _ => 1,
        };
        self.last_woken = Some((task, times));
        times > SLOT_STREAK
    }
}

impl StealingModel {
    pub(crate) fn new(workers: usize, interval: usize) -> Self {
        Self {
            tasks: Vec::new(),
            workers: vec![WorkerModel::default(); workers],
            injected: Vec::new(),
            interval,
            unseen_take: false,
        }
    }

    /// Whether a worker without a task of its own took its share of the injection queue: the task
    /// that it runs, and more for its own queue. Also false if the content of the injection queue
    /// is uncertain.
    fn took_batch(&mut self, task: TaskId, worker: usize) -> bool {
        let uncertain = |location: &&TaskLocation| {
            matches!(location, TaskLocation::Injection | TaskLocation::Unknown)
        };
        let others = self.tasks.iter().filter(uncertain).count();
        let is_first = self
            .injected
            .first()
            .is_some_and(|injected| injected.task == task);
        let takes_one = self.workers[worker].steps % self.interval == 0;
        if !is_first || takes_one || others + 1 != self.injected.len() {
            return false;
        }
        let share = self.injected.len() / self.workers.len() + 1;
        let batch = 0..share.min(self.injected.len());
        let batch: Vec<_> = self.injected.drain(batch).skip(1).collect();
        for injected in batch {
            self.enqueue(injected.task, worker);
        }
        self.unseen_take = false;
        true
    }

    fn ran_from_slot(&mut self, worker: usize) -> Result<(), String> {
        for (task, passed_over) in &mut self.workers[worker].queue {
            *passed_over += 1;
            if *passed_over > SLOT_STREAK {
                return Err(format!(
                    "worker {worker} ran its slot {passed_over} times in a row while task {task} \
                     was in its queue"
                ));
            }
        }
        Ok(())
    }

    /// Marks the places of all tasks in a worker's queue as unknown.
    fn forget_queue(&mut self, worker: usize) {
        for (task, _) in self.workers[worker].queue.drain(..) {
            self.tasks[task] = TaskLocation::Unknown;
        }
        self.workers[worker].unnotified = None;
    }

    /// Adds a task to the end of a worker's queue.
    fn enqueue(&mut self, task: TaskId, worker: usize) {
        self.tasks[task] = TaskLocation::Queue(worker);
        self.workers[worker].queue.push((task, 0));
    }

    /// Returns how many times each worker has taken from the injection queue first.
    fn takes(&self) -> Vec<usize> {
        let takes = |worker: &WorkerModel| worker.steps / self.interval;
        self.workers.iter().map(takes).collect()
    }
}

impl QueueModel for StealingModel {
    fn add_task(&mut self, _shard: usize) {
        self.tasks.push(TaskLocation::NotQueued);
    }

    fn location_of(&self, task: TaskId) -> TaskLocation {
        self.tasks[task]
    }

    fn scheduled(&mut self, task: TaskId, is_new: bool, worker: Option<usize>) {
        let Some(worker) = worker else {
            let ahead = self.tasks.iter().filter(|location| {
                // A stolen task may return to the injection queue when its worker is dropped.
                matches!(location, TaskLocation::Injection | TaskLocation::Unknown)
            });
            self.injected.push(Injected {
                task,
                ahead: ahead.count(),
                takes: self.takes(),
            });
            self.tasks[task] = TaskLocation::Injection;
            return;
        };
        let uncertain = self.tasks.contains(&TaskLocation::Unknown);
        let model = &mut self.workers[worker];
        let repeated = !is_new && model.is_woken_again(task);
        if repeated && !model.queue.is_empty() {
            self.enqueue(task, worker);
        } else if repeated && uncertain {
            // The task is in the slot if the queue is empty.
            model.slot_uncertain = true;
            if let Some(former) = model.slot.take() {
                self.tasks[former] = TaskLocation::Unknown;
            }
            self.tasks[task] = TaskLocation::Unknown;
        } else if is_new && model.slot_uncertain {
            self.tasks[task] = TaskLocation::Unknown;
        } else if is_new && model.slot.is_some() {
            self.enqueue(task, worker);
        } else {
            model.slot_uncertain = false;
            if let Some(former) = model.slot.replace(task) {
                self.enqueue(former, worker);
            }
            self.tasks[task] = TaskLocation::Slot(worker);
        }
    }

    /// The worker notifies no other worker if the task is its only one.
    fn requeued(&mut self, task: TaskId, worker: usize) {
        let model = &mut self.workers[worker];
        if model.slot.is_none() && model.queue.is_empty() {
            model.unnotified = Some(task);
        }
        self.enqueue(task, worker);
    }

    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String> {
        let location = std::mem::replace(&mut self.tasks[task], TaskLocation::NotQueued);
        if self.took_batch(task, worker) {
            return Ok(());
        }
        self.injected.retain(|injected| injected.task != task);
        match location {
            TaskLocation::Slot(owner) => self.workers[owner].slot = None,
            TaskLocation::Queue(owner) => {
                let model = &mut self.workers[owner];
                model.queue.retain(|queued| queued.0 != task);
                model.unnotified.take_if(|unnotified| *unnotified == task);
            }
            _ => {}
        }
        if location == TaskLocation::Slot(worker) {
            return self.ran_from_slot(worker);
        }
        for queued in &mut self.workers[worker].queue {
            queued.1 = 0;
        }
        if location != TaskLocation::Queue(worker) {
            if self.workers[worker].steps % self.interval != 0 {
                // The worker had no task of its own, and may have taken a batch.
                self.injected.clear();
            }
            // The worker may have stolen more than this task.
            for other in (0..self.workers.len()).filter(|&other| other != worker) {
                self.forget_queue(other);
            }
        }
        Ok(())
    }

    fn step(&mut self, worker: usize) -> usize {
        if self.unseen_take {
            self.injected.clear();
        }
        self.workers[worker].steps += 1;
        let steps = self.workers[worker].steps;
        self.unseen_take = steps % self.interval == 0;
        steps
    }

    /// Whether some idle worker can certainly take a task for which a worker was notified.
    fn has_stealable(&self) -> bool {
        let has_notified = |worker: &WorkerModel| {
            let mut queued = worker.queue.iter().map(|queued| queued.0);
            queued.any(|task| Some(task) != worker.unnotified)
        };
        !self.injected.is_empty() || self.workers.iter().any(has_notified)
    }

    fn check_injected(&self) -> Result<(), String> {
        let takes = self.takes();
        for injected in &self.injected {
            for (worker, before) in injected.takes.iter().enumerate() {
                if takes[worker] - before > injected.ahead {
                    return Err(format!(
                        "task {} is in the injection queue behind {}, and worker {worker} has taken \
                         {} times",
                        injected.task,
                        injected.ahead,
                        takes[worker] - before
                    ));
                }
            }
        }
        Ok(())
    }

    fn monitored(&mut self, monitor: usize) {
        for worker in (0..self.workers.len()).filter(|&worker| worker != monitor) {
            if let Some(task) = self.workers[worker].slot.take() {
                self.tasks[task] = TaskLocation::Unknown;
                self.workers[worker].slot_uncertain = true;
            }
        }
    }

    fn worker_dropped(&mut self, worker: usize) {
        if let Some(task) = self.workers[worker].slot.take() {
            self.tasks[task] = TaskLocation::Unknown;
        }
        self.forget_queue(worker);
    }
}
