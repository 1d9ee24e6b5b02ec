#![doc = include_str!("../README.md")]

mod arrivals;
pub mod blocking;
mod builder;
mod cell;
mod current;
mod error;
mod id;
mod join;
mod join_set;
mod live;
mod local;
mod local_set;
#[cfg(not(any(raddle_loom, raddle_sanitize)))]
mod memory;
#[cfg(any(raddle_loom, raddle_sanitize))]
#[path = "memory_plain.rs"]
mod memory;
mod name;
mod ready_list;
mod run;
mod runnable;
mod span;
mod spawn;
mod state;
mod task_local;
#[cfg(feature = "tracing")]
pub mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "trace_off.rs"]
pub mod trace;
mod waker;

use std::future::Future;
use std::panic::Location;

pub use arrivals::Arrivals;
pub use builder::Builder;
pub use current::{id, try_id};
pub use error::JoinError;
pub use id::{Id, take_id, upcoming_id};
pub use join::{AbortHandle, JoinHandle};
pub use join_set::{JoinSet, JoinSetBuilder};
pub use live::LiveList;
pub use local::{LocalList, LocalRunnable, ScheduleLocal};
pub use local_set::{CurrentLocalSet, LocalEnterGuard, LocalSet};
pub use name::{Named, name_next, take_name};
pub use ready_list::ReadyList;
pub use runnable::{Outcome, Runnable};
pub use spawn::Spawn;
pub use task_local::{AccessError, LocalKey, TaskLocalFuture};

/// The scheduler of a task, which gets the task when it is woken.
///
/// Implemented for functions of a [`Runnable`] that can be cloned.
pub trait Schedule: Clone + Send + Sync + 'static {
    /// Takes a task that is due to run. Called on the thread that wakes it,
    /// but not for a task that is woken while it runs: that one comes back as
    /// [`Outcome::Again`].
    ///
    /// The receiver is a clone: the task, with the original in it, may have
    /// run and be gone before this returns.
    fn schedule(&self, task: Runnable);

    /// Returns where the task was spawned, if the scheduler stores it. This value is part of the
    /// task, so tasks of other schedulers need no memory for it.
    fn spawned_at(&self) -> Option<&'static Location<'static>> {
        None
    }

    /// Called when the task has panicked: in a poll, or in the drop of its
    /// future after that, or both. Not called for a panic in the drop of a
    /// future that was aborted, or of an output.
    ///
    /// Called by the thread that runs the task, before the task is complete
    /// and its join handle learns of the panic.
    fn panicked(&self) {}

    /// Called when the task has run for the last time, and says why: its future is dropped, and
    /// its join handle learns of it after this. The future of a task that has panicked counts as
    /// dropped, also if the panic is in its drop.
    ///
    /// Called by the thread that runs or cancels the task, as part of the run. A panic is
    /// contained.
    fn ended(&self, reason: EndReason) {
        let _ = reason;
    }
}

/// Why a task has ended.
///
/// # Examples
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use raddle_task::{EndReason, Runnable, Schedule};
///
/// /// Notes why the task has ended.
/// #[derive(Clone)]
/// struct Noting(Arc<Mutex<Option<EndReason>>>);
///
/// impl Schedule for Noting {
///     fn schedule(&self, task: Runnable) {
///         drop(task.run());
///     }
///
///     fn ended(&self, reason: EndReason) {
///         *self.0.lock().unwrap() = Some(reason);
///     }
/// }
///
/// let reason = Arc::default();
/// let (task, handle) = raddle_task::spawn(async { 42 }, Noting(Arc::clone(&reason)));
/// drop(task.run());
/// assert_eq!(*reason.lock().unwrap(), Some(EndReason::Completed));
/// # drop(handle);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// Its future was ready.
    Completed,
    /// It was aborted, or its scheduler has shut down.
    Cancelled,
    /// It panicked: in a poll, or in the drop of its future.
    Panicked,
}

impl EndReason {
    #[inline]
    fn of<T>(output: &Result<T, JoinError>) -> Self {
        match output {
            Ok(_) => Self::Completed,
            Err(error) if error.is_panic() => Self::Panicked,
            Err(_) => Self::Cancelled,
        }
    }
}

impl<F: Fn(Runnable) + Clone + Send + Sync + 'static> Schedule for F {
    fn schedule(&self, task: Runnable) {
        self(task);
    }
}

/// Makes a task of a future. The first runnable is returned, not scheduled.
///
/// The future must be `Send`, since its runnable is:
///
/// ```compile_fail,E0277
/// let rc = std::rc::Rc::new(());
/// raddle_task::spawn(async move { drop(rc) }, |task| drop(task));
/// ```
#[inline]
pub fn spawn<F, S>(future: F, scheduler: S) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    S: Schedule,
{
    // SAFETY: the future and its output may be on any thread at any time.
    unsafe { spawn_unchecked(future, scheduler) }
}

/// Makes a task of a future that need not be `Send` or `'static`.
///
/// # Safety
///
/// If the future is not `Send`, the runnable, and each that follows from a
/// wake, must be run and dropped on the thread that spawned it. If its output
/// is not `Send`, the handle must stay there too. If the future borrows, it
/// must be run to completion, or cancelled, before what it borrows ends.
#[inline]
pub unsafe fn spawn_unchecked<F, S>(future: F, scheduler: S) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future,
    S: Schedule,
{
    let header = cell::Cell::allocate(future, scheduler);
    // SAFETY: a new task is notified: its runnable exists once, here.
    let runnable = unsafe { Runnable::from_header(header) };
    // SAFETY: a new task has a reference for its handle, made once, here.
    let handle = unsafe { JoinHandle::new(header) };
    (runnable, handle)
}
