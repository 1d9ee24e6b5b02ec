//! The thread-local state of the scheduler: which worker the calling thread runs, and how it
//! blocks.
//!
//! A woken task finds its worker here, and a worker wakes tasks: this is the one place where
//! the layers of the crate would import each other in a circle. So the thread-local knows
//! workers as pointers without a type. [`Core::current`](crate::worker::core::Core::current)
//! and [`handoff`](crate::handoff) alone turn them back, and say why they may.

use std::cell::Cell;
use std::ptr;

use raddle_task::EndReason;
use scopeguard::guard;

use crate::id::Id;

/// A pointer without a type.
pub(crate) type Erased = *const ();

/// The state that a spawn or a wake reads: plain words, so that the thread-local needs no
/// destructor and an access is one instruction or two.
struct Context {
    /// The `Core` that this thread is running.
    worker: Cell<Erased>,
    /// The scheduler whose handle is current.
    current: Cell<Option<Id>>,
    /// The `Worker` whose loop this thread runs, also after it was handed off; null while
    /// the thread is [pinned](pin) to it.
    driven: Cell<Erased>,
    /// The scheduler and the number of the worker whose loop this thread runs, also after it was
    /// handed off.
    in_loop: Cell<Option<(Id, usize)>>,
    /// The `Core` as which this thread only drops tasks at a shutdown, while it is in no poll.
    cancelling: Cell<Erased>,
    /// The scheduler of the worker that this thread has [left](leave) last.
    left: Cell<Option<Id>>,
    /// The scheduler whose pool has started this thread.
    pool: Cell<Option<Id>>,
    blocking: Cell<Blocking>,
    /// The end reason of the last observed task that ended on this thread.
    end_reason: Cell<EndReason>,
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
        worker: Cell::new(ptr::null()),
        current: Cell::new(None),
        driven: Cell::new(ptr::null()),
        in_loop: Cell::new(None),
        cancelling: Cell::new(ptr::null()),
        left: Cell::new(None),
        pool: Cell::new(None),
        blocking: Cell::new(Blocking::No),
        end_reason: Cell::new(EndReason::Completed),
    };
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

/// The `Core` that the calling thread is running, or null, and the scheduler that the thread has
/// entered last.
#[inline]
pub(crate) fn worker_and_scheduler() -> (Erased, Option<Id>) {
    read((ptr::null(), None), |context| {
        (context.worker.get(), context.current.get())
    })
}

/// The `Core` that the calling thread is running, or null.
#[inline]
pub(crate) fn worker() -> Erased {
    read(ptr::null(), |context| context.worker.get())
}

/// Whether the calling thread is running a worker.
#[inline]
pub(crate) fn is_worker() -> bool {
    read(true, |context| !context.worker.get().is_null())
}

/// The `Worker` whose loop the calling thread runs, or null.
pub(crate) fn driven() -> Erased {
    CONTEXT.with(|context| context.driven.get())
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

/// Runs code as a worker until the guard is dropped, which restores the outer worker.
pub(crate) fn enter_worker<T>(core: &T) -> impl Drop {
    let core = ptr::from_ref(core).cast();
    let outer = CONTEXT.with(|context| context.worker.replace(core));
    guard(outer, |outer| {
        CONTEXT.with(|context| context.worker.set(outer))
    })
}

/// Like [`enter_worker`], to drop tasks at a shutdown. This does not count as a poll, but the
/// thread may be in one already.
pub(crate) fn enter_worker_to_cancel<T>(core: &T) -> impl Drop {
    let cancelling = match is_polling() {
        true => ptr::null(),
        false => ptr::from_ref(core).cast(),
    };
    let entered = enter_worker(core);
    let outer = CONTEXT.with(|context| context.cancelling.replace(cancelling));
    guard((entered, outer), |(entered, outer)| {
        CONTEXT.with(|context| context.cancelling.set(outer));
        drop(entered);
    })
}

/// Records the worker whose loop the calling thread runs, until the guard is dropped, which
/// restores the former one. A task may hand the worker off, unless the loop itself runs inside a
/// task: code that blocks in place is then known to run in a poll of this worker.
pub(crate) fn enter_loop<T>(worker: &T, scheduler: Id, number: usize) -> impl Drop {
    let driven = match raddle_task::try_id() {
        None => ptr::from_ref(worker).cast(),
        Some(_) => ptr::null(),
    };
    let outer = CONTEXT.with(|context| {
        let in_loop = context.in_loop.replace(Some((scheduler, number)));
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
        worker: context.worker.replace(ptr::null()),
        left: context.left.replace(scheduler.or(context.left.get())),
        blocking: context.blocking.replace(Blocking::No),
    })
}

/// The state of the thread before [`leave`].
#[derive(Debug)]
#[must_use = "the thread is to become again what it was"]
pub(crate) struct SavedContext {
    worker: Erased,
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
                    context.worker.set(self.worker);
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
        !context.worker.get().is_null() || context.blocking.get() != Blocking::No
    })
}

/// Returns whether the calling thread polls a task or the future of a `block_on`, or runs hooks and
/// drops in between. If it blocks, the tasks of a scheduler wait.
///
/// Unlike [`is_inside`], this is false in the drops of tasks at a shutdown, unless the thread that
/// shuts down is in a poll.
pub fn is_polling() -> bool {
    read(false, |context| {
        let worker = context.worker.get();
        context.blocking.get() != Blocking::No
            || !worker.is_null() && worker != context.cancelling.get()
    })
}

/// Whether the thread is inside the `block_on` of a current-thread scheduler.
pub(crate) fn drives_current_thread() -> bool {
    CONTEXT.with(|context| context.blocking.get() == Blocking::AsWorker)
}
