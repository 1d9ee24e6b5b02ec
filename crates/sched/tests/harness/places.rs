//! Where the tasks that are due are under `WorkStealing`, as far as that can be
//! known from outside, and the bounds of fairness that follow.

use super::world::{Place, Places, TaskId};

/// How often in a row the slot may go before a queue that is not empty.
const SLOT_STREAK: usize = 3;

/// A task that is certainly in the injection queue.
struct Injected {
    task: TaskId,
    /// How many tasks may be before it.
    ahead: usize,
    /// How often each worker had turned to the injection queue.
    turns: Vec<usize>,
}

#[derive(Clone, Default)]
struct WorkerPlaces {
    slot: Option<TaskId>,
    /// Whether there may be another task in the slot than that.
    slot_uncertain: bool,
    /// Who was woken last, and how often in a row.
    last_woken: Option<(TaskId, usize)>,
    /// The tasks in the queue, and how often in a row each has seen the slot go
    /// first.
    queue: Vec<(TaskId, usize)>,
    /// The task in the queue for which no other worker may have been notified.
    untold: Option<TaskId>,
    steps: usize,
}

pub(crate) struct StealingPlaces {
    tasks: Vec<Place>,
    workers: Vec<WorkerPlaces>,
    injected: Vec<Injected>,
    interval: usize,
    /// Whether the last step was a turn to the injection queue that may have
    /// taken more than was seen to run: what was first may have been aborted.
    unseen_turn: bool,
}

impl WorkerPlaces {
    /// Whether one task, and no other, was woken more often than the slot allows.
    fn is_woken_again(&mut self, task: TaskId) -> bool {
        let times = match self.last_woken {
            Some((last, times)) if last == task => times + 1,
            _ => 1,
        };
        self.last_woken = Some((task, times));
        times > SLOT_STREAK
    }
}

impl StealingPlaces {
    pub(crate) fn new(workers: usize, interval: usize) -> Self {
        Self {
            tasks: Vec::new(),
            workers: vec![WorkerPlaces::default(); workers],
            injected: Vec::new(),
            interval,
            unseen_turn: false,
        }
    }

    /// Whether a worker without anything of its own took its share of the
    /// injection queue: the task that it runs, and some for its queue. False
    /// also if not everything in that queue is known.
    fn took_batch(&mut self, task: TaskId, worker: usize) -> bool {
        let uncertain = |place: &&Place| matches!(place, Place::Injection | Place::Somewhere);
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
        self.unseen_turn = false;
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

    /// Nothing is known any more of the tasks in a worker's queue.
    fn lose_queue(&mut self, worker: usize) {
        for (task, _) in self.workers[worker].queue.drain(..) {
            self.tasks[task] = Place::Somewhere;
        }
        self.workers[worker].untold = None;
    }

    /// A task goes to the end of a worker's queue.
    fn enqueue(&mut self, task: TaskId, worker: usize) {
        self.tasks[task] = Place::Queue(worker);
        self.workers[worker].queue.push((task, 0));
    }

    fn turns(&self) -> Vec<usize> {
        let turns = |worker: &WorkerPlaces| worker.steps / self.interval;
        self.workers.iter().map(turns).collect()
    }
}

impl Places for StealingPlaces {
    fn add_task(&mut self, _shard: usize) {
        self.tasks.push(Place::Nowhere);
    }

    fn of(&self, task: TaskId) -> Place {
        self.tasks[task]
    }

    /// A task, which may be new, becomes due on a worker, or outside.
    fn scheduled(&mut self, task: TaskId, is_new: bool, worker: Option<usize>) {
        let Some(worker) = worker else {
            let ahead = self.tasks.iter().filter(|place| {
                // What was stolen may have come back by a dropped worker.
                matches!(place, Place::Injection | Place::Somewhere)
            });
            self.injected.push(Injected {
                task,
                ahead: ahead.count(),
                turns: self.turns(),
            });
            self.tasks[task] = Place::Injection;
            return;
        };
        let uncertain = self.tasks.contains(&Place::Somewhere);
        let places = &mut self.workers[worker];
        let repeated = !is_new && places.is_woken_again(task);
        if repeated && !places.queue.is_empty() {
            self.enqueue(task, worker);
        } else if repeated && uncertain {
            // In the slot if nothing is in the queue.
            places.slot_uncertain = true;
            if let Some(former) = places.slot.take() {
                self.tasks[former] = Place::Somewhere;
            }
            self.tasks[task] = Place::Somewhere;
        } else if is_new && places.slot_uncertain {
            self.tasks[task] = Place::Somewhere;
        } else if is_new && places.slot.is_some() {
            self.enqueue(task, worker);
        } else {
            places.slot_uncertain = false;
            if let Some(former) = places.slot.replace(task) {
                self.enqueue(former, worker);
            }
            self.tasks[task] = Place::Slot(worker);
        }
    }

    /// A task that yields goes to the end of a worker's queue. The worker notifies no other worker
    /// if it has no other task.
    fn again(&mut self, task: TaskId, worker: usize) {
        let places = &mut self.workers[worker];
        if places.slot.is_none() && places.queue.is_empty() {
            places.untold = Some(task);
        }
        self.enqueue(task, worker);
    }

    /// A worker runs a task.
    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String> {
        let place = std::mem::replace(&mut self.tasks[task], Place::Nowhere);
        if self.took_batch(task, worker) {
            return Ok(());
        }
        self.injected.retain(|injected| injected.task != task);
        match place {
            Place::Slot(owner) => self.workers[owner].slot = None,
            Place::Queue(owner) => {
                let places = &mut self.workers[owner];
                places.queue.retain(|queued| queued.0 != task);
                places.untold.take_if(|untold| *untold == task);
            }
            _ => {}
        }
        if place == Place::Slot(worker) {
            return self.ran_from_slot(worker);
        }
        for queued in &mut self.workers[worker].queue {
            queued.1 = 0;
        }
        if place != Place::Queue(worker) {
            if self.workers[worker].steps % self.interval != 0 {
                // It had nothing of its own, and may have taken a batch.
                self.injected.clear();
            }
            // It may have stolen more than this one.
            for other in (0..self.workers.len()).filter(|&other| other != worker) {
                self.lose_queue(other);
            }
        }
        Ok(())
    }

    /// A worker is about to be stepped. How often it was, with this one.
    fn step(&mut self, worker: usize) -> usize {
        if self.unseen_turn {
            self.injected.clear();
        }
        self.workers[worker].steps += 1;
        let steps = self.workers[worker].steps;
        self.unseen_turn = steps % self.interval == 0;
        steps
    }

    /// Whether there is certainly a task that any idle worker could take, and a push of it that
    /// notified.
    fn has_stealable(&self) -> bool {
        let told = |worker: &WorkerPlaces| {
            let mut queued = worker.queue.iter().map(|queued| queued.0);
            queued.any(|task| Some(task) != worker.untold)
        };
        !self.injected.is_empty() || self.workers.iter().any(told)
    }

    /// After a step: what is in the injection queue has not waited too long.
    fn check_injected(&self) -> Result<(), String> {
        let turns = self.turns();
        for injected in &self.injected {
            for (worker, before) in injected.turns.iter().enumerate() {
                if turns[worker] - before > injected.ahead {
                    return Err(format!(
                        "task {} is in the injection queue behind {}, and worker {worker} has had \
                         {} turns",
                        injected.task,
                        injected.ahead,
                        turns[worker] - before
                    ));
                }
            }
        }
        Ok(())
    }

    /// A watcher has looked after the others' slots.
    fn watched(&mut self, watcher: usize) {
        for worker in (0..self.workers.len()).filter(|&worker| worker != watcher) {
            if let Some(task) = self.workers[worker].slot.take() {
                self.tasks[task] = Place::Somewhere;
                self.workers[worker].slot_uncertain = true;
            }
        }
    }

    /// What a worker had goes to the injection queue.
    fn worker_dropped(&mut self, worker: usize) {
        if let Some(task) = self.workers[worker].slot.take() {
            self.tasks[task] = Place::Somewhere;
        }
        self.lose_queue(worker);
    }
}
