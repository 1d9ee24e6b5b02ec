//! The runtime of the current thread.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;

use raddle_primitives::current::{self, Frame, Request};
use raddle_timer::CurrentHandle;

use crate::runtime::{Handle, TryCurrentError};
use crate::task::LocalEnterGuard;

raddle_primitives::thread_local! {
    /// The guards of the local sets that this thread has entered by an [`EnterGuard`].
    static LOCALS: RefCell<Vec<LocalEnterGuard>> = RefCell::new(Vec::new());
    /// How many runs of a runtime this thread is inside of.
    static INSIDE: Cell<usize> = Cell::new(0);
}

/// The handle that was entered last.
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
/// A task may be on another worker after each `.await`.
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

/// Keeps a runtime current on this thread. Dropping the guard restores the former runtime.
///
/// # Panics
///
/// The drop panics if guards are not dropped in the reverse order of their creation: the thread
/// would keep a runtime that it has left.
///
/// # Examples
///
/// ```
/// use raddle::runtime::Runtime;
///
/// let runtime = Runtime::new()?;
/// let task = {
///     let _guard = runtime.enter();
///     raddle::spawn(async { 6 * 7 })
/// };
/// assert_eq!(runtime.block_on(task).unwrap(), 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the runtime is current only while the guard lives"]
pub struct EnterGuard<'a> {
    // Checked before anything is restored.
    _order: Order,
    _entered: raddle_sched::EnterGuard<'a>,
    _local: Option<EnteredLocal>,
}

impl<'a> EnterGuard<'a> {
    pub(crate) fn new(handle: &'a Handle) -> Self {
        let entered = enter(handle);
        Self {
            _order: Order(current::depth()),
            _entered: entered,
            _local: None,
        }
    }

    /// The same with the local tasks of the runtime.
    pub(crate) fn with_local(mut self, local: LocalEnterGuard) -> Self {
        self._local = Some(EnteredLocal::new(local));
        self
    }
}

/// How many frames the thread had entered when the guard was made, its own included.
struct Order(Option<usize>);

impl Drop for Order {
    fn drop(&mut self) {
        // A thread that ends drops what it has left in any order.
        let depth = current::depth();
        if depth.is_some() && depth != self.0 && !std::thread::panicking() {
            panic!(
                "guards of Runtime::enter were dropped out of order; \
                 drop them in the reverse order of their making"
            );
        }
    }
}

/// Keeps a local set current. The set's own guard, which is not `Sync`, is kept
/// by the thread, so that an [`EnterGuard`] is `Sync`.
struct EnteredLocal;

impl EnteredLocal {
    fn new(guard: LocalEnterGuard) -> Self {
        LOCALS.with(|locals| locals.borrow_mut().push(guard));
        Self
    }
}

impl Drop for EnteredLocal {
    fn drop(&mut self) {
        // What was current is restored after the borrow. A thread that ends has dropped the guards.
        drop(LOCALS.try_with(|locals| locals.borrow_mut().pop()));
    }
}

impl fmt::Debug for EnterGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnterGuard").finish_non_exhaustive()
    }
}

/// The context that a runtime makes current: itself, and the handles of its layers. A runtime
/// without sockets or timers hides the ones of an outer runtime, whose driver may never run again
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

/// Makes a runtime current. On a worker of the runtime its sockets and timers become current,
/// elsewhere the ones of worker 0.
pub(crate) fn enter(handle: &Handle) -> raddle_sched::EnterGuard<'_> {
    let worker = handle.scheduler().current_worker();
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

/// Marks this thread as running a runtime's work until it is dropped.
pub(crate) struct Inside(PhantomData<*mut ()>);

impl Inside {
    pub(crate) fn enter() -> Self {
        INSIDE.with(|inside| inside.set(inside.get() + 1));
        Self(PhantomData)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.with(|inside| inside.set(inside.get() - 1));
    }
}

/// Whether this thread runs a runtime's work, and so must not wait for a
/// runtime to end.
pub(crate) fn is_inside() -> bool {
    INSIDE.with(Cell::get) > 0
}
