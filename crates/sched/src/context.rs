//! Which worker and which scheduler the calling thread belongs to.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use crate::handle::Handle;
use crate::id::Id;
use crate::worker::Core;

/// What a spawn or a wake looks at: plain words, so that the thread-local
/// needs no destructor and an access is one instruction or two.
struct Context {
    /// The worker that this thread is running.
    worker: Cell<*const Core>,
    /// The scheduler of the innermost [`Handle::enter`], whose handle `HANDLE`
    /// is.
    current: Cell<Option<Id>>,
    /// Whether the thread is inside `block_on`.
    blocking: Cell<bool>,
}

raddle_std::thread_local! {
    static CONTEXT: Context = Context {
        worker: Cell::new(ptr::null()),
        current: Cell::new(None),
        blocking: Cell::new(false),
    };
    static HANDLE: RefCell<Option<Handle>> = RefCell::new(None);
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

/// The scheduler that was entered last.
pub(crate) fn current_handle() -> Option<Handle> {
    HANDLE
        .try_with(|handle| handle.borrow().clone())
        .ok()
        .flatten()
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

/// Makes `handle` the current scheduler until the guard is dropped.
pub(crate) fn enter_handle(handle: &Handle) -> EnterGuard<'_> {
    EnterGuard {
        outer: set_handle(Some(handle.clone())),
        entered: PhantomData,
    }
}

/// Sets the current scheduler and returns the former. While the thread ends
/// there may be no place for one any more; then there is none.
fn set_handle(handle: Option<Handle>) -> Option<Handle> {
    HANDLE
        .try_with(|current| {
            let id = handle.as_ref().map(Handle::id);
            CONTEXT.with(|context| context.current.set(id));
            current.replace(handle)
        })
        .ok()
        .flatten()
}

/// The scope of [`Handle::enter`]: when it is dropped, the scheduler that was
/// current before is so again. Guards are to be dropped in the reverse order.
pub struct EnterGuard<'a> {
    outer: Option<Handle>,
    /// Bound to its thread, by the pointer.
    entered: PhantomData<(&'a Handle, *const ())>,
}

impl Drop for EnterGuard<'_> {
    fn drop(&mut self) {
        drop(set_handle(self.outer.take()));
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
pub(crate) fn enter_blocking() -> BlockingGuard {
    let nested =
        CONTEXT.with(|context| !context.worker.get().is_null() || context.blocking.replace(true));
    assert!(
        !nested,
        "block_on was called inside a runtime, where it would block a thread that drives tasks; \
         use .await here, or move the call to spawn_blocking"
    );
    BlockingGuard(PhantomData)
}

/// Whether `block_on` would panic here.
pub(crate) fn is_inside() -> bool {
    CONTEXT
        .try_with(|context| !context.worker.get().is_null() || context.blocking.get())
        .unwrap_or(false)
}

/// Ends the blocking when dropped.
#[derive(Debug)]
pub(crate) struct BlockingGuard(PhantomData<*const ()>);

impl Drop for BlockingGuard {
    fn drop(&mut self) {
        CONTEXT.with(|context| context.blocking.set(false));
    }
}
