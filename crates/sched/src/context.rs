//! Which worker and which scheduler the calling thread belongs to.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use raddle_primitives::current::{self, Frame};

use crate::handle::Handle;
use crate::id::Id;
use crate::worker::{Core, Worker};

/// What a spawn or a wake looks at: plain words, so that the thread-local
/// needs no destructor and an access is one instruction or two.
struct Context {
    /// The worker that this thread is running.
    worker: Cell<*const Core>,
    /// The scheduler whose handle is [current].
    current: Cell<Option<Id>>,
    /// The worker whose loop this thread runs, also after it was displaced from
    /// it; null while it is pinned to it.
    post: Cell<*const Worker>,
    /// The scheduler of the worker that this thread has [left](leave) last.
    left: Cell<Option<Id>>,
    blocking: Cell<Blocking>,
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
        post: Cell::new(ptr::null()),
        left: Cell::new(None),
        blocking: Cell::new(Blocking::No),
    };
}

/// The worker that the calling thread is running.
///
/// The reference is for immediate use: it is valid as long as the caller's
/// caller has not returned to the loop that entered the worker.
#[inline]
pub(crate) fn worker<'a>() -> Option<&'a Core> {
    // SAFETY: the pointer is null or was set by `enter_worker`, whose guard
    // outlives everything that the worker calls, this caller included, and
    // resets it.
    CONTEXT
        .try_with(|context| unsafe { context.worker.get().as_ref() })
        .ok()
        .flatten()
}

/// The worker that the calling thread is running, if it belongs to the
/// scheduler that was entered last.
#[inline]
pub(crate) fn current_worker<'a>() -> Option<&'a Core> {
    CONTEXT
        .try_with(|context| {
            // SAFETY: as in `worker`.
            unsafe { context.worker.get().as_ref() }
                .filter(|core| Some(core.scheduler) == context.current.get())
        })
        .ok()
        .flatten()
}

/// Whether the calling thread is running a worker.
#[inline]
pub(crate) fn is_worker() -> bool {
    CONTEXT
        .try_with(|context| !context.worker.get().is_null())
        .unwrap_or(true)
}

/// The worker that the calling thread is running, if it could be displaced from
/// it. The reference is for use in the code that the worker calls.
pub(crate) fn post<'a>() -> Option<&'a Worker> {
    CONTEXT.with(|context| {
        // SAFETY: the pointer is null or was set by `enter_post`, whose guard
        // outlives everything that the worker calls, and resets it.
        unsafe { context.post.get().as_ref() }.filter(|worker| worker.is_of(context.worker.get()))
    })
}

/// Whether the calling thread runs the loop of a worker of `scheduler`, or ends
/// a poll of it, or has left a worker of it.
pub(crate) fn is_at_post_of(scheduler: Id) -> bool {
    CONTEXT.with(|context| {
        // SAFETY: as in `post`.
        let post = unsafe { context.post.get().as_ref() };
        post.is_some_and(|worker| worker.core().scheduler == scheduler)
            || context.left.get() == Some(scheduler)
    })
}

/// Runs code as a worker until the guard is dropped.
///
/// # Panics
///
/// If the worker is bound to another thread.
pub(crate) fn enter_worker(core: &Core) -> WorkerGuard<'_> {
    core.bind();
    WorkerGuard {
        outer: CONTEXT.with(|context| context.worker.replace(core)),
        core: PhantomData,
    }
}

/// Restores the outer worker when dropped.
#[derive(Debug)]
pub(crate) struct WorkerGuard<'a> {
    outer: *const Core,
    core: PhantomData<&'a Core>,
}

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        CONTEXT.with(|context| context.worker.set(self.outer));
    }
}

/// Runs code as the loop of a worker until the guard is dropped. A task may
/// displace the thread from it; not if the loop runs inside a task itself, so
/// that what runs in a task is known to run in a poll of the worker's.
pub(crate) fn enter_post(worker: &Worker) -> PostGuard<'_> {
    let post = match raddle_task::try_id() {
        None => ptr::from_ref(worker),
        Some(_) => ptr::null(),
    };
    CONTEXT.with(|context| PostGuard {
        post: context.post.replace(post),
        blocking: context.blocking.get(),
        _worker: enter_worker(worker.core()),
    })
}

/// Restores the outer worker when dropped.
#[derive(Debug)]
pub(crate) struct PostGuard<'a> {
    post: *const Worker,
    blocking: Blocking,
    _worker: WorkerGuard<'a>,
}

impl Drop for PostGuard<'_> {
    fn drop(&mut self) {
        CONTEXT.with(|context| {
            context.post.set(self.post);
            context.blocking.set(self.blocking);
        });
    }
}

/// Keeps the thread from being displaced from its worker until the guard is
/// dropped: around what is not the worker's code, where the worker goes on with
/// its own afterwards.
pub(crate) fn pin_to_post() -> Pinned {
    Pinned {
        post: CONTEXT
            .try_with(|context| context.post.replace(ptr::null()))
            .unwrap_or(ptr::null()),
    }
}

/// Restores the post when dropped.
#[derive(Debug)]
pub(crate) struct Pinned {
    post: *const Worker,
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let _ = CONTEXT.try_with(|context| context.post.set(self.post));
    }
}

/// Makes the calling thread one that runs no worker and blocks on nothing.
pub(crate) fn leave() -> Left {
    let left = worker().map(|core| core.scheduler);
    CONTEXT.with(|context| Left {
        worker: context.worker.replace(ptr::null()),
        left: context.left.replace(left.or(context.left.get())),
        blocking: context.blocking.replace(Blocking::No),
    })
}

/// What the thread was before [`leave`].
#[derive(Debug)]
#[must_use = "the thread is to become again what it was"]
pub(crate) struct Left {
    worker: *const Core,
    left: Option<Id>,
    blocking: Blocking,
}

impl Left {
    /// Undoes [`leave`]; if the thread was displaced from its worker meanwhile,
    /// it stays without.
    pub(crate) fn come_back(self, is_displaced: bool) {
        CONTEXT.with(|context| {
            context.left.set(self.left);
            match is_displaced {
                true => context.blocking.set(Blocking::BesideWorkers),
                false => {
                    context.worker.set(self.worker);
                    context.blocking.set(self.blocking);
                }
            }
        });
    }
}

/// Makes a scheduler current, and what else the frame offers.
pub(crate) fn enter<'a>(frame: impl Frame) -> EnterGuard<'a> {
    let entered = current::enter(frame);
    refresh_current();
    EnterGuard {
        _entered: entered,
        _refresh: Refresh,
    }
}

/// Whether this is the scheduler that was entered last.
pub(crate) fn is_current(scheduler: Id) -> bool {
    let current = CONTEXT.try_with(|context| context.current.get());
    current.is_ok_and(|current| current == Some(scheduler))
}

fn refresh_current() {
    let id = current::with(Handle::id);
    // While the thread ends there may be no place for it any more.
    let _ = CONTEXT.try_with(|context| context.current.set(id));
}

/// The scope of [`Handle::enter`]: when it is dropped, the scheduler that was
/// current before is so again. Guards are to be dropped in the reverse order.
pub struct EnterGuard<'a> {
    // Dropped before the other.
    _entered: current::EnterGuard<'a>,
    _refresh: Refresh,
}

struct Refresh;

impl Drop for Refresh {
    fn drop(&mut self) {
        refresh_current();
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// Marks the thread as blocking on a future until the guard is dropped.
///
/// # Panics
///
/// If the thread runs a worker, or blocks on another future.
#[track_caller]
pub(crate) fn enter_blocking(how: Blocking) -> BlockingGuard {
    assert!(
        !is_inside(),
        "block_on was called inside a runtime, where it would block a thread that drives tasks; \
         use .await here, or move the call to spawn_blocking"
    );
    CONTEXT.with(|context| context.blocking.set(how));
    BlockingGuard(PhantomData)
}

/// Whether `block_on` would panic here.
pub(crate) fn is_inside() -> bool {
    CONTEXT
        .try_with(|context| {
            !context.worker.get().is_null() || context.blocking.get() != Blocking::No
        })
        .unwrap_or(false)
}

/// Whether the thread is inside the `block_on` of a current-thread scheduler.
pub(crate) fn drives_current_thread() -> bool {
    CONTEXT.with(|context| context.blocking.get() == Blocking::AsWorker)
}

/// Ends the blocking when dropped.
#[derive(Debug)]
pub(crate) struct BlockingGuard(PhantomData<*const ()>);

impl Drop for BlockingGuard {
    fn drop(&mut self) {
        CONTEXT.with(|context| context.blocking.set(Blocking::No));
    }
}
