//! One worker that the harness steps, and its state.

use raddle_sched::{Step, Worker, WorkerWait};

use super::world::{Event, Micros, World};

/// What the worker does between two calls of the harness.
enum Activity {
    /// It can be stepped. `has_run` says whether its last step ran a task. If not, the worker is
    /// new or has just stopped waiting.
    Awake {
        has_run: bool,
    },
    /// Its last step found nothing, so it either parks or is stepped once more.
    Idle,
    Parked(WorkerWait),
}

pub(crate) struct SteppedWorker {
    /// `None` once the worker was dropped, and for a spare worker that no thread drives.
    worker: Option<Worker>,
    /// The index of the driver of the worker's shard.
    pub(crate) shard: usize,
    pub(crate) is_spare: bool,
    activity: Activity,
    /// When its current poll returns, if it is in one that takes long.
    returns_at: Option<Micros>,
    /// Whether an unpark of it was observed, and whether the harness ignores that unpark.
    saw_unpark: bool,
    ignores_unpark: bool,
}

impl SteppedWorker {
    pub(crate) fn new(worker: Worker, shard: usize) -> Self {
        Self {
            worker: Some(worker),
            is_spare: false,
            ..Self::spare(shard)
        }
    }

    /// A spare worker that no thread drives yet.
    pub(crate) fn spare(shard: usize) -> Self {
        Self {
            worker: None,
            shard,
            is_spare: true,
            activity: Activity::Awake { has_run: false },
            returns_at: None,
            saw_unpark: false,
            ignores_unpark: false,
        }
    }

    /// A thread begins to drive the spare worker.
    pub(crate) fn begin(&mut self, worker: Worker) {
        assert!(self.worker.is_none(), "two threads drive a spare worker");
        *self = Self {
            worker: Some(worker),
            ..Self::spare(self.shard)
        };
    }

    /// Begins a poll that takes long: the last one has not returned yet.
    pub(crate) fn get_stuck(&mut self, until: Micros) {
        self.returns_at = Some(until);
    }

    /// Ends the poll if it takes no longer than `now`. Returns whether it was in one.
    pub(crate) fn return_by(&mut self, now: Micros) -> bool {
        self.returns_at.take_if(|until| *until <= now).is_some()
    }

    pub(crate) fn is_stuck(&self) -> bool {
        self.is_alive() && self.returns_at.is_some()
    }

    pub(crate) fn returns_at(&self) -> Option<Micros> {
        self.returns_at.filter(|_| self.is_alive())
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.worker.is_some()
    }

    /// Drops the worker.
    pub(crate) fn drop_worker(&mut self) {
        self.worker = None;
        self.returns_at = None;
    }

    pub(crate) fn is_in_driver(&self) -> bool {
        self.is_alive() && matches!(&self.activity, Activity::Parked(wait) if wait.in_driver)
    }

    /// Whether it is parked and was not unparked.
    pub(crate) fn is_asleep(&self) -> bool {
        let parked = matches!(self.activity, Activity::Parked(_));
        self.worker
            .as_ref()
            .is_some_and(|worker| parked && !worker.is_unparked())
    }

    /// Whether the worker is searching, or may search when it is next driven.
    pub(crate) fn may_search(&self) -> bool {
        !matches!(self.activity, Activity::Awake { has_run: true })
            && self.is_alive()
            && !self.is_asleep()
    }

    pub(crate) fn has_run(&self) -> bool {
        self.is_alive() && matches!(self.activity, Activity::Awake { has_run: true })
    }

    /// Records an unpark of a worker that sleeps outside the driver.
    pub(crate) fn observe_unpark(&mut self, world: &World, ignore_unpark_in: &mut Option<usize>) {
        let Some(worker) = &self.worker else { return };
        let sleeps = matches!(&self.activity, Activity::Parked(wait) if !wait.in_driver);
        if !sleeps || self.saw_unpark || !worker.is_unparked() {
            return;
        }
        self.saw_unpark = true;
        match ignore_unpark_in {
            Some(0) => {
                *ignore_unpark_in = None;
                self.ignores_unpark = true;
                world.with(|state| state.note(Event::LostUnpark, 1));
            }
            Some(left) => *left -= 1,
            None => {}
        }
    }

    /// Whether the worker has something to do: it does not wait, or its wait has ended.
    pub(crate) fn is_due(&self, world: &World) -> bool {
        self.is_alive()
            && !self.is_stuck()
            && match &self.activity {
                Activity::Awake { .. } | Activity::Idle => true,
                Activity::Parked(wait) => match wait.in_driver {
                    true => world.with(|state| state.driver_is_ready(self.shard)),
                    false => self.saw_unpark && !self.ignores_unpark,
                },
            }
    }

    /// Whether the worker's wait ends without a reason. Only a wait in the driver can do so.
    pub(crate) fn may_wake_early(&self, world: &World) -> bool {
        self.is_in_driver() && world.one_in(8)
    }

    /// When the worker's wait ends at the latest, by a timer.
    pub(crate) fn deadline(&self, world: &World) -> Option<Micros> {
        let timer = || {
            world.with(|state| {
                let timers = &state.drivers[self.shard].timers;
                timers.iter().map(|timer| timer.0).min()
            })
        };
        self.is_in_driver().then(timer).flatten()
    }

    /// Drives the worker once. Returns the number of steps it has taken so far, or `None` if it was
    /// not stepped.
    pub(crate) fn drive(&mut self, world: &World, index: usize) -> Option<usize> {
        let worker = self.worker.as_mut()?;
        let mut steps = None;
        self.activity = match &self.activity {
            Activity::Idle if !world.one_in(4) => {
                world.with(|state| state.note(Event::BeginPark, index));
                activity_of(worker.begin_park())
            }
            Activity::Awake { .. } | Activity::Idle => {
                world.with(|state| {
                    state.note(Event::Step, index);
                    steps = Some(state.queue_model.step(index));
                });
                let step = worker.step();
                if step == Step::Shutdown && self.is_spare {
                    world.with(|state| {
                        state.note(Event::Leave, index);
                        state.queue_model.left(index);
                    });
                    self.drop_worker();
                    return None;
                }
                world.with(|state| {
                    state.check(step != Step::Shutdown, || {
                        format!("worker {index} shuts down before the last worker was dropped")
                    });
                });
                match step {
                    Step::Ran => Activity::Awake { has_run: true },
                    Step::Idle | Step::Shutdown => Activity::Idle,
                }
            }
            Activity::Parked(_) => {
                world.with(|state| state.note(Event::Resume, index));
                activity_of(worker.resume_park())
            }
        };
        self.saw_unpark = false;
        self.ignores_unpark = false;
        steps
    }
}

fn activity_of(wait: Option<WorkerWait>) -> Activity {
    match wait {
        None => Activity::Awake { has_run: false },
        Some(wait) => Activity::Parked(wait),
    }
}
