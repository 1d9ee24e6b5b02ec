//! Runs real workers from one thread, in an order that a seed chooses, under a virtual clock.
//! `docs/stepped-testing.md` describes the runs and the checks.

mod driver;
mod join;
mod ordered_models;
mod rng;
mod spares;
mod stealing_model;
mod stepped_worker;
mod task;
mod world;

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use raddle_sched::{Config, Driver, Handle, Hook, Monitor, Policy, Pool};

use driver::VirtualDriver;
use join::Join;
use rng::Rng;
use spares::{Limits, Requests};
use stepped_worker::SteppedWorker;
use world::{Event, Micros, World};

/// More calls of `drive` than any run needs until its workers are parked.
const MAX_DRIVES_UNTIL_PARKED: usize = 20_000;

/// A deliberate fault: the harness loses a wake-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlantedFault {
    None,
    /// An unpark of the driver has no effect.
    DriverUnpark,
    /// A worker that sleeps outside the driver does not notice its unpark.
    ThreadUnpark,
}

/// Makes the run of a seed. Returns the hash of its trace, and the result of its checks.
pub(crate) fn run(
    seed: u64,
    policy: Policy,
    fault: PlantedFault,
    verbose: bool,
) -> (u64, Result<(), String>) {
    let mut rng = Rng::new(seed);
    let config = Config {
        workers: 1 + rng.below(4),
        policy,
        global_queue_interval: 2 + rng.below(8) as u32,
        event_interval: Some(1 + rng.below(16) as u32),
        has_monitor: !rng.one_in(4),
        max_spare_workers: match rng.one_in(3) {
            true => 0,
            false => 1 + rng.below(4),
        },
        ..Config::default()
    };
    let max_tasks = 4 + rng.below(60);
    let world = World::new(rng, max_tasks, &config, verbose);
    let result = catch_unwind(AssertUnwindSafe(|| Run::new(&world, config, fault).run()));
    let hash = world.with(|state| state.hash);
    let result = match (result, world.with(|state| state.failure.take())) {
        (_, Some(failure)) => Err(failure),
        (Err(payload), None) => Err(format!("panicked: {}", message(&*payload))),
        (Ok(()), None) if world.holders() > 0 => Err(format!(
            "{} futures, outputs, drivers or schedulers are still held",
            world.holders()
        )),
        (Ok(()), None) => Ok(()),
    };
    (hash, result)
}

fn message(payload: &(dyn std::any::Any + Send)) -> &str {
    match payload.downcast_ref::<String>() {
        Some(message) => message,
        None => payload.downcast_ref::<&str>().unwrap_or(&"?"),
    }
}

/// A hook of the workers that sometimes does what a task may do.
fn hook(world: &World) -> Hook {
    let world = world.clone();
    Arc::new(move || {
        if world.one_in(4) {
            task::act(&world);
        }
    })
}

struct Run {
    world: World,
    handle: Handle,
    /// The workers, and then the spare ones.
    workers: Vec<SteppedWorker>,
    /// `None` if there is none, and after the last worker was dropped.
    monitor: Option<Monitor>,
    next_check: Micros,
    requests: Requests,
    limits: Limits,
    event_interval: usize,
    joins: Vec<Join>,
    /// Whether waits sometimes end without a reason.
    spurious: bool,
    /// After how many unparks of sleeping workers one is lost.
    ignore_unpark_in: Option<usize>,
}

impl Run {
    fn new(world: &World, mut config: Config, fault: PlantedFault) -> Self {
        let requests = Requests::new(world);
        config.handoff = Some(requests.start_handoff());
        let has_monitor = config.has_monitor && config.policy != Policy::Sharded;
        let max_spares = match has_monitor {
            true => config.max_spare_workers,
            false => 0,
        };
        let limits = Limits::new(world, max_spares);
        let event_interval = config.event_interval.expect("it is drawn") as usize;
        if world.one_in(4) {
            config.on_thread_park = Some(hook(world));
            config.on_thread_unpark = Some(hook(world));
        }
        let drivers = (0..world.with(|state| state.drivers.len()))
            .map(|shard| VirtualDriver {
                world: world.clone(),
                shard,
            })
            .map(|driver| Box::new(driver) as Box<dyn Driver>);
        let (handle, workers) = Pool::stepped(config, drivers);
        let lost = world.below(4);
        if fault == PlantedFault::DriverUnpark {
            world.with(|state| state.drivers[0].lose_unpark_in = Some(lost));
        }
        let stepped = |(number, worker)| {
            let shard = world.with(|state| state.shard_of(number));
            SteppedWorker::new(worker, shard)
        };
        let monitor = has_monitor.then(|| workers[0].monitor());
        let workers = workers.into_iter().enumerate().map(stepped);
        let spares = (0..max_spares).map(|_| SteppedWorker::spare(0));
        Self {
            world: world.clone(),
            handle,
            workers: workers.chain(spares).collect(),
            monitor,
            next_check: 0,
            requests,
            limits,
            event_interval,
            joins: Vec::new(),
            spurious: world.one_in(4),
            ignore_unpark_in: (fault == PlantedFault::ThreadUnpark).then_some(lost),
        }
    }

    fn run(mut self) {
        let handle = self.handle.clone();
        let current = handle.enter();
        let length = 50 + self.world.below(350);
        for _ in 0..length {
            self.do_random_action();
            self.check_awake();
            if self.has_failed() {
                break;
            }
        }
        if self.world.one_in(2) {
            self.park_all();
        }
        self.shut_down();
        drop(current);
        drop(self.handle);
        drop(handle);
    }

    fn has_failed(&self) -> bool {
        self.world.with(|state| state.failure.is_some())
    }

    /// Drives a worker, or does something else that may happen at any time.
    fn do_random_action(&mut self) {
        match self.world.below(40) {
            0..=22 => {
                let worker = self.world.below(self.workers.len());
                self.drive(worker);
            }
            23..=32 => task::act(&self.world),
            33 | 34 => self.join(),
            35 | 36 => {
                if !self.limits.has_progress {
                    // No poll takes a few milliseconds.
                    self.drive_until_parked();
                }
                let time = self.world.below(3_000) as Micros;
                self.advance(time);
            }
            37 => self.park_all(),
            38 => self.do_with_spare(),
            _ if self.world.one_in(2) => self.stall(),
            _ if self.world.one_in(2) => self.flow(),
            _ if self.world.one_in(2) => {
                let worker = self.world.below(self.workers.len());
                if self.workers[worker].is_spare || self.alive() > 1 {
                    self.drop_worker(worker);
                }
            }
            _ => {}
        }
    }

    /// The number of workers that were not dropped, without spare ones.
    fn alive(&self) -> usize {
        let workers = self.workers.iter().filter(|stepped| !stepped.is_spare);
        workers.filter(|stepped| stepped.is_alive()).count()
    }

    fn now(&self) -> Micros {
        self.world.with(|state| state.now)
    }

    /// Lets time pass. The monitor checks the workers meanwhile.
    fn advance(&mut self, time: Micros) {
        let end = self.now() + time;
        while self.monitor.is_some() && self.next_check <= end {
            let next = self.next_check.max(self.now());
            self.world.with(|state| state.now = next);
            self.check();
        }
        self.world.with(|state| {
            state.now = end;
            state.note(Event::Advance, time as usize);
        });
    }

    /// Lets a worker make one call, unless it waits.
    fn drive(&mut self, worker: usize) {
        let shard = self.workers[worker].shard;
        let driver_is_held = self.is_driver_held(shard);
        let stepped = &mut self.workers[worker];
        stepped.observe_unpark(&self.world, &mut self.ignore_unpark_in);
        if stepped.is_due(&self.world) || (self.spurious && stepped.may_wake_early(&self.world)) {
            self.world.with(|state| state.worker = Some(worker));
            let turns = self.world.with(|state| state.drivers[shard].turns);
            let steps = self.workers[worker].drive(&self.world, worker);
            let busy = steps.is_some_and(|steps| steps % self.event_interval == 0);
            // A spare worker may attend the driver.
            let has_spare = self.workers.iter().any(|it| it.is_spare && it.is_alive());
            self.world.with(|state| {
                state.worker = None;
                let was_polled = state.drivers[shard].turns > turns;
                state.check(was_polled || !busy || driver_is_held || has_spare, || {
                    format!("worker {worker} has not polled the driver")
                });
            });
        }
    }

    /// While a task can be taken and a worker sleeps, some worker must search.
    fn check_awake(&self) {
        // A spare worker is responsible for no task of others. Under `Shared` its own tasks are in
        // the injection queue.
        let is_shared = self.world.with(|state| state.policy == Policy::Shared);
        let may_search =
            |stepped: &SteppedWorker| (is_shared || !stepped.is_spare) && stepped.may_search();
        let is_asleep = |stepped: &SteppedWorker| !stepped.is_spare && stepped.is_asleep();
        if self.workers.iter().any(is_asleep) && !self.workers.iter().any(may_search) {
            self.world.with(|state| {
                let can_take = state.queue_model.has_stealable();
                state.check(!can_take, || {
                    "a task can be taken and a worker sleeps, but no worker searches".to_owned()
                });
            });
        }
    }

    /// Returns the workers that have something to do.
    fn due(&mut self) -> Vec<usize> {
        let mut due = Vec::new();
        for (worker, stepped) in self.workers.iter_mut().enumerate() {
            stepped.observe_unpark(&self.world, &mut self.ignore_unpark_in);
            if stepped.is_due(&self.world) {
                due.push(worker);
            }
        }
        due
    }

    /// Drives the workers until all of them are parked or stuck.
    fn drive_until_parked(&mut self) {
        for _ in 0..MAX_DRIVES_UNTIL_PARKED {
            let due = self.due();
            let Some(index) = self.world.with(|state| state.rng.pick(&due)) else {
                return;
            };
            self.drive(due[index]);
            self.check_awake();
            if self.has_failed() {
                return;
            }
        }
        self.world
            .with(|state| state.fail(|| "the workers do not park".to_owned()));
    }

    /// Drives the workers until all are parked. No task may be ready then.
    fn park_all(&mut self) {
        if self.alive() == 0 {
            return;
        }
        self.drive_until_parked();
        self.world.with(|state| state.check_all_parked());
        for stepped in self.workers.iter().filter(|stepped| stepped.is_alive()) {
            let in_driver = self.is_driver_held(stepped.shard);
            self.world.with(|state| {
                state.check(in_driver, || {
                    "all workers are parked and no worker waits in the driver".to_owned()
                });
            });
        }
        self.check_joins();
    }

    /// Whether a worker of the shard waits in the shard's driver.
    fn is_driver_held(&self, shard: usize) -> bool {
        let mut workers = self.workers.iter().filter(|stepped| stepped.shard == shard);
        workers.any(SteppedWorker::is_in_driver)
    }

    /// Begins a join from outside, and polls all such joins.
    fn join(&mut self) {
        if let Some((task, handle)) = task::take_handle(&self.world) {
            self.joins.push(Join {
                task,
                handle,
                woken: Arc::default(),
            });
        }
        let world = &self.world;
        self.joins.retain_mut(|join| {
            let waker = Waker::from(join.woken.clone());
            let mut cx = Context::from_waker(&waker);
            join.woken.take();
            match Pin::new(&mut join.handle).poll(&mut cx) {
                Poll::Ready(result) => {
                    world.with(|state| state.joined(join.task, task::outcome_of(&result)));
                    false
                }
                Poll::Pending => true,
            }
        });
    }

    /// Checks that each outside join of a completed task was woken.
    fn check_joins(&self) {
        for join in &self.joins {
            let woken = join.woken.is_set();
            self.world.with(|state| {
                let ended = state.tasks[join.task].end.is_some();
                state.check(!ended || woken, || {
                    format!(
                        "task {} has ended, but the waker of its join was not woken",
                        join.task
                    )
                });
            });
        }
    }

    fn drop_worker(&mut self, worker: usize) {
        if !self.workers[worker].is_alive() {
            return;
        }
        let is_spare = self.workers[worker].is_spare;
        let is_last = !is_spare && (self.alive() == 1 || self.is_sharded());
        let shard = self.workers[worker].shard;
        self.world.with(|state| {
            state.note(Event::DropWorker, worker);
            state.worker = Some(worker);
            state.ended[shard] |= is_last;
        });
        self.workers[worker].drop_worker();
        self.world.with(|state| state.worker = None);
    }

    /// Drops the workers one after the other, with other actions in between. Then nothing may be
    /// left.
    fn shut_down(&mut self) {
        while self.alive() > 0 {
            let worker = self.world.below(self.workers.len());
            match self.world.below(4) {
                0 => self.drop_worker(worker),
                1 => task::act(&self.world),
                2 if self.world.one_in(4) => self.do_with_spare(),
                _ => self.drive(worker),
            }
        }
        self.end_spares();
        self.check_joins();
        for _ in 0..8 {
            task::act(&self.world);
            self.join();
        }
        while !self.world.with(|state| state.handles.is_empty()) {
            self.join();
        }
        let joins = std::mem::take(&mut self.joins);
        self.world.with(|state| {
            state.check(joins.is_empty(), || {
                format!("task {} cannot be joined after the shutdown", joins[0].task)
            });
            let left = state.tasks.iter().position(|task| task.end.is_none());
            state.check(left.is_none(), || format!("task {left:?} was not dropped"));
            let outputs = state.outputs;
            state.check(outputs == 0, || format!("{outputs} outputs are still held"));
            for shard in 0..state.drivers.len() {
                let shutdowns = state.drivers[shard].shutdowns;
                state.check(shutdowns == 1, || {
                    format!("driver {shard} was shut down {shutdowns} times")
                });
            }
        });
        let left = self.world.with(|state| {
            let driver = std::mem::take(&mut state.drivers);
            (
                std::mem::take(&mut state.wakers),
                std::mem::take(&mut state.aborts),
                driver,
            )
        });
        drop(left);
    }
}
