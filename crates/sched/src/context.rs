//! The thread-local state of the scheduler: which worker the calling thread runs, and how it
//! blocks.
//!
//! A woken task finds its worker here, and a worker that runs enters itself here: this module and
//! [`worker`](crate::worker) use each other.
//!
//! The thread-local has pointers to workers, which only this module dereferences, for the duration
//! of a closure. A pointer is set by a guard that borrows the worker and is a local variable of the
//! function that runs it. All code that the worker runs on this thread is called by that function,
//! and returns before the guard resets the pointer.

use std::cell::Cell;
use std::ptr;

use raddle_task::EndReason;
use scopeguard::guard;

use crate::PollResult;
use crate::id::Id;
use crate::worker::Worker;
use crate::worker::core::Core;

/// The state that a spawn or a wake reads: plain words, so that the thread-local needs no
/// destructor and an access is one instruction or two.
struct Context {
    /// The core of the worker that this thread is running.
    core: Cell<*const Core>,
    /// The scheduler whose handle is current.
    current: Cell<Option<Id>>,
    /// The worker whose loop this thread runs, also after it was handed off; null while the thread
    /// is [pinned](pin) to it.
    driven: Cell<*const Worker>,
    /// The scheduler and the number of the worker whose loop this thread runs, also after it was
    /// handed off.
    in_loop: Cell<Option<(Id, usize)>>,
    /// The core as which this thread only drops tasks at a shutdown, while it is in no poll.
    cancelling: Cell<*const Core>,
    /// The scheduler of the worker that this thread has [left](leave) last.
    left: Cell<Option<Id>>,
    /// The scheduler whose pool has started this thread.
    pool: Cell<Option<Id>>,
    blocking: Cell<Blocking>,
    /// The end reason of the last observed task that ended on this thread.
    end_reason: Cell<EndReason>,
    /// The last poll of this thread at whose end no observer was called ([`take_ended_poll`]).
    ended_poll: Cell<Option<(raddle_task::Id, PollResult, EndReason)>>,
}

/// How a thread blocks on a future.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blocking {
    No,
    /// Workers run the tasks; or the thread ends a poll that its worker has left.
    BesideWorkers,
    /// The thread runs the tasks, or waits to do so.
    AsWorker,
}

raddle_primitives::thread_local! {
    static CONTEXT: Context = Context {
        core: Cell::new(ptr::null()),
        current: Cell::new(None),
        driven: Cell::new(ptr::null()),
        in_loop: Cell::new(None),
        cancelling: Cell::new(ptr::null()),
        left: Cell::new(None),
        pool: Cell::new(None),
        blocking: Cell::new(Blocking::No),
        end_reason: Cell::new(EndReason::Completed),
        ended_poll: Cell::new(None),
    };
}

/// Takes the last poll that has ended on the calling thread, if the observer was not called at its
/// end. For an observer that does not [need](crate::Observer::needs_poll_ends) these calls: it
/// calls this at the start of each event of a thread, which is one access to a thread-local. The
/// reason is that of a task that has ended.
#[inline]
pub fn take_ended_poll() -> Option<(raddle_task::Id, PollResult, EndReason)> {
    read(None, |context| context.ended_poll.take())
}

/// Stores the end of a poll for [`take_ended_poll`].
#[inline]
pub(crate) fn set_ended_poll(task: raddle_task::Id, result: PollResult) {
    let _ = CONTEXT.try_with(|context| {
        let ended = (task, result, context.end_reason.get());
        context.ended_poll.set(Some(ended));
    });
}

/// Records why an observed task has ended.
pub(crate) fn set_end_reason(reason: EndReason) {
    let _ = CONTEXT.try_with(|context| context.end_reason.set(reason));
}

/// Reads the context of the calling thread, or returns `gone` if the thread ends and has none any
/// more.
#[inline]
fn read<R>(gone: R, f: impl FnOnce(&Context) -> R) -> R {
    CONTEXT.try_with(f).unwrap_or(gone)
}

/// Returns the end reason of the observed task whose run has just returned on this thread.
pub(crate) fn end_reason() -> EndReason {
    read(EndReason::Completed, |context| context.end_reason.get())
}

/// The core of the worker that the calling thread is running, or null.
#[inline]
pub(crate) fn core() -> *const Core {
    read(ptr::null(), |context| context.core.get())
}

/// Declares `$core`, the core of the worker that the calling thread is running, as an
/// `Option<&Core>` for the rest of the block. Use it where the closure of [`with_core`] would
/// capture a future, which would be copied into it.
macro_rules! let_core {
    ($core:ident) => {
        let pointer = $crate::context::core();
        // SAFETY: the pointer is null or of a core that a guard of `enter_core` borrows. The guard
        // is a local variable of a function that is running further down this thread's stack, and
        // the reference ends with the variable `pointer`, which the block cannot name or move.
        let $core = unsafe { $crate::context::borrow(&pointer) };
    };
}
pub(crate) use let_core;

/// # Safety
///
/// The core must exist for as long as the pointer is borrowed, unless the pointer is null.
#[inline]
pub(crate) unsafe fn borrow(pointer: &*const Core) -> Option<&Core> {
    // SAFETY: the caller's promise.
    unsafe { pointer.as_ref() }
}

/// Calls `f` with the core of the worker that the calling thread is running.
#[inline]
pub(crate) fn with_core<R>(f: impl FnOnce(Option<&Core>) -> R) -> R {
    let_core!(core);
    f(core)
}

/// Like [`with_core`], with `None` if the worker does not belong to the scheduler that the thread
/// has entered last.
#[inline]
pub(crate) fn with_core_of_entered<R>(f: impl FnOnce(Option<&Core>) -> R) -> R {
    let current = read(None, |context| context.current.get());
    with_core(|core| f(core.filter(|core| Some(core.scheduler) == current)))
}

/// Whether the calling thread is running a worker.
#[inline]
pub(crate) fn is_worker() -> bool {
    read(true, |context| !context.core.get().is_null())
}

/// Calls `f` with the worker whose loop the calling thread runs, also after the worker was handed
/// off. `None` if the thread is [pinned](pin) to the worker, or if the loop runs inside a task.
pub(crate) fn with_driven<R>(f: impl FnOnce(Option<&Worker>) -> R) -> R {
    let driven = CONTEXT.with(|context| context.driven.get());
    // SAFETY: the pointer is null or of a worker that a guard of `enter_loop` borrows. The guard is
    // a local variable of a function that is running further down this thread's stack, so it exists
    // until `f` has returned.
    f(unsafe { driven.as_ref() })
}

/// The number of the worker of `scheduler` whose loop the calling thread runs, also if the thread
/// has left the worker.
pub(crate) fn worker_in_loop_of(scheduler: Id) -> Option<usize> {
    let in_loop = read(None, |context| context.in_loop.get());
    in_loop.and_then(|(of, number)| (of == scheduler).then_some(number))
}

/// The scheduler of the worker that the calling thread has left, if it has.
pub(crate) fn left() -> Option<Id> {
    CONTEXT.with(|context| context.left.get())
}

/// The scheduler whose pool has started the calling thread, until the thread leaves its hooks.
pub(crate) fn pool() -> Option<Id> {
    read(None, |context| context.pool.get())
}

/// Makes the calling thread one of a pool until the guard is dropped.
pub(crate) fn enter_pool(scheduler: Id) -> impl Drop {
    CONTEXT.with(|context| context.pool.set(Some(scheduler)));
    guard((), |()| CONTEXT.with(|context| context.pool.set(None)))
}

/// Whether this is the scheduler that was entered last.
pub(crate) fn is_current(scheduler: Id) -> bool {
    read(None, |context| context.current.get()) == Some(scheduler)
}

/// Records which scheduler was entered last.
pub(crate) fn set_current(scheduler: Option<Id>) {
    // On a thread that is exiting, the variable may be gone.
    let _ = CONTEXT.try_with(|context| context.current.set(scheduler));
}

/// Runs code as a worker until the guard is dropped, which restores the outer worker. The guard
/// must be a local variable.
pub(crate) fn enter_core(core: &Core) -> impl Drop {
    let outer = CONTEXT.with(|context| context.core.replace(core));
    guard(outer, |outer| {
        CONTEXT.with(|context| context.core.set(outer))
    })
}

/// Like [`enter_core`], to drop tasks at a shutdown. This does not count as a poll, but the thread
/// may be in one already.
pub(crate) fn enter_core_to_cancel(core: &Core) -> impl Drop {
    let cancelling = match is_polling() {
        true => ptr::null(),
        false => ptr::from_ref(core),
    };
    let entered = enter_core(core);
    let outer = CONTEXT.with(|context| context.cancelling.replace(cancelling));
    guard((entered, outer), |(entered, outer)| {
        CONTEXT.with(|context| context.cancelling.set(outer));
        drop(entered);
    })
}

/// Records the worker whose loop the calling thread runs, until the guard is dropped, which
/// restores the former one. A task may hand the worker off, unless the loop itself runs inside a
/// task: code that blocks in place is then known to run in a poll of this worker. The guard must be
/// a local variable.
pub(crate) fn enter_loop(worker: &Worker) -> impl Drop {
    let core = worker.core();
    let in_loop = (core.scheduler, core.queues.number());
    let driven = match raddle_task::try_id() {
        None => ptr::from_ref(worker),
        Some(_) => ptr::null(),
    };
    let outer = CONTEXT.with(|context| {
        let in_loop = context.in_loop.replace(Some(in_loop));
        let driven = context.driven.replace(driven);
        (driven, in_loop, context.blocking.get())
    });
    guard(outer, |(driven, in_loop, blocking)| {
        CONTEXT.with(|context| {
            context.driven.set(driven);
            context.in_loop.set(in_loop);
            context.blocking.set(blocking);
        });
    })
}

/// Keeps the worker of the thread from being handed off until the guard is dropped. It is used
/// around user code, such as a hook, after which the worker's own code continues.
pub(crate) fn pin() -> impl Drop {
    let driven = read(ptr::null(), |context| context.driven.replace(ptr::null()));
    guard(driven, |driven| {
        let _ = CONTEXT.try_with(|context| context.driven.set(driven));
    })
}

/// Makes the calling thread one that runs no worker and blocks on no future. `scheduler` is that of
/// its worker, if it has one.
pub(crate) fn leave(scheduler: Option<Id>) -> SavedContext {
    CONTEXT.with(|context| SavedContext {
        core: context.core.replace(ptr::null()),
        left: context.left.replace(scheduler.or(context.left.get())),
        blocking: context.blocking.replace(Blocking::No),
    })
}

/// The state of the thread before [`leave`].
#[derive(Debug)]
#[must_use = "the thread is to become again what it was"]
pub(crate) struct SavedContext {
    core: *const Core,
    left: Option<Id>,
    blocking: Blocking,
}

impl SavedContext {
    /// Undoes [`leave`]. If the worker was handed off meanwhile, the thread stays without a worker.
    pub(crate) fn come_back(self, is_handed_off: bool) {
        CONTEXT.with(|context| {
            context.left.set(self.left);
            match is_handed_off {
                true => context.blocking.set(Blocking::BesideWorkers),
                false => {
                    context.core.set(self.core);
                    context.blocking.set(self.blocking);
                }
            }
        });
    }
}

/// Marks the thread as blocking on a future until the guard is dropped.
///
/// # Panics
///
/// Panics if the thread runs a worker, or blocks on another future.
#[track_caller]
pub(crate) fn enter_blocking(how: Blocking) -> impl Drop {
    assert!(
        !is_inside(),
        "block_on was called inside a runtime, where it would block a thread that drives tasks; \
         use .await here, or move the call to spawn_blocking"
    );
    CONTEXT.with(|context| context.blocking.set(how));
    guard((), |()| {
        CONTEXT.with(|context| context.blocking.set(Blocking::No))
    })
}

/// Returns whether the calling thread runs tasks or blocks on a future, so that it must not block
/// on another one.
pub fn is_inside() -> bool {
    read(false, |context| {
        !context.core.get().is_null() || context.blocking.get() != Blocking::No
    })
}

/// Returns whether the calling thread polls a task or the future of a `block_on`, or runs hooks and
/// drops in between. If it blocks, the tasks of a scheduler wait.
///
/// Unlike [`is_inside`], this is false in the drops of tasks at a shutdown, unless the thread that
/// shuts down is in a poll.
pub fn is_polling() -> bool {
    read(false, |context| {
        let core = context.core.get();
        context.blocking.get() != Blocking::No
            || !core.is_null() && core != context.cancelling.get()
    })
}

/// Whether the thread is inside the `block_on` of a current-thread scheduler.
pub(crate) fn drives_current_thread() -> bool {
    CONTEXT.with(|context| context.blocking.get() == Blocking::AsWorker)
}
