//! The runtime of the current thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ptr;

use raddle_primitives::current::{self, Frame, Request};
use raddle_timer::CurrentHandle;

use crate::runtime::handle::Inner;
use crate::runtime::{Handle, TryCurrentError};
use crate::task::LocalEnterGuard;

raddle_primitives::thread_local! {
    /// The guards of the local sets that this thread has entered by an [`EnterGuard`].
    static LOCALS: RefCell<Vec<LocalEnterGuard>> = RefCell::new(Vec::new());
    /// The runtime that has started this thread, until the thread leaves its hooks.
    static OWNER: Cell<*const Inner> = Cell::new(ptr::null());
}

/// Returns the handle of the runtime that was entered last.
pub(crate) fn current() -> Result<Handle, TryCurrentError> {
    current::get().ok_or_else(|| match current::depth() {
        Some(_) => TryCurrentError::missing_context(),
        None => TryCurrentError::thread_local_destroyed(),
    })
}

/// Returns the index of the worker of the current runtime that the calling thread drives. Returns
/// `None` on every other thread, such as a thread for blocking work or one in `block_on` of a
/// multi-thread runtime.
///
/// A task may be on another worker after each `.await`. The indexes of
/// [spare workers](crate::runtime::Builder::max_spare_workers) follow those of the workers.
///
/// # Examples
///
/// ```
/// use raddle::runtime::Builder;
///
/// let runtime = Builder::new_multi_thread().worker_threads(1).build()?;
/// let worker = runtime.spawn(async { raddle::runtime::worker_index() });
/// assert_eq!(runtime.block_on(worker).unwrap(), Some(0));
/// assert_eq!(raddle::runtime::worker_index(), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn worker_index() -> Option<usize> {
    Handle::try_current().ok()?.scheduler().current_worker()
}

/// Panics if the thread drives tasks, so that a scope of a runtime must not block it.
#[track_caller]
pub(crate) fn check_may_scope() {
    assert!(
        !raddle_sched::is_inside(),
        "scope was called inside a runtime, where it would block a thread that drives tasks; use \
         task::scope here, or move the call to spawn_blocking"
    );
}

/// Keeps a runtime current on this thread. Dropping the guard restores the former runtime.
///
/// # Panics
///
/// The drop panics if guards are not dropped in the reverse order of their creation: the thread
/// would keep a runtime that it has left.
#[must_use = "the runtime is current only while the guard lives"]
pub struct EnterGuard<'a> {
    // Dropped first: it checks the order before anything is restored.
    _depth: FrameDepth,
    _entered: raddle_sched::EnterGuard<'a>,
    _local: Option<EnteredLocal>,
}

impl<'a> EnterGuard<'a> {
    pub(crate) fn new(handle: &'a Handle) -> Self {
        let entered = enter(handle);
        Self {
            _depth: FrameDepth(current::depth()),
            _entered: entered,
            _local: None,
        }
    }

    /// Also keeps the local set of the runtime current.
    pub(crate) fn with_local(mut self, local: LocalEnterGuard) -> Self {
        self._local = Some(EnteredLocal::new(local));
        self
    }
}

/// The number of frames that the thread had entered when the guard was made, including the guard's
/// own. The drop panics if the thread has another number of frames then.
struct FrameDepth(Option<usize>);

impl Drop for FrameDepth {
    fn drop(&mut self) {
        // An exiting thread drops its remaining guards in any order.
        let depth = current::depth();
        if depth.is_some() && depth != self.0 && !std::thread::panicking() {
            panic!(
                "guards of Runtime::enter were dropped out of order; \
                 drop them in the reverse order of their making"
            );
        }
    }
}

/// Keeps a local set current. The set's own guard is not `Sync`; it is in a thread-local, so that
/// an [`EnterGuard`] is `Sync`.
struct EnteredLocal;

impl EnteredLocal {
    fn new(guard: LocalEnterGuard) -> Self {
        LOCALS.with(|locals| locals.borrow_mut().push(guard));
        Self
    }
}

impl Drop for EnteredLocal {
    fn drop(&mut self) {
        // The guard is dropped after the borrow has ended. On an exiting thread, `LOCALS` may
        // already be destroyed, and the guards with it.
        drop(LOCALS.try_with(|locals| locals.borrow_mut().pop()));
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// The context that a runtime makes current: itself, and the handles of its layers. A runtime
/// without sockets or timers hides those of an outer runtime, whose driver may never run again
/// while this thread waits.
struct Entered {
    runtime: Handle,
    worker: usize,
    timers: Option<CurrentHandle>,
}

impl Frame for Entered {
    fn provide<'a>(&'a self, request: &mut Request<'a>) {
        request
            .offer(|| Some(self.runtime.scheduler()))
            .offer(|| self.timers.as_ref())
            .offer(|| self.runtime.driver(self.worker).reactor.as_ref())
            .offer(|| Some(&self.runtime));
    }
}

/// Makes a runtime current. On a thread of a worker of the runtime, even while it blocks in place,
/// the worker's sockets and timers become current; elsewhere, those of worker 0.
pub(crate) fn enter(handle: &Handle) -> raddle_sched::EnterGuard<'_> {
    let worker = handle.scheduler().worker_of_thread();
    enter_worker(handle, worker.unwrap_or(0))
}

pub(crate) fn enter_worker(handle: &Handle, worker: usize) -> raddle_sched::EnterGuard<'_> {
    let timers = handle.driver(worker).timers.clone();
    handle.scheduler().enter_as(Entered {
        runtime: handle.clone(),
        worker,
        timers: timers.map(CurrentHandle::new),
    })
}

/// Makes this thread one of a runtime until it is dropped.
pub(crate) struct OwnThread<'a>(PhantomData<(&'a Inner, *mut ())>);

impl<'a> OwnThread<'a> {
    pub(crate) fn enter(owner: &'a Inner) -> Self {
        OWNER.with(|own| own.set(owner));
        Self(PhantomData)
    }
}

impl Drop for OwnThread<'_> {
    fn drop(&mut self) {
        OWNER.with(|own| own.set(ptr::null()));
    }
}

/// Returns whether this thread must not wait for the shutdown of a runtime: it polls async code, or
/// the shutdown waits for it.
pub(crate) fn must_not_wait_for(handle: &Handle) -> bool {
    raddle_sched::is_polling() || ptr::eq(OWNER.with(Cell::get), &raw const *handle.inner)
}
