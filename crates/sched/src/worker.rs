//! A worker: a state machine that runs tasks one step at a time.

mod park;
mod pinned;
mod queue;
mod run;
mod search;
pub(crate) mod seat;
mod slot;
pub(crate) mod stepped;
mod turns;
mod watch;
mod yields;

use std::cell::{Cell, OnceCell};
use std::future::Future;
use std::time::Duration;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::Arc;
use raddle_primitives::thread::ThreadId;
use raddle_queue::{Injection, Owner};
use raddle_task::{Id as TaskId, JoinHandle, LiveList, Runnable};

use crate::context;
use crate::id::Id;
use crate::metrics::Counters;
use crate::monitor::Looks;
use crate::policy::Order;
use crate::shards::Shards;
use crate::shared::{Remote, Shared};
use crate::shutdown;
use crate::task::{self, Task};
use seat::{Seat, Vacancy};
use slot::STREAK;
use turns::Turns;
use yields::Yields;

/// What a step came to.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A task was run.
    Ran,
    /// There is nothing to run: the worker should park.
    Idle,
    /// The scheduler is shutting down: the worker should be dropped.
    Shutdown,
}

/// One of a scheduler's workers, to be driven by one thread at a time.
///
/// Dropping it hands it in: what it had to run goes to the other workers, and
/// the last to be dropped drops every task of the scheduler.
pub struct Worker {
    /// There until the drop.
    seat: Option<Seat>,
    /// Whether it is this thread that drives the worker. If it was displaced
    /// from it, the seat only keeps the memory.
    held: Cell<bool>,
    vacancy: Vacancy,
    /// What it waits for, if it has parked without blocking.
    parked: Option<park::Parked>,
}

impl Worker {
    pub(crate) fn new(seat: Seat) -> Self {
        Self {
            seat: Some(seat),
            held: Cell::new(true),
            vacancy: Vacancy::default(),
            parked: None,
        }
    }

    /// Runs one unit of work.
    pub fn step(&mut self) -> Step {
        let core = self.awake();
        let _worker = context::enter_worker(core);
        core.step()
    }

    /// Blocks until there may be something to do, at most for `timeout`.
    pub fn park(&mut self, timeout: Option<Duration>) {
        let core = self.awake();
        core.attach();
        let _worker = context::enter_worker(core);
        core.park(timeout);
        core.detach();
    }

    /// Steps and parks until the scheduler shuts down, or until a task has
    /// another thread drive the worker, to [block](crate::block_in_place) on
    /// this one.
    pub fn run(mut self) {
        self.end_park();
        let core = self.core();
        core.attach();
        core.keep_time();
        let _post = context::enter_post(&self);
        if core.shared.is_closed() {
            // Its surroundings may be gone already: it comes up too late.
            return;
        }
        loop {
            match core.step() {
                Step::Ran => {}
                Step::Idle => core.park(None),
                Step::Shutdown => return,
            }
        }
    }

    pub(crate) fn core(&self) -> &Core {
        self.seat
            .as_ref()
            .expect("a worker has its seat until it is dropped")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.leak_if_bound_elsewhere();
        let leaving = Leaving(self);
        leaving.0.end_park();
    }
}

/// Hands a worker in when it is dropped, also by a panic of the hook that is told
/// of the end of its park.
struct Leaving<'a>(&'a mut Worker);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        let Some(seat) = self.0.seat.take() else {
            return;
        };
        if self.0.held.get() {
            seat.detach();
            shutdown::hand_in(seat);
        } else {
            shutdown::stand_down(seat);
        }
    }
}

/// The state of a worker that only its own thread touches.
pub(crate) struct Core {
    /// That of the scheduler, close at hand.
    pub(crate) scheduler: Id,
    shared: Arc<Shared>,
    index: usize,
    pub(crate) queue: Owner<Task>,
    /// Whether the next push to the queue needs a notification, whatever it finds:
    /// tasks were put there without one.
    force_notify: Cell<bool>,
    /// What a full queue leaves behind that is kept in order.
    backlog: Injection<Task>,
    pub(crate) live: LiveList,
    pub(crate) counters: Arc<CachePadded<Counters>>,
    /// Whether a hook or the histogram wants to know of each poll.
    observes: bool,
    /// Where woken and spawned tasks go.
    order: Order,
    /// Whether they go through the next-task slot.
    has_slot: bool,
    /// The thread that runs a pinned worker.
    thread: Cell<Option<ThreadId>>,
    /// The whole scheduler, if this is the worker of a shard.
    shards: OnceCell<Arc<Shards>>,
    /// Whether there is another worker to tell of new work.
    has_others: bool,
    /// How often in a row the slot went before the queue.
    slot_streak: Cell<u32>,
    /// The task that was woken last, and how often in a row it was, which says
    /// whether it goes through the slot.
    last_woken: Cell<Option<TaskId>>,
    last_wakes: Cell<u32>,
    turns: Turns,
    yields: Yields,
    /// Whether the time that steps take says how often there is a turn: not for
    /// whoever steps the worker, who may take their time in between.
    timed: Cell<bool>,
    /// Whether `Idle` counts this worker as searching.
    searching: Cell<bool>,
    /// Whether tasks are made ready by the driver, which wakes others once,
    /// when it is through.
    in_driver: Cell<bool>,
    random: Cell<u32>,
    /// When it looks at the others, as the monitor.
    looks: Looks,
}

impl Core {
    pub(crate) fn new(shared: Arc<Shared>, index: usize, queue: Owner<Task>, order: Order) -> Self {
        let number = u32::try_from(index + 1).expect("MAX_WORKERS fits");
        Self {
            queue,
            force_notify: Cell::new(false),
            backlog: Injection::with_name("backlog of a worker"),
            counters: shared.remotes[index].counters.clone(),
            observes: shared.config.observes_runs(),
            live: LiveList::new(),
            order,
            has_slot: order == Order::Slot && shared.config.next_task_slot,
            thread: Cell::new(None),
            shards: OnceCell::new(),
            has_others: shared.remotes.len() > 1,
            slot_streak: Cell::new(0),
            last_woken: Cell::new(None),
            last_wakes: Cell::new(0),
            turns: Turns::new(
                shared.config.global_queue_interval,
                shared.config.event_interval,
            ),
            yields: Yields::default(),
            timed: Cell::new(false),
            searching: Cell::new(false),
            in_driver: Cell::new(false),
            random: Cell::new(number.wrapping_mul(0x9E37_79B9)),
            looks: Looks::default(),
            scheduler: shared.id,
            shared,
            index,
        }
    }

    #[inline]
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn shared_arc(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(crate) fn index(&self) -> usize {
        self.index
    }

    /// Says that the calling thread drives the worker.
    pub(crate) fn attach(&self) {
        self.remote().parker.attach();
        self.counters.clock.start();
    }

    /// Says that nobody drives the worker for the time being.
    pub(crate) fn detach(&self) {
        self.counters.rest();
    }

    /// Lets the time that steps take count.
    pub(crate) fn keep_time(&self) {
        self.timed.set(cfg!(not(raddle_loom)));
    }

    #[inline]
    pub(crate) fn step(&self) -> Step {
        if self.turns.step() {
            if let Some(step) = self.look_around() {
                return step;
            }
        }
        match self.next_task().or_else(|| self.search()) {
            Some(task) => self.run(task),
            None if self.shared.is_closed() => Step::Shutdown,
            None => Step::Idle,
        }
    }

    /// Sees to what is due before the worker's own queue. If that is a task, it
    /// is the step.
    #[cold]
    fn look_around(&self) -> Option<Step> {
        let busy = || self.timed.get().then(|| self.counters.take_time());
        let due = self.turns.take(busy);
        if due.events {
            self.live.reclaim();
            self.look_at_driver();
            if self.shared.is_closed() {
                return Some(Step::Shutdown);
            }
        }
        let interval = self.shared.config.global_queue_interval;
        let limit = self.order.batch_of_turn(interval);
        let task = due.injection.then(|| self.take_injected(limit)).flatten()?;
        Some(self.run(task))
    }

    /// Spawns a task onto this worker.
    #[inline]
    #[track_caller]
    pub(crate) fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (task, handle) = task::spawn(&self.shared, future);
        self.start(task);
        handle
    }

    /// Schedules a task that this worker has spawned.
    #[inline]
    pub(crate) fn start(&self, task: Runnable) {
        if self.shared.is_closed() {
            self.shared.cancel(Task(task));
        } else {
            self.schedule_new(Task(task));
        }
    }

    /// Queues a task behind the others.
    #[inline]
    fn push_back(&self, task: Task) {
        if self.order != Order::Slot {
            return self.push_by_order(task);
        }
        if self.push_needs_notify(task) && self.has_others && !self.in_driver.get() {
            self.shared.notify_of_push(self.index);
        }
    }

    fn next_task(&self) -> Option<Task> {
        let streak = self.slot_streak.get();
        if streak < STREAK {
            if let Some(task) = self.take_slot() {
                self.slot_streak.set(streak + 1);
                return Some(task);
            }
        }
        self.slot_streak.set(0);
        self.pop()
            .or_else(|| self.take_slot())
            .or_else(|| self.take_injected(self.order.batch()))
    }

    /// Takes a fair share of the injection queue, at most `limit` tasks, into
    /// the local queue, and returns the first.
    fn take_injected(&self, limit: usize) -> Option<Task> {
        let injection = &self.shared.injection;
        if injection.is_empty() {
            return None;
        }
        let share = injection.len() / self.shared.remotes.len() + 1;
        let limit = limit.min(share).min(raddle_queue::local::CAPACITY / 2);
        let taken = injection.pop_into(limit, &self.queue)?;
        // While they were on their way here a searcher could see them nowhere,
        // and may have gone to sleep. A worker that searches itself notifies
        // when it runs the first.
        if taken.moved > 0 && self.has_others {
            match self.searching.get() {
                true => self.shared.stealable.insert(self.index),
                false => self.shared.notify_of_push(self.index),
            }
        }
        Some(taken.first)
    }

    #[inline]
    pub(crate) fn remote(&self) -> &Remote {
        &self.shared.remotes[self.index]
    }
}
