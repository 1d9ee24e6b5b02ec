//! The core of a worker: the state that only the thread that drives it touches, and its run loop,
//! one step at a time.
//!
//! `docs/scheduler.md` has the states of a worker.

use std::cell::Cell;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use crate::events::{PollResult, TaskRef};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread::{self, ThreadId};
use raddle_queue::Owner;
use raddle_task::{LiveList, Outcome, Runnable};
use scopeguard::guard;

use super::driver;
use super::park::{self, Parked};
use super::queues::{EventOrder, Queues};
use super::retirement::Retirement;
use super::shard::Shard;
use super::ticks::Ticks;
use crate::config::call_hook;
use crate::context;
use crate::counters::Sampler;
use crate::id::Id;
use crate::idle_yield::IdleYield;
use crate::task::Task;

/// The outcome of a step.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A task was run.
    Ran,
    /// There is nothing to run: the worker should park.
    Idle,
    /// The scheduler is shutting down, or the worker is a spare one that leaves: drop the worker.
    Shutdown,
}

/// Which polls of a worker are observed.
#[derive(Clone, Copy)]
enum Observes {
    None,
    /// Those of the sample of times.
    Sample,
    /// Each, by the observer alone.
    ByObserver,
    /// Each, by an observer alone that does not need the end of each poll.
    Starts,
    /// Each: for hooks, the histogram of all polls or the report of spare workers, and for the
    /// observer if there is one.
    Each,
}

impl Observes {
    fn of(shard: &Shard, worker: usize) -> Self {
        let config = &shard.config;
        let needs_each = config.task_hooks.are_set()
            || config.poll_time_histogram.is_some()
            || worker >= shard.peers.len();
        match &config.observer {
            _ if needs_each => Self::Each,
            Some(observer) if observer.needs_poll_ends() => Self::ByObserver,
            Some(_) => Self::Starts,
            None if config.samples_times => Self::Sample,
            None => Self::None,
        }
    }
}

/// The state of a worker that only the thread that drives it touches.
pub(crate) struct Core {
    /// A copy of the scheduler's id.
    pub(crate) scheduler: Id,
    pub(crate) queues: Queues,
    pub(crate) live: LiveList,
    pub(crate) ticks: Ticks,
    /// Whether a future has yielded in the current poll.
    has_yielded: Cell<bool>,
    /// Tasks that have yielded since the worker last polled the driver.
    yields: Cell<usize>,
    idle_yield: IdleYield,
    observes: Observes,
    /// `Some` if times are measured on a sample.
    sampler: Option<Box<Sampler>>,
    /// Whether the thread that drives the worker is in a park that blocks.
    is_parking: Cell<bool>,
    /// The thread that runs a pinned worker.
    thread: Cell<Option<ThreadId>>,
    /// The first shard of the worker's scheduler.
    pub(crate) first_shard: Arc<Shard>,
    pub(crate) retirement: Arc<Retirement>,
}

impl Core {
    pub(crate) fn new(
        retirement: Arc<Retirement>,
        first_shard: &Arc<Shard>,
        index: usize,
        queue: Owner<Task>,
    ) -> Self {
        let shard = retirement.shard.clone();
        let config = &shard.config;
        // One that is alone has no other worker to take tasks from.
        let event_interval = match shard.peers.len() {
            1 => Some(config.polls_between_events()),
            _ => config.event_interval,
        };
        Self {
            scheduler: shard.id,
            live: LiveList::new(),
            ticks: Ticks::new(config.global_queue_interval, event_interval),
            has_yielded: Cell::new(false),
            yields: Cell::new(0),
            idle_yield: IdleYield::default(),
            observes: Observes::of(&shard, index),
            sampler: Self::sampler(&shard, index),
            is_parking: Cell::new(false),
            thread: Cell::new(None),
            first_shard: first_shard.clone(),
            queues: Queues::new(shard, index, queue),
            retirement,
        }
    }

    fn sampler(shard: &Shard, index: usize) -> Option<Box<Sampler>> {
        let times = shard.peer(index).counters.sampled.clone()?;
        Some(Box::new(Sampler::new(index, shard.probes.clone()?, times)))
    }

    /// Runs code as the worker until the guard is dropped, which must be a local variable.
    ///
    /// # Panics
    ///
    /// Panics if the worker is bound to another thread.
    pub(crate) fn enter(&self) -> impl Drop {
        self.bind();
        context::enter_core(self)
    }

    /// Drops tasks as the worker, at the shutdown, until the guard is dropped. Tasks that the drops
    /// wake go to this worker's queue.
    ///
    /// The tasks of a current-thread scheduler are dropped as no worker, and their drops may block
    /// on futures, as on Tokio: outside its `block_on` no thread drives it. Tasks that they wake go
    /// to the injection queue.
    ///
    /// # Panics
    ///
    /// As [`enter`](Self::enter).
    pub(crate) fn enter_to_cancel(&self) -> Option<impl Drop> {
        (!self.shard().is_current_thread).then(|| {
            self.bind();
            context::enter_core_to_cancel(self)
        })
    }

    /// Binds a pinned worker to the calling thread.
    fn bind(&self) {
        if self.is_pinned() {
            assert!(
                self.may_run_here(),
                "a worker of a sharded scheduler was used on another thread while it has tasks; \
                 keep it on the thread that runs it"
            );
            // While it has tasks, only this thread may enter it.
            self.thread.set(Some(thread::current_id()));
        }
    }

    #[inline]
    pub(crate) fn shard(&self) -> &Arc<Shard> {
        &self.queues.shard
    }

    /// Records that the calling thread drives the worker. When the thread stops driving it, it must
    /// call [`WorkerCounters::stop_clock`](crate::counters::WorkerCounters::stop_clock).
    pub(crate) fn attach(&self) {
        self.queues.peer().parker.attach();
        self.queues.counters.clock.start();
    }

    /// Blocks until there may be a task to run.
    pub(crate) fn park(&self) {
        self.is_parking.set(true);
        // Also if a hook or the driver panics.
        let _parking = guard((), |()| self.is_parking.set(false));
        park::block(&self.queues, self.begin_park());
    }

    /// Whether the calling thread, which drives this worker, returns to the loop that steps the
    /// worker before it blocks: it is not in a park, where a hook or an observer may run before the
    /// thread blocks, or it is in the driver, which returns after it has called wakers.
    pub(crate) fn will_return_before_it_blocks(&self) -> bool {
        !self.is_parking.get() || self.queues.in_driver.get().is_some()
    }

    /// Yields the processor before a park, so that other threads on it run first, and then checks
    /// whether they have made tasks ready. Returns whether there is a task to run now.
    pub(crate) fn yield_before_park(&self) -> bool {
        let queues = &self.queues;
        if !queues.is_free_running.get() || queues.is_spare || !self.idle_yield.is_due() {
            return false;
        }
        if queues.searching.take() {
            // No pusher relies on this worker while it has no processor.
            queues.end_search();
        }
        let took = queues.counters.yield_processor();
        if took >= IdleYield::MIN_SWITCH_TIME {
            self.poll_driver(EventOrder::Behind);
        }
        let has_task = queues.has_queued() || !queues.shard.injection.is_empty();
        self.idle_yield.record(took, has_task);
        has_task
    }

    /// Parks up to the point where the worker would block. Returns `None` if there is something to
    /// do after all.
    pub(crate) fn begin_park(&self) -> Option<Parked> {
        self.live.reclaim();
        Parked::begin(&self.queues)
    }

    /// Schedules a task that this worker has spawned.
    #[inline]
    pub(crate) fn start(&self, task: Runnable) {
        if self.shard().is_closed() {
            self.shard().refuse(Task(task));
        } else {
            self.queues.schedule_new(Task(task));
        }
    }
}

/// Pinned workers, which stay on their thread because their tasks must. `config/policy.rs` says why
/// no task ever leaves it.
impl Core {
    /// Whether the worker stays on its thread while it has tasks.
    #[inline]
    pub(crate) fn is_pinned(&self) -> bool {
        self.shard().pins_tasks
    }

    /// Whether the calling thread may run the worker.
    pub(crate) fn may_run_here(&self) -> bool {
        !self.is_pinned() || self.live.is_empty() || self.thread.get() == Some(thread::current_id())
    }
}

/// Steps.
impl Core {
    #[inline]
    pub(crate) fn step(&self) -> Step {
        if self.queues.is_spare && self.queues.should_leave() {
            return Step::Shutdown;
        }
        if self.ticks.step() {
            if let Some(step) = self.run_due_tick() {
                return step;
            }
        }
        match self.queues.next_task().or_else(|| self.queues.search()) {
            Some(task) => self.run(task),
            None if self.shard().is_closed() => Step::Shutdown,
            None => Step::Idle,
        }
    }

    /// Does what is due before the worker takes from its own queue. If that is to run a task, the
    /// task is the step.
    #[cold]
    fn run_due_tick(&self) -> Option<Step> {
        let queues = &self.queues;
        let measures = queues.is_free_running.get();
        let busy = measures.then(|| queues.counters.update_poll_average());
        let due = self.ticks.take(busy);
        if due.events {
            self.live.reclaim();
            // Beside slow polls, a worker that has begun none is no sign of an interruption.
            if !self.ticks.has_slow_polls() && !queues.is_spare {
                queues.take_from_interrupted();
            }
            self.poll_driver(match self.ticks.has_slow_polls() {
                true => EventOrder::Next,
                false => EventOrder::Behind,
            });
            if measures {
                self.ticks.restart_clock(queues.counters.clock.busy());
            }
            if self.shard().is_closed() {
                return Some(Step::Shutdown);
            }
        }
        let interval = self.shard().config.global_queue_interval;
        let limit = queues.policy.batch_of_tick(interval);
        let injected = due.injection.then(|| queues.take_injected(limit));
        Some(self.run(injected.flatten()?))
    }

    /// Runs a task. If the worker was handed off meanwhile, another thread drives it, and this
    /// thread gets `Step::Shutdown`.
    #[inline]
    pub(crate) fn run(&self, task: Task) -> Step {
        if self.queues.searching.take() {
            self.queues.end_search();
        }
        self.queues.counters.polls.add(1);
        let outcome = match self.observes {
            Observes::None => self.poll(task),
            Observes::Sample => self.poll_sampled(task),
            Observes::ByObserver => self.poll_observed(task, true),
            Observes::Starts => self.poll_observed(task, false),
            Observes::Each => self.poll_reported(task),
        };
        if !context::is_worker() {
            return self.end_handed_off(outcome);
        }
        self.queues.end_poll();
        match outcome {
            Outcome::Again(task) => {
                self.queues.requeue(Task(task));
                if self.has_yielded.take() {
                    self.count_yield();
                }
            }
            outcome => self.count_elsewhere(&outcome),
        }
        Step::Ran
    }

    /// Counts a task that has completed here, if it was in the live list of another worker.
    #[inline]
    pub(crate) fn count_elsewhere(&self, outcome: &Outcome) {
        if let Outcome::CompleteElsewhere = outcome {
            self.queues.counters.completed_elsewhere.add(1);
        }
    }

    /// Ends the run of a task on a thread that has lost the worker meanwhile. It reads no state of
    /// the worker that the other thread changes.
    #[cold]
    fn end_handed_off(&self, outcome: Outcome) -> Step {
        match outcome {
            Outcome::Idle | Outcome::CompleteElsewhere => {}
            Outcome::Complete => unreachable!("the list that was handed off has the task"),
            Outcome::Again(task) => self.shard().inject(Task(task)),
        }
        Step::Shutdown
    }

    #[inline]
    fn poll(&self, task: Task) -> Outcome {
        raddle_leaf::coop::budget_of(task.0.waker_address(), || {
            let outcome = task.0.run_in(&self.live);
            // A task whose budget is used up has yielded, too.
            if matches!(outcome, Outcome::Again(_))
                && !raddle_leaf::coop::has_budget_remaining()
                && context::is_worker()
            {
                self.queues.counters.budget_yields.add(1);
                self.note_yield();
            }
            outcome
        })
    }

    /// Polls a task, and measures its wait and the time of the poll, if they are in the sample.
    #[inline(never)]
    fn poll_sampled(&self, task: Task) -> Outcome {
        let Some(sampler) = &self.sampler else {
            return self.poll(task);
        };
        let id = NonZeroU64::from(task.0.id()).get();
        if sampler.measures_poll(id) {
            return self.poll_measured(sampler, task, id);
        }
        let outcome = self.poll(task);
        self.count_again(id, &outcome);
        outcome
    }

    #[cold]
    fn poll_measured(&self, sampler: &Sampler, task: Task, id: u64) -> Outcome {
        let timed = sampler.begin_poll(id);
        let outcome = self.poll(task);
        if let Some(timed) = timed.filter(|_| context::is_worker()) {
            sampler.end_poll(timed);
        }
        self.count_again(id, &outcome);
        outcome
    }

    /// Counts a task that is queued again after its poll. A thread that has lost the worker does
    /// not touch the sampler, which another thread uses.
    #[inline]
    fn count_again(&self, id: u64, outcome: &Outcome) {
        if matches!(outcome, Outcome::Again(_)) && context::is_worker() {
            self.count_wake(id);
        }
    }

    /// Counts a task that this worker is about to queue, for the sample of times.
    #[inline]
    pub(crate) fn count_wake(&self, id: u64) {
        if let Some(sampler) = &self.sampler {
            if sampler.measures_wait() {
                sampler.measure_wait(id);
            }
        }
    }

    /// Polls a task and calls the observer, at the end of the poll only if the observer needs it or
    /// if no other event of this worker may follow on this thread.
    #[inline(never)]
    fn poll_observed(&self, task: Task, needs_end: bool) -> Outcome {
        let (number, id) = (self.queues.number(), task.0.id());
        let config = &self.shard().config;
        config.notify(|observer| observer.poll_started(number, TaskRef::new(&task.0)));
        let outcome = self.poll_sampled(task);
        let worker = context::is_worker().then_some(number);
        let result = PollResult::of(&outcome);
        if !needs_end && worker.is_some() && self.queues.is_free_running.get() {
            context::set_ended_poll(id, result);
            return outcome;
        }
        config.notify(|observer| observer.poll_finished(worker, id, result));
        self.shard().notify_if_ended(result, id, &None);
        outcome
    }

    /// Polls a task, calls the observer and the hooks, and records the poll of a spare worker and
    /// the time of the poll.
    #[inline(never)]
    fn poll_reported(&self, task: Task) -> Outcome {
        let (number, config) = (self.queues.number(), &self.shard().config);
        let (id, meta) = (task.0.id(), TaskRef::new(&task.0).meta());
        config.notify(|observer| observer.poll_started(number, TaskRef::new(&task.0)));
        call_hook(&config.task_hooks.before_poll, &meta);
        let histogram = self.queues.counters.poll_times.as_ref();
        let timed = histogram.map(|histogram| (histogram, Instant::now()));
        if self.queues.is_spare {
            let spare = self.shard().spare_of(self.queues.index);
            spare.set_polled(task.0.future_name());
        }
        let outcome = self.poll_sampled(task);
        let worker = context::is_worker().then_some(number);
        if let (Some((histogram, start)), Some(_)) = (timed, worker) {
            histogram.record(start.elapsed());
        }
        call_hook(&config.task_hooks.after_poll, &meta);
        let result = PollResult::of(&outcome);
        config.notify(|observer| observer.poll_finished(worker, id, result));
        self.shard().notify_if_ended(result, id, &meta);
        outcome
    }
}

/// Polling the driver between steps.
impl Core {
    /// Lets the driver wake the tasks whose events are ready, unless another worker has the driver,
    /// or is the attendant and about to take it.
    #[cold]
    fn poll_driver(&self, order: EventOrder) {
        self.yields.set(0);
        if !self.queues.may_poll_driver() {
            return;
        }
        // Returned even if the driver panics.
        let mut lent = guard(self.shard().driver.take(), |driver| {
            self.shard().return_driver(driver);
        });
        let Some(driver) = &mut *lent else {
            return;
        };
        let counters = &self.queues.counters;
        let before = counters.local_schedules.get();
        driver::run(&self.queues, driver, Some(Duration::ZERO), order);
        if counters.local_schedules.get() != before {
            counters.late_events.add(1);
        }
        drop(lent);
        // A worker that is notified may wait in the driver.
        driver::notify_of_events(&self.queues);
    }

    /// Records that a future yields in the current poll.
    #[inline]
    pub(crate) fn note_yield(&self) {
        self.has_yielded.set(true);
    }

    /// Counts a task that has yielded and is queued again. If all queued tasks have yielded, polls
    /// the driver: a task that yields until an event has come must not keep the worker from the
    /// driver for many polls. A task that is queued behind one that yielded is not counted, so the
    /// queue is longer than the count while there is such a task, or the count is too high and the
    /// driver is polled early.
    #[inline]
    fn count_yield(&self) {
        self.yields.set(self.yields.get() + 1);
        if self.yields.get() >= self.queues.queued_len() && !self.queues.has_next() {
            self.poll_driver(EventOrder::Next);
        }
    }

    /// Polls the driver if the future of `block_on` has yielded. The caller has no task to run.
    pub(crate) fn poll_driver_if_yielded(&self) {
        if self.has_yielded.take() {
            self.poll_driver(EventOrder::Next);
        }
    }
}
