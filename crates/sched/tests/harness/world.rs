//! What the tasks, the driver and the harness of one run share: the choices,
//! the virtual time, and a model of every task that the checks compare with.
//!
//! No waker, handle or future is called or dropped under the lock.

use std::sync::Arc;
use std::task::Waker;

use raddle_primitives::sync::Mutex;
use raddle_sched::{Config, Policy};
use raddle_task::{AbortHandle, JoinHandle};

use super::ordered::{ShardedPlaces, SharedPlaces};
use super::places::StealingPlaces;
use super::rng::{Rng, mix};
use super::task::Output;

/// Which task: the how-manieth of its run.
pub(crate) type TaskId = usize;

/// Virtual time, in microseconds.
pub(crate) type Micros = u64;

/// What happened, for the trace: the names tell the run's story.
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
    Swallowed,
    Advance,
    Stall,
    Rest,
}

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Ready,
    Panicked,
    Cancelled,
}

/// Where a task is that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// It is not due, or runs.
    Nowhere,
    Slot(usize),
    Queue(usize),
    Injection,
    /// It was stolen, rescued, or its worker is gone.
    Somewhere,
}

/// The model of the queues of one policy: where each task is, as far as that is
/// known, and what follows for which one may run.
pub(crate) trait Places {
    fn add_task(&mut self, _shard: usize) {}

    fn of(&self, task: TaskId) -> Place;

    /// A task, which may be new, becomes due on a worker, or outside.
    fn scheduled(&mut self, task: TaskId, is_new: bool, worker: Option<usize>);

    /// A task goes to the end of a worker's queue.
    fn again(&mut self, task: TaskId, worker: usize);

    /// A worker runs a task.
    fn ran(&mut self, task: TaskId, worker: usize) -> Result<(), String>;

    /// A worker is about to be stepped. How often it was, with this one.
    fn step(&mut self, worker: usize) -> usize;

    /// Whether there is certainly a task that any idle worker could take.
    fn has_stealable(&self) -> bool;

    /// After a step: what is in the injection queue has not waited too long.
    fn check_injected(&self) -> Result<(), String> {
        Ok(())
    }

    /// A watcher has looked after the others' slots.
    fn watched(&mut self, _watcher: usize) {}

    /// What a worker had goes to the injection queue.
    fn worker_dropped(&mut self, _worker: usize) {}
}

/// The model of one task.
#[derive(Default)]
pub(crate) struct Task {
    /// Which scheduler it was spawned on: not the first only if it is sharded.
    pub(crate) shard: usize,
    pub(crate) running: bool,
    /// Since when it is owed a poll, or the drop of its future.
    pub(crate) notified: Option<Micros>,
    pub(crate) aborted: bool,
    pub(crate) polls: usize,
    /// What its present poll is about to return, if it is the last.
    pub(crate) verdict: Option<End>,
    pub(crate) end: Option<End>,
    /// Who awaits it.
    pub(crate) joiner: Option<TaskId>,
}

/// What the driver of the run has in hand.
#[derive(Default)]
pub(crate) struct Pending {
    /// The events, and since when they are due.
    pub(crate) due: Vec<(Micros, TaskId, Waker)>,
    pub(crate) timers: Vec<(Micros, TaskId, Waker)>,
    pub(crate) unparked: bool,
    /// How often it was looked at.
    pub(crate) turns: usize,
    pub(crate) shutdowns: usize,
    /// How many unparks until one is lost.
    pub(crate) swallow_in: Option<usize>,
}

pub(crate) struct State {
    pub(crate) rng: Rng,
    pub(crate) max_tasks: usize,
    pub(crate) now: Micros,
    /// The worker that is being driven.
    pub(crate) worker: Option<usize>,
    pub(crate) policy: Policy,
    /// Of each shard, whether its last worker is being dropped, or has been.
    pub(crate) ended: Vec<bool>,
    /// How many tasks were spawned without a word on which shard.
    spawned: usize,
    pub(crate) tasks: Vec<Task>,
    pub(crate) places: Box<dyn Places + Send>,
    pub(crate) wakers: Vec<(TaskId, Waker)>,
    pub(crate) handles: Vec<(TaskId, JoinHandle<Output>)>,
    pub(crate) aborts: Vec<(TaskId, AbortHandle)>,
    pub(crate) outputs: usize,
    /// One for each shard.
    pub(crate) drivers: Vec<Pending>,
    pub(crate) failure: Option<String>,
    pub(crate) hash: u64,
    verbose: bool,
}

#[derive(Clone)]
pub(crate) struct World(Arc<Mutex<State>>);

impl World {
    pub(crate) fn new(rng: Rng, max_tasks: usize, config: &Config, verbose: bool) -> Self {
        let workers = config.workers;
        let interval = config.global_queue_interval as usize;
        let (shards, places): (_, Box<dyn Places + Send>) = match config.policy {
            Policy::Shared => (1, Box::new(SharedPlaces::new(workers))),
            Policy::Sharded => (workers, Box::new(ShardedPlaces::new(workers, interval))),
            _ => (1, Box::new(StealingPlaces::new(workers, interval))),
        };
        Self(Arc::new(Mutex::new(State {
            rng,
            max_tasks,
            now: 0,
            worker: None,
            policy: config.policy,
            ended: vec![false; shards],
            spawned: 0,
            tasks: Vec::new(),
            places,
            wakers: Vec::new(),
            handles: Vec::new(),
            aborts: Vec::new(),
            outputs: 0,
            drivers: (0..shards).map(|_| Pending::default()).collect(),
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

    /// How many futures, outputs, drivers and schedulers have a part in it.
    pub(crate) fn holders(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Notes a wake of a task, then does it.
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

    /// Keeps the first failure. Checks do not panic: the scheduler would catch
    /// it.
    pub(crate) fn fail(&mut self, message: impl FnOnce() -> String) {
        if self.failure.is_none() {
            self.failure = Some(message());
        }
    }

    pub(crate) fn check(&mut self, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fail(message);
        }
    }

    /// The shard that a worker is of.
    pub(crate) fn shard_of(&self, worker: usize) -> usize {
        match self.policy {
            Policy::Sharded => worker,
            _ => 0,
        }
    }

    /// Where a task will be that is spawned now: on the worker at hand, or on
    /// each shard in turn.
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

    /// A new task, which is scheduled at once.
    pub(crate) fn add_task(&mut self, shard: usize) -> TaskId {
        let task = self.tasks.len();
        self.tasks.push(Task {
            shard,
            ..Task::default()
        });
        self.places.add_task(shard);
        self.wake(Event::Spawn, task);
        task
    }

    /// A task is about to be woken, aborted or scheduled first.
    pub(crate) fn wake(&mut self, event: Event, id: TaskId) {
        self.note(event, id);
        let task = &mut self.tasks[id];
        if task.end.is_some() || task.notified.is_some() {
            return;
        }
        task.notified = Some(self.now);
        if !task.running {
            let is_new = matches!(event, Event::Spawn);
            self.places.scheduled(id, is_new, self.worker);
        }
    }

    pub(crate) fn abort(&mut self, id: TaskId) {
        self.wake(Event::Abort, id);
        self.tasks[id].aborted = true;
    }

    /// Whether the scheduler of a task ends, or has.
    fn has_ended(&self, id: TaskId) -> bool {
        self.ended[self.tasks[id].shard]
    }

    /// A task is taken from its place, to be polled or dropped.
    fn run(&mut self, id: TaskId) {
        let was_due = self.tasks[id].notified.take().is_some();
        if !self.has_ended(id) {
            self.check(was_due, || format!("task {id} runs but was not woken"));
            match self.worker {
                Some(worker) => {
                    if let Err(message) = self.places.ran(id, worker) {
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
        self.check(!aborted && !ending, || {
            format!("task {id} is polled after it was aborted")
        });
    }

    /// A poll returns; with a verdict it was the last.
    pub(crate) fn end_poll(&mut self, id: TaskId, verdict: Option<End>) {
        let task = &mut self.tasks[id];
        task.running = false;
        task.verdict = verdict;
        if task.notified.is_some() && verdict.is_none() {
            if let Some(worker) = self.worker {
                self.places.again(id, worker);
            }
        }
    }

    /// The future of a task is dropped, outside its polls.
    pub(crate) fn dropped(&mut self, id: TaskId) {
        self.note(Event::Dropped, id);
        let verdict = self.tasks[id].verdict;
        if verdict.is_none() {
            // Instead of a poll.
            self.run(id);
        }
        let task = &mut self.tasks[id];
        let (twice, running, aborted) = (task.end.is_some(), task.running, task.aborted);
        task.notified = None;
        task.end = Some(verdict.unwrap_or(End::Cancelled));
        let may_go = verdict.is_some() || aborted || self.has_ended(id);
        self.check(!twice, || {
            format!("the future of task {id} is dropped twice")
        });
        self.check(!running, || {
            format!("task {id} is dropped while it is polled")
        });
        self.check(may_go, || {
            format!("task {id} is dropped but was not aborted")
        });
    }

    /// A join handle gave what a task ended with.
    pub(crate) fn joined(&mut self, id: TaskId, end: End) {
        self.note(Event::Join, id);
        let expected = self.tasks[id].end;
        self.check(expected == Some(end), || {
            format!("joining task {id} says {end:?}, but its end was {expected:?}")
        });
    }

    /// Every worker is parked: nothing may be due.
    pub(crate) fn check_rest(&mut self) {
        self.note(Event::Rest, 0);
        let lost = self.tasks.iter().position(|task| task.notified.is_some());
        if let Some(id) = lost {
            let place = self.places.of(id);
            self.fail(|| {
                format!("lost wake-up: all workers are parked and task {id} is due, at {place:?}")
            });
        }
    }

    /// One worker was stuck until now, another idle: nothing may be due for
    /// longer than `limit`.
    pub(crate) fn check_served(&mut self, limit: Micros) {
        let now = self.now;
        let late = self
            .tasks
            .iter()
            .position(|task| task.notified.is_some_and(|since| since + limit < now));
        if let Some(id) = late {
            let place = self.places.of(id);
            self.fail(|| format!("task {id} waits behind a stuck worker, at {place:?}"));
        }
        let driver = &self.drivers[0];
        let due = driver.due.iter().chain(&driver.timers);
        let oldest = due.map(|event| event.0).min();
        self.check(oldest.is_none_or(|since| since + limit >= now), || {
            "an event or a timer waits behind a stuck worker".to_owned()
        });
    }
}
