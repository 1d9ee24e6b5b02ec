//! Blocking inside a task, while another thread drives the worker.
//!
//! 1. The thread in the poll removes the worker from its thread-locals. From now on tasks that it
//!    spawns or wakes go through the injection queue. The task in the next-task slot moves to the
//!    run queue, where other workers can steal it.
//! 2. It puts a `CoreRef`, the right to drive the worker, into the handoff slot, and passes a
//!    `Handoff` to `Config::handoff`. While a `Handoff` has not been run, the worker makes no
//!    second one: many quick functions wake one thread.
//! 3. It calls the function, outside the budget of the poll.
//! 4. If the worker is still in the slot afterwards, the thread takes it back.
//! 5. Otherwise the worker is *handed off*: the thread finishes the poll without it, and then
//!    leaves the worker's loop.
//!
//! The idle protocol sees a worker in the slot as running. Its count of polls does not change; the
//! monitor finds it stuck, and other workers take its tasks.
//!
//! # Why the poll ends without its worker
//!
//! A task may hold a lock while it blocks in place, and release it later in the same poll. Another
//! task, on the thread that drives the worker now, may block on that lock. If the first thread
//! waited for the worker, neither would continue. A running worker also need not check whether an
//! earlier thread wants it back.
//!
//! # Which thread may touch what
//!
//! A worker's state (`Core`) is not `Sync`. Four rules make the handoff sound:
//!
//! 1. **Only one `CoreRef` of each worker may be used.** A `Worker`, a handoff slot or the list of
//!    retired workers holds it. It changes hands under a lock.
//! 2. **A thread in a handed-off poll does not touch the core.** The frames of the loop and of the
//!    poll still refer to it; the thread's `Worker` keeps the memory until they are gone. The
//!    thread reads only what never changes (the shard, the index) and the number of the live
//!    list. Right after the poll, `Core::run` checks whether the thread still has its worker.
//! 3. **A worker is handed off only in a poll.** Hooks, the driver and its unpark are user code
//!    that a worker calls outside polls; a task hook and an unpark may also run in a spawn or wake
//!    that a poll makes. The calls inside polls pin the thread to its worker, and so must new code
//!    that calls user code during a poll. `LiveList::prepare_handoff` returns whether the running
//!    task is the one that the list has run last, and is not complete: false outside polls, and in
//!    a task that another task polls by hand.
//! 4. **The task in the poll does not touch its live list when it completes.** `prepare_handoff`
//!    adopts the task, if this is its first poll, and marks it. A marked task completes like a task
//!    of another thread's list: by the bit of its slot.
//!
//! A handed-off poll needs the worker in none of its outcomes: a pending task needs nothing, a
//! woken one goes to the injection queue, a complete one sets its bit and is counted by a
//! read-modify-write.
//!
//! # Shutdown
//!
//! The function may wait for the drop of a task, or for a timer or a socket that no worker polls
//! any more. The worker that retires last therefore *releases* the handed-off polls:
//!
//! 1. It aborts and cancels every task except theirs.
//! 2. It closes the injection queue and looks into it once more. A thread that is just waking a
//!    task has its task found there, or is refused and cancels it.
//! 3. It shuts the driver down: a sleep panics, an operation on a socket returns an error.
//!
//! Meanwhile this thread holds all workers, so that the end of the last handed-off poll does not
//! find them all retired. The last thread, that of the last poll or the releasing one, then
//! finishes the shutdown. The thread that takes the worker from the slot increments the number of
//! handed-off polls under the slot's lock; the end of the poll decrements it; both under the lock
//! of the retired workers.
//!
//! A worker in a slot for which no thread comes, because the system refuses one or the pool is at
//! its limit, would never retire. `Retired::handoff_slots` keeps, for each worker, the slot for
//! which a thread was last requested. `Pool::shutdown` takes the worker out of it and retires it,
//! again whenever a thread leaves its worker meanwhile. A `Handoff` that is dropped after the
//! scheduler was closed retires its worker too. A poll that waits for the driver without
//! `block_in_place` keeps its worker, and the driver is shut down after that has retired, as in
//! Tokio.
//!
//! # Callers without a handoff
//!
//! | caller | result |
//! |---|---|
//! | a worker without `Config::handoff` or stepped; a task polled by hand inside a poll; a hook; the drop of a task in the shutdown | the worker stays with the thread; its tasks wait unless other workers steal them |
//! | a second call in the same poll, or inside the function | the function runs at once |
//! | `Pool::block_on`, threads outside every scheduler | the function runs, and may block on futures |
//! | the current-thread scheduler, a sharded worker, and in the facade a `LocalSet` | a panic: no other thread could drive the other tasks |

use std::fmt;
use std::ptr;

use scopeguard::guard;

use crate::context;
use crate::handle::Handle;
use crate::id::Id;
use crate::shutdown;
use crate::worker::Worker;
use crate::worker::core::Core;
use crate::worker::core_ref::{CoreRef, HandoffSlot};

/// Calls a function that may block on the calling thread, inside a task or not.
///
/// On a worker of a [`Pool`](crate::Pool) the other tasks continue:
/// [`Config::handoff`](crate::Config::handoff) has another thread drive the worker. If `f` returns
/// before that thread takes the worker over, the calling thread keeps the worker; otherwise it
/// finishes the poll without the worker. If no other thread is available, the worker's tasks wait
/// unless other workers steal them.
///
/// Other futures of the same task, in a `join!` for instance, wait until `f` returns.
///
/// Inside `f` the scheduler is the current one, so `f` can spawn tasks and block on futures.
/// Operations inside `f` do not take units of the task's budget. Inside another `f`, in the future
/// of [`Handle::block_on`](crate::Handle::block_on), on a thread that drives no tasks and on a
/// stepped worker, `f` is called without a handoff.
///
/// # Panics
///
/// Panics if `f` does, if the thread is inside
/// [`CurrentThread::block_on`](crate::CurrentThread::block_on), where no other thread could run the
/// tasks, or if it drives a worker of [`Policy::Sharded`](crate::Policy::Sharded), whose tasks stay
/// on their thread.
#[track_caller]
pub fn block_in_place<F, R>(f: F) -> R
where
    F: FnOnce() -> R,
{
    assert!(
        !context::drives_current_thread(),
        "block_in_place needs the multi-thread runtime, since no other thread could run the \
         other tasks here; use spawn_blocking"
    );
    assert!(
        !context::with_core(|core| core.is_some_and(Core::is_pinned)),
        "block_in_place needs workers whose tasks may go to another thread, and those of \
         Policy::Sharded may not; use spawn_blocking"
    );
    context::with_driven(|worker| {
        // Also when `f` panics.
        let _absence = leave(worker);
        raddle_leaf::coop::unlimited(f)
    })
}

/// Makes the calling thread leave the worker that it runs, until the guard is dropped. Offers the
/// worker to other threads if it is `driven`, the worker whose loop the thread runs: the thread may
/// also run another worker inside that loop.
fn leave(driven: Option<&Worker>) -> impl Drop {
    let (worker, scheduler) = context::with_core(|core| {
        let is_core = |worker: &&Worker| core.is_some_and(|core| ptr::eq(core, worker.core()));
        (driven.filter(is_core), core.map(|core| core.scheduler))
    });
    let left = context::leave(scheduler);
    // The worker, if other threads may take it over, and whether one must be requested.
    let offered = worker.and_then(|worker| Some((worker, offer(worker)?)));
    let absence = guard(left, move |left| {
        left.come_back(offered.is_some_and(|(worker, _)| !worker.take_back()));
    });
    if let Some((worker, needs_thread)) = offered {
        request_thread(worker, needs_thread);
    }
    absence
}

/// Whether the calling thread runs the loop of a worker of `scheduler`, finishes a handed-off poll
/// of it, or has left a worker of it.
pub(crate) fn is_in_loop_of(scheduler: Id) -> bool {
    context::with_driven(|worker| worker.is_some_and(|worker| worker.core().scheduler == scheduler))
        || context::left() == Some(scheduler)
}

/// Offers a worker to other threads during a poll. Returns whether another thread must be requested
/// to drive it. Returns `None`, and changes nothing, if the worker must stay: no handoff is
/// configured, or the thread is not in a poll.
///
/// The calling thread has called [`context::leave`].
fn offer(worker: &Worker) -> Option<bool> {
    let core = worker.core();
    if core.shard().config.handoff.is_none() || !core.live.prepare_handoff() {
        return None;
    }
    // Other workers can steal it from the queue if no thread takes the worker over.
    core.queues.empty_slot_into_queue();
    Some(worker.leave())
}

/// Announces a worker that the thread has left to the shutdown, and requests another thread to
/// drive it if `needs_thread` is true.
fn request_thread(worker: &Worker, needs_thread: bool) {
    let core = worker.core();
    // CHECK: the shutdown, which may have checked the slot after the former request and before the
    // thread left its worker again.
    if !needs_thread && !core.shard().is_closed() {
        return;
    }
    let slot = worker.handoff_slot.clone();
    let retirement = &core.retirement;
    // If no thread takes the worker, the shutdown finds it here.
    let mut retired = retirement.retired.lock();
    let former = retired
        .handoff_slots
        .insert(core.queues.index as u64, slot.clone());
    drop(retired);
    drop(former);
    retirement.changed.notify_all();
    if let (true, Some(handoff)) = (needs_thread, &core.shard().config.handoff) {
        handoff(Handoff {
            worker: core.queues.number(),
            slot: Some(slot),
        });
    }
}

/// A worker to be driven by another thread: one whose thread is in
/// [`block_in_place`](crate::block_in_place), or a spare worker. While a handoff has not been run
/// or dropped, the worker requests no second one, even if its thread returns and blocks again.
///
/// Dropping the handoff of a spare worker returns the worker; the monitor requests a thread again
/// after 100 ms. Dropping another one leaves the worker where it is: its tasks wait until the
/// function that blocks returns, unless other workers steal them. If the scheduler is shutting
/// down, dropping it retires the worker, on the thread that drops it.
///
/// ```
/// use std::sync::{Arc, mpsc};
/// use std::thread;
///
/// use raddle_sched::{Config, Handoff, Pool};
///
/// // A thread for each handoff. A runtime takes threads of its blocking pool.
/// let start = |handoff: Handoff| drop(thread::spawn(|| handoff.run()));
/// let config = Config { handoff: Some(Arc::new(start)), ..Config::default() };
/// let pool = Pool::start(config, None)?;
/// let blocks = pool.handle().spawn(async {
///     let (sender, receiver) = mpsc::channel();
///     raddle_sched::spawn(async move { sender.send(42) });
///     // The pool has one worker, which the other task needs.
///     raddle_sched::block_in_place(|| receiver.recv().unwrap())
/// });
/// assert_eq!(pool.handle().block_on(blocks).unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use = "dropping it leaves tasks waiting; call run on some thread"]
pub struct Handoff {
    worker: usize,
    /// `Some` until the handoff is run or dropped.
    slot: Option<HandoffSlot>,
}

impl Handoff {
    /// A spare worker that is to serve. The caller announces the slot to the shutdown.
    pub(crate) fn of_spare(worker: usize, slot: HandoffSlot) -> Self {
        Self {
            worker,
            slot: Some(slot),
        }
    }

    /// Returns the index of the worker; those of spare workers follow those of the others.
    pub fn worker(&self) -> usize {
        self.worker
    }

    /// Drives the worker on the calling thread, until the scheduler shuts down, until a task of the
    /// worker blocks in place and another thread takes the worker over, or until a spare worker is
    /// not needed any more. Returns at once if another thread has the worker already.
    ///
    /// Meanwhile the scheduler is the current one.
    /// [`Config::around_worker`](crate::Config::around_worker) is not called: the caller sets up
    /// everything else that tasks expect, such as what belongs to the [worker](Self::worker).
    pub fn run(mut self) {
        let Some(slot) = self.slot.take() else { return };
        if let Some(core) = slot.take_requested(|_| true) {
            match slot.is_of_spare() {
                true => core.queues.begin_as_spare(),
                false => core
                    .queues
                    .notify_observer(|observer, worker| observer.worker_handed_off(worker)),
            }
            drive(core);
        }
    }

    /// Returns the worker for a caller that steps it, or `None` if another thread has it already.
    /// Drop the worker when a step returns [`Step::Shutdown`](crate::Step::Shutdown): a spare
    /// worker leaves, and comes back in a later handoff.
    pub fn into_worker(mut self) -> Option<Worker> {
        let slot = self.slot.take()?;
        let core = slot.take_requested(|_| true)?;
        if slot.is_of_spare() {
            core.queues.begin_as_spare();
        }
        Some(Worker::new(core))
    }
}

impl Drop for Handoff {
    fn drop(&mut self) {
        let Some(slot) = self.slot.take() else { return };
        if slot.is_of_spare() {
            if let Some(core) = slot.take_requested(|_| true) {
                shutdown::return_unused(core);
            }
            return;
        }
        // CHECK: the shutdown, which otherwise looks for the worker later than this.
        if let Some(core) = slot.take_requested(|core| core.shard().is_closed()) {
            shutdown::retire(core);
        }
    }
}

impl fmt::Debug for Handoff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handoff")
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}

/// Drives a worker that another thread has left.
fn drive(core: CoreRef) {
    let handle = Handle::of_worker(&core);
    let _current = handle.enter();
    Worker::new(core).run();
}
