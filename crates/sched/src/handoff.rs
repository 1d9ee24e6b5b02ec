//! Blocking inside a task, while another thread drives the worker: `docs/block-in-place.md`.

use crate::config::relief::{Handoff, Relief};
use crate::context::{self, Left};
use crate::handle::Handle;
use crate::id::Id;
use crate::shutdown;
use crate::worker::Worker;
use crate::worker::core::Core;
use crate::worker::core_ref::HandoffSlot;

/// Calls a function that may block, on this thread, also inside a task.
///
/// On a worker of a [`Pool`](crate::Pool) the other tasks go on meanwhile:
/// [`Config::relief`](crate::Config::relief) gets another thread to drive the
/// worker. If `f` returns before that thread has come, the calling one keeps the
/// worker; otherwise it ends the poll without. Without another thread the tasks
/// of the worker wait, unless other workers steal them.
///
/// What else the task does at the same time, in `join!` for instance, waits.
///
/// Inside `f` the scheduler is the current one, so that it can spawn; it may
/// block on futures; and the budget of the poll is not counted. Inside `f` or
/// the future of [`Handle::block_on`](crate::Handle::block_on), on a thread that
/// drives no tasks, and on workers that are stepped, `f` is just called.
///
/// # Panics
///
/// If `f` does; and on a thread that is inside
/// [`CurrentThread::block_on`](crate::CurrentThread::block_on), where no other
/// thread could run the tasks; and on a worker of
/// [`Policy::Sharded`](crate::Policy::Sharded), whose tasks stay on their thread.
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
        !Core::current().is_some_and(Core::is_pinned),
        "block_in_place needs workers whose tasks may go to another thread, and those of \
         Policy::Sharded may not; use spawn_blocking"
    );
    let absence = Absence::begin();
    if let Some(worker) = absence.worker {
        request_thread(worker);
    }
    raddle_coop::unlimited(f)
}

/// Ends in its drop, also when the function panics.
struct Absence<'a> {
    /// The worker, if others may have it meanwhile.
    worker: Option<&'a Worker>,
    /// There until the drop.
    left: Option<Left>,
}

impl Absence<'_> {
    fn begin() -> Self {
        let worker = driven().filter(|worker| is_running(worker));
        let left = context::leave(Core::current().map(|core| core.scheduler));
        Self {
            worker: worker.filter(|worker| leave(worker)),
            left: Some(left),
        }
    }
}

impl Drop for Absence<'_> {
    fn drop(&mut self) {
        let is_handed_off = self.worker.is_some_and(|worker| !worker.take_back());
        if let Some(left) = self.left.take() {
            left.come_back(is_handed_off);
        }
    }
}

/// The worker whose loop the calling thread runs, unless it is pinned to it, or the loop
/// runs inside a task. The reference is for use in the code that the worker calls.
fn driven<'a>() -> Option<&'a Worker> {
    // SAFETY: the pointer is null or was set by `Worker::run`, whose guard outlives everything
    // that the worker calls, and resets it.
    unsafe { context::driven().cast::<Worker>().as_ref() }
}

/// Whether the calling thread runs the worker, rather than another one inside its loop.
fn is_running(worker: &Worker) -> bool {
    Core::current().is_some_and(|core| std::ptr::eq(core, worker.core()))
}

/// Whether the calling thread runs the loop of a worker of `scheduler`, or ends
/// a poll of it, or has left a worker of it.
pub(crate) fn is_in_loop_of(scheduler: Id) -> bool {
    driven().is_some_and(|worker| worker.core().scheduler == scheduler)
        || context::left() == Some(scheduler)
}

/// Offers a worker to other threads, during a poll. False, and nothing has changed, if it has to
/// stay: there are none, or this is not in a poll.
///
/// The calling thread has [left](context::leave).
fn leave(worker: &Worker) -> bool {
    let core = worker.core();
    if core.shared().config.relief.is_none() || !core.live.part_with_running() {
        return false;
    }
    // From the queue others can take it, should no thread come.
    core.queues.empty_slot_into_queue();
    worker.leave();
    true
}

/// Asks for another thread to drive a worker, unless one is about to come.
fn request_thread(worker: &Worker) {
    let slot = worker.handoff_slot();
    if !slot.request() {
        return;
    }
    let core = worker.core();
    // No thread may be had, and the end of the scheduler looks for the worker.
    let former = core.retirement.handoff_slots[core.index()]
        .lock()
        .replace(slot.clone());
    drop(former);
    core.retirement.finish.announce_handoff();
    if let Some(relief) = &core.shared().config.relief {
        relief(Relief::new(slot.clone()));
    }
}

impl Handoff for HandoffSlot {
    fn run(self: Box<Self>) {
        let Some(core) = self.take_requested() else {
            return;
        };
        let handle = Handle::new(core.shared().clone());
        let _current = handle.enter();
        core.notify(|observer, worker| observer.worker_handed_off(worker));
        Worker::new(core).run();
    }

    fn refuse(self: Box<Self>) {
        if let Some(core) = self.take_requested_if_closed() {
            shutdown::retire(core);
        }
    }
}
