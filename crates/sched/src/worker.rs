//! A worker: a state machine that runs tasks one step at a time.

pub(crate) mod core;
pub(crate) mod core_ref;
mod driver;
mod next_task;
mod park;
mod queues;
pub(crate) mod retirement;
mod root_future;
mod search;
pub(crate) mod shard;
pub(crate) mod sharing;
pub(crate) mod ticks;

use std::cell::Cell;
use std::fmt;
use std::time::Duration;

use raddle_primitives::sync::Arc;
use raddle_queue::Owner;
use scopeguard::guard;

use crate::context;
use crate::monitor::{self, Monitor};
use crate::shutdown;
use crate::task::Task;
use core::{Core, Step};
use core_ref::{CoreRef, HandoffSlot};
use park::Parked;
use queues::EventOrder;
use retirement::Retirement;
use shard::Shard;

/// The wait of a worker that has parked without blocking its thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerWait {
    /// Whether the worker waits in the driver, until the driver has an event or is unparked.
    /// Otherwise it waits until [`Worker::is_unparked`] returns true.
    pub in_driver: bool,
}

/// A worker of a scheduler. One thread at a time drives it.
///
/// Dropping a worker retires it: its queued tasks go to the other workers. When the last worker is
/// dropped, every task of the scheduler is dropped.
pub struct Worker {
    /// `Some` until the drop.
    core: Option<CoreRef>,
    /// Whether this thread drives the worker. If the worker was handed off to another thread,
    /// `core` only keeps its memory.
    held: Cell<bool>,
    pub(crate) handoff_slot: HandoffSlot,
    /// The present wait, if the worker has parked without blocking.
    parked: Option<Parked>,
}

impl Worker {
    /// Makes the workers of a shard, one for each queue. No thread drives them yet.
    pub(crate) fn build(
        shard: Arc<Shard>,
        first_shard: &Arc<Shard>,
        queues: Vec<Owner<Task>>,
    ) -> impl Iterator<Item = Self> {
        let retirement = Arc::new(Retirement::new(shard));
        queues.into_iter().enumerate().map(move |(index, queue)| {
            let core = Core::new(retirement.clone(), first_shard, index, queue);
            Self::new(CoreRef::new(core))
        })
    }

    pub(crate) fn new(core: CoreRef) -> Self {
        // Until a thread runs its loop: another one may have run a spare worker before.
        core.queues.is_free_running.set(false);
        Self {
            core: Some(core),
            held: Cell::new(true),
            handoff_slot: HandoffSlot::default(),
            parked: None,
        }
    }

    /// Runs one task, if there is one.
    pub fn step(&mut self) -> Step {
        let core = self.awake();
        let _worker = core.enter();
        core.step()
    }

    /// Blocks until there may be a task to run.
    pub fn park(&mut self) {
        let core = self.awake();
        core.attach();
        let _worker = core.enter();
        core.park();
        core.queues.counters.stop_clock();
    }

    /// Steps and parks until the scheduler shuts down, or until the worker is handed off because a
    /// task [blocks](crate::block_in_place) on this thread.
    ///
    /// ```
    /// use std::thread;
    ///
    /// use raddle_sched::{Config, Pool};
    ///
    /// let (handle, workers) = Pool::stepped(Config { workers: 2, ..Config::default() }, None);
    /// // The caller starts the threads, for instance to bind each to a processor.
    /// for worker in workers {
    ///     let handle = handle.clone();
    ///     thread::spawn(move || {
    ///         let _entered = handle.enter();
    ///         worker.run();
    ///     });
    /// }
    /// let task = handle.spawn(async { 42 });
    /// assert_eq!(handle.block_on(task).unwrap(), 42);
    /// ```
    pub fn run(mut self) {
        self.end_park();
        let core = self.core();
        let _loop = context::enter_loop(&self);
        let _worker = core.enter();
        if core.shard().is_closed() {
            // The scheduler was closed before this thread started; the runtime may be gone. The
            // metrics do not show who came first: the worker counts as parked until the shutdown.
            core.attach();
            core.queues.counters.count_park();
            core.queues.counters.unparks.add(1);
            return;
        }
        let _driving = begin_driving(core);
        loop {
            match core.step() {
                Step::Ran => {}
                Step::Idle if core.yield_before_park() => {}
                Step::Idle => core.park(),
                Step::Shutdown => return,
            }
        }
    }

    pub(crate) fn core(&self) -> &Core {
        self.core
            .as_ref()
            .expect("a worker has its core until it is dropped")
    }

    /// Offers the worker to other threads during a poll. The caller must [take it
    /// back](Self::take_back) afterwards. Returns whether another thread must be requested.
    pub(crate) fn leave(&self) -> bool {
        let core = self.core.as_ref();
        core.is_some_and(|core| self.handoff_slot.put(core.share()))
    }

    /// Takes the worker back. Returns `false` if another thread has it.
    pub(crate) fn take_back(&self) -> bool {
        let is_back = self.handoff_slot.take_back().is_some();
        self.held.set(is_back);
        is_back
    }
}

/// Parking without blocking, for callers that drive several workers from one thread:
/// `docs/stepped-testing.md`.
impl Worker {
    /// Parks like [`park`](Self::park), but returns where that would block. Returns `None` if there
    /// is work after all: step the worker then.
    ///
    /// The caller must call [`resume_park`](Self::resume_park) when the wait has ended. A step also
    /// ends the parking, as if the worker had woken by itself.
    ///
    /// ```
    /// use raddle_sched::{Config, Pool, Step};
    ///
    /// let (handle, mut workers) = Pool::stepped(Config::default(), None);
    /// let _entered = handle.enter();
    /// let worker = &mut workers[0];
    /// assert!(worker.begin_park().is_some(), "it has no task");
    /// let task = handle.spawn(async { 42 });
    /// // The spawn has unparked the worker, which finds the task.
    /// assert!(worker.is_unparked());
    /// assert_eq!(worker.resume_park(), None);
    /// assert_eq!(worker.step(), Step::Ran);
    /// assert!(task.is_finished());
    /// ```
    pub fn begin_park(&mut self) -> Option<WorkerWait> {
        let core = self.awake();
        core.attach();
        let parked = {
            let _worker = core.enter();
            core.begin_park()
        };
        self.wait_as(parked)
    }

    /// Returns the monitor of the pool.
    pub fn monitor(&self) -> Monitor {
        Monitor(self.core().retirement.clone())
    }

    /// Returns whether a worker that waits outside the driver was unparked. Its wait has ended
    /// then.
    pub fn is_unparked(&self) -> bool {
        self.core().queues.peer().parker.is_notified()
    }

    /// Continues a park after the wait, and polls the driver if the worker waited there. Returns
    /// `None` if the worker has stopped parking: step it then. Otherwise returns its next wait.
    pub fn resume_park(&mut self) -> Option<WorkerWait> {
        let core = self
            .core
            .as_deref()
            .expect("a worker has its core until it is dropped");
        let worker = core.enter();
        // Kept while the driver runs, and given back also if the driver panics.
        if let Some(driver) = &mut self.parked.as_mut()?.driver {
            driver::run(
                &core.queues,
                driver,
                Some(Duration::ZERO),
                EventOrder::Behind,
            );
        }
        let parked = self.parked.take();
        let parked = parked.and_then(|parked| parked.end_wait(&core.queues));
        drop(worker);
        self.wait_as(parked)
    }

    /// Stops parking, if the worker is parked.
    fn end_park(&mut self) {
        if let Some(parked) = self.parked.take() {
            let core = self.core();
            let _worker = core.enter();
            parked.abort(&core.queues);
        }
    }

    /// The core of the worker, which does not park any more.
    #[inline]
    fn awake(&mut self) -> &Core {
        self.end_park();
        self.core()
    }

    fn wait_as(&mut self, parked: Option<Parked>) -> Option<WorkerWait> {
        self.parked = parked;
        self.parked.as_ref().map(|parked| WorkerWait {
            in_driver: parked.driver.is_some(),
        })
    }
}

/// The calling thread, which has entered the worker, drives it in a loop until the guard is
/// dropped.
pub(crate) fn begin_driving(core: &Core) -> impl Drop {
    let queues = &core.queues;
    core.attach();
    queues.end_poll();
    // In a model no time passes.
    queues.is_free_running.set(cfg!(not(raddle_loom)));
    monitor::thread::watch(&core.retirement);
    queues.notify_observer(|observer, worker| observer.worker_started(worker));
    guard(raddle_task::memory::keep(), |_keeper| {
        if context::is_worker() {
            queues.notify_observer(|observer, worker| observer.worker_stopped(worker));
        }
    })
}

/// Panics if the worker has tasks that cannot be dropped on this thread, and leaks it; does not
/// panic while another panic unwinds, which would abort.
impl Drop for Worker {
    fn drop(&mut self) {
        if let Some(core) = self.core.take_if(|core| !core.may_run_here()) {
            std::mem::forget((core, self.parked.take()));
            assert!(
                std::thread::panicking(),
                "a worker of a sharded scheduler was dropped on another thread while it has tasks, \
                 and is leaked; drop it on the thread that runs it"
            );
        }
        // Retired also by a panic of the hook that is called when its park ends.
        let mut leaving = guard(self, |worker| {
            match (worker.core.take(), worker.held.get()) {
                (None, _) => {}
                (Some(core), true) => shutdown::retire(core),
                (Some(core), false) => shutdown::finish_handed_off(core),
            }
        });
        leaving.end_park();
    }
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("number", &self.core().queues.number())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
