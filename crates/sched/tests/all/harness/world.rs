//! State that the tasks, the driver and the harness of one run share: the random choices, the
//! virtual time, and a model of every task, with which the checks compare.
//!
//! No waker, handle or future is called or dropped under the lock.

use std::sync::Arc;
use std::task::Waker;

use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Policy};
use raddle_task::{AbortHandle, JoinHandle};

use super::ordered_models::{ShardedModel, SharedModel};
use super::rng::{Rng, mix};
use super::stealing_model::StealingModel;
use super::task::Output;

/// The index of a task among those of its run.
pub(crate) type TaskId = usize;

/// Virtual time, in microseconds.
pub(crate) type Micros = u64;

/// What happened, for the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    Spawn,
    Wake,
    Abort,
    Detach,
    Poll,
    Dropped,
    Timer,
    Raise,
    Join,
    Step,
    BeginPark,
    Resume,
    DropWorker,
    Unpark,
    LostUnpark,
    Advance,
    Stall,
    AllParked,
    MonitorCheck,
    Refuse,
    Request,
    StartSpare,
    DropHandoff,
    Leave,
    GetStuck,
    Return,
    Flow,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ready,
    Panicked,
    Cancelled,
}

/// Where a ready task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskLocation {
    /// It is not ready, or it runs.
    NotQueued,
    Queue(usize),
    Injection,
    /// It may have been stolen.
    Unknown,
}

/// The model of the queues of one policy: the place of each task as far as it is known, and which
/// task may run next.
pub(crate) trait QueueModel {
    fn add_task(&mut self, _shard: usize) {}

    fn location_of(&self, task: TaskId) -> TaskLocation;

    /// A task becomes ready on a worker, or outside the workers (`None`).
    fn scheduled(&mut self, task: TaskId, worker: Option<usize>);

    /// A task that is still ready after its poll goes to the end of its worker's queue.
    fn requeued(&mut self, task: TaskId, worker: usize);

    /// A worker runs a task. Returns an error if the task may not run yet.
    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String>;

    /// A worker is about to be stepped. Returns the number of its steps, with this one.
    fn step(&mut self, worker: usize) -> usize;

    /// The spare worker has left instead of the step.
    fn left(&mut self, _worker: usize) {}

    /// Whether some idle worker can certainly take a task.
    fn has_stealable(&self) -> bool;
}

/// The model of one task.
#[derive(Default)]
pub(crate) struct Task {
    /// The shard that it was spawned on; 0 unless the policy is `Sharded`.
    pub(crate) shard: usize,
    pub(crate) running: bool,
    /// Since when a poll, or the drop of its future, is due.
    pub(crate) notified: Option<Micros>,
    pub(crate) aborted: bool,
    pub(crate) polls: usize,
    /// The outcome that its running poll is about to return, if that poll is the last.
    pub(crate) outcome: Option<End>,
    pub(crate) end: Option<End>,
    /// The task that awaits it.
    pub(crate) joiner: Option<TaskId>,
}

/// The state of one driver of the run.
#[derive(Default)]
pub(crate) struct DriverState {
    /// The due events, and since when they are due.
    pub(crate) due: Vec<(Micros, TaskId, Waker)>,
    pub(crate) timers: Vec<(Micros, TaskId, Waker)>,
    pub(crate) unparked: bool,
    /// The number of calls of its `park`.
    pub(crate) turns: usize,
    pub(crate) shutdowns: usize,
    /// After how many unparks one is lost.
    pub(crate) lose_unpark_in: Option<usize>,
}

pub(crate) struct State {
    pub(crate) rng: Rng,
    pub(crate) max_tasks: usize,
    pub(crate) now: Micros,
    /// The worker that is being driven.
    pub(crate) worker: Option<usize>,
    pub(crate) policy: Policy,
    /// For each shard, whether its last worker is being dropped or was dropped, spare workers
    /// aside.
    pub(crate) ended: Vec<bool>,
    /// Whether a spare worker may poll a task after that: it has not seen the shutdown yet.
    pub(crate) has_spares: bool,
    /// Since when tasks that wait have to be served: it was not possible before.
    pub(crate) served_since: Micros,
    /// How many tasks were spawned without a chosen shard.
    spawned: usize,
    pub(crate) tasks: Vec<Task>,
    pub(crate) queue_model: Box<dyn QueueModel + Send>,
    pub(crate) wakers: Vec<(TaskId, Waker)>,
    pub(crate) handles: Vec<(TaskId, JoinHandle<Output>)>,
    pub(crate) aborts: Vec<(TaskId, AbortHandle)>,
    pub(crate) outputs: usize,
    /// One for each shard.
    pub(crate) drivers: Vec<DriverState>,
    pub(crate) failure: Option<String>,
    pub(crate) hash: u64,
    verbose: bool,
}

#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<State>>);

impl World {
    pub(crate) fn new(rng: Rng, max_tasks: usize, config: &Config, verbose: bool) -> Self {
        let workers = match config.policy {
            Policy::Sharded => config.workers,
            _ => config.workers + config.max_spare_workers,
        };
        let interval = config.global_queue_interval as usize;
        let (shards, queue_model): (_, Box<dyn QueueModel + Send>) = match config.policy {
            Policy::Shared => (1, Box::new(SharedModel::new(workers))),
            Policy::Sharded => (workers, Box::new(ShardedModel::new(workers, interval))),
            _ => (1, Box::new(StealingModel::new(workers))),
        };
        Self(Arc::new(Mutex::new(State {
            rng,
            max_tasks,
            now: 0,
            worker: None,
            policy: config.policy,
            ended: vec![false; shards],
            has_spares: config.max_spare_workers > 0,
            served_since: 0,
            spawned: 0,
            tasks: Vec::new(),
            queue_model,
            wakers: Vec::new(),
            handles: Vec::new(),
            aborts: Vec::new(),
            outputs: 0,
            drivers: (0..shards).map(|_| DriverState::default()).collect(),
            failure: None,
            hash: 0,
            verbose,
        })))
    }

    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut State) -> R) -> R {
        f(&mut self.0.lock())
    }

    pub(crate) fn below(&self, bound: usize) -> usize {
        self.with(|state| state.rng.below(bound))
    }

    pub(crate) fn one_in(&self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// How many futures, outputs, drivers and schedulers share this state.
    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Records that a task is woken, then wakes it.
    pub(crate) fn wake(&self, task: TaskId, wake: impl FnOnce()) {
        self.with(|state| state.wake(Event::Wake, task));
        wake();
    }
}

impl State {
    pub(crate) fn note(&mut self, event: Event, subject: usize) {
        let worker = self.worker.map_or(0, |worker| worker + 1);
        let word = (event as u64) << 32 | (worker as u64) << 24 | subject as u64;
        self.hash = mix(self.hash ^ word);
        if self.verbose {
            match self.worker {
                Some(worker) => println!("{:6} us  worker {worker}: {event:?} {subject}", self.now),
                None => println!("{:6} us  outside: {event:?} {subject}", self.now),
            }
        }
    }

    /// Keeps the first failure. A check does not panic, because the scheduler would catch the
    /// panic.
    pub(crate) fn fail(&mut self, message: impl FnOnce() -> String) {
        if self.failure.is_none() {
            let message = message();
            if self.verbose {
                println!("{:6} us  FAILED: {message}", self.now);
            }
            self.failure = Some(message);
        }
    }

    pub(crate) fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(message);
        }
    }

    /// The shard of a worker.
    pub(crate) fn shard_of(&self, worker: usize) -> usize {
        match self.policy {
            Policy::Sharded => worker,
            _ => 0,
        }
    }

    /// The shard of a task that is spawned now: that of the running worker, or, outside the
    /// workers, the next of all shards in turn.
    pub(crate) fn next_shard(&mut self) -> usize {
        if let Some(worker) = self.worker {
            return self.shard_of(worker);
        }
        let shards = self.ended.len();
        let turn = self.spawned;
        self.spawned += 1;
        let mut order = (turn..turn + shards).map(|turn| turn % shards);
        order.find(|&shard| !self.ended[shard]).unwrap_or(0)
    }

    /// Adds a new task, which is scheduled at once.
    pub(crate) fn add_task(&mut self, shard: usize) -> TaskId {
        let task = self.tasks.len();
        self.tasks.push(Task {
            shard,
            ..Task::default()
        });
        self.queue_model.add_task(shard);
        self.wake(Event::Spawn, task);
        task
    }

    /// Records that a task is about to be woken, aborted or scheduled for the first time.
    pub(crate) fn wake(&mut self, event: Event, id: TaskId) {
        self.note(event, id);
        let task = &mut self.tasks[id];
        if task.end.is_some() || task.notified.is_some() {
            return;
        }
        task.notified = Some(self.now);
        if !task.running {
            self.queue_model.scheduled(id, self.worker);
        }
    }

    pub(crate) fn abort(&mut self, id: TaskId) {
        self.wake(Event::Abort, id);
        self.tasks[id].aborted = true;
    }

    /// Whether the scheduler of a task is shutting down or has shut down.
    fn has_ended(&self, id: TaskId) -> bool {
        self.ended[self.tasks[id].shard]
    }

    /// Records that a task is taken from its queue, to be polled or dropped.
    fn run(&mut self, id: TaskId) {
        let was_due = self.tasks[id].notified.take().is_some();
        if !self.has_ended(id) {
            self.check(was_due, || format!("task {id} runs but was not woken"));
            match self.worker {
                Some(worker) => {
                    if let Err(message) = self.queue_model.ran(id, worker) {
                        self.fail(|| message);
                    }
                }
                None => self.fail(|| format!("task {id} runs outside the workers")),
            }
        }
    }

    pub(crate) fn begin_poll(&mut self, id: TaskId) {
        self.note(Event::Poll, id);
        self.run(id);
        let ending = self.has_ended(id);
        let task = &mut self.tasks[id];
        let (running, ended, aborted) = (task.running, task.end, task.aborted);
        task.running = true;
        task.polls += 1;
        self.check(!running, || format!("two polls of task {id} overlap"));
        self.check(ended.is_none(), || {
            format!("task {id} is polled after its end")
        });
        let may_run = !ending || self.has_spares;
        self.check(!aborted && may_run, || {
            format!("task {id} is polled after it was aborted")
        });
    }

    /// A poll returns. The outcome is `None` if it was not the last poll.
    pub(crate) fn end_poll(&mut self, id: TaskId, outcome: Option<End>) {
        let task = &mut self.tasks[id];
        task.running = false;
        task.outcome = outcome;
        if task.notified.is_some() && outcome.is_none() {
            if let Some(worker) = self.worker {
                self.queue_model.requeued(id, worker);
            }
        }
    }

    /// The future of a task is dropped outside its polls.
    pub(crate) fn dropped(&mut self, id: TaskId) {
        self.note(Event::Dropped, id);
        let outcome = self.tasks[id].outcome;
        if outcome.is_none() {
            // The drop takes the place of a poll.
            self.run(id);
        }
        let task = &mut self.tasks[id];
        let (twice, running, aborted) = (task.end.is_some(), task.running, task.aborted);
        task.notified = None;
        task.end = Some(outcome.unwrap_or(End::Cancelled));
        let may_drop = outcome.is_some() || aborted || self.has_ended(id);
        self.check(!twice, || {
            format!("the future of task {id} is dropped twice")
        });
        self.check(!running, || {
            format!("task {id} is dropped while it is polled")
        });
        self.check(may_drop, || {
            format!("task {id} is dropped but was not aborted")
        });
    }

    /// A join has returned the outcome of a task.
    pub(crate) fn joined(&mut self, id: TaskId, end: End) {
        self.note(Event::Join, id);
        let expected = self.tasks[id].end;
        self.check(expected == Some(end), || {
            format!("the join of task {id} returned {end:?}, but the task ended as {expected:?}")
        });
    }

    /// Every worker is parked: no task may be ready.
    pub(crate) fn check_all_parked(&mut self) {
        self.note(Event::AllParked, 0);
        let lost = self.tasks.iter().position(|task| task.notified.is_some());
        if let Some(id) = lost {
            let location = self.queue_model.location_of(id);
            self.fail(|| {
                format!(
                    "lost wake-up: all workers are parked and task {id} is ready, at {location:?}"
                )
            });
        }
    }

    /// Some workers are stuck, and others could serve since `served_since`: nothing may have been
    /// due for longer than `limit` since then.
    pub(crate) fn check_waits(&mut self, limit: Micros) {
        let (now, served_since) = (self.now, self.served_since);
        let is_late = |since: Micros| since.max(served_since) + limit < now;
        let is_task_late = |task: &Task| task.notified.is_some_and(is_late);
        if let Some(id) = self.tasks.iter().position(is_task_late) {
            let location = self.queue_model.location_of(id);
            self.fail(|| {
                format!("task {id} has waited too long for a stuck worker, at {location:?}")
            });
        }
        let driver = &self.drivers[0];
        let mut due = driver.due.iter().chain(&driver.timers);
        let is_event_late = due.any(|event| is_late(event.0));
        self.check(!is_event_late, || {
            "an event or a timer has waited too long for a stuck worker".to_owned()
        });
    }
}
