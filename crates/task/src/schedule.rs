//! The scheduler of a task, and making a task for one.

use std::future::Future;
use std::panic::Location;

use crate::cell::Cell;
use crate::{JoinError, JoinHandle, Runnable, box_if_large};

/// The scheduler of a task, which receives the task when it is woken.
///
/// Implemented for all functions that take a [`Runnable`] and are `Clone`.
///
/// ```
/// use std::panic::Location;
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use std::sync::{Arc, mpsc};
///
/// use raddle_task::{EndReason, Outcome, Runnable, Schedule};
///
/// #[derive(Clone)]
/// struct Scheduler {
///     queue: mpsc::Sender<Runnable>,
///     spawned_at: &'static Location<'static>,
///     panics: Arc<AtomicUsize>,
/// }
///
/// impl Schedule for Scheduler {
///     fn schedule(&self, task: Runnable) {
///         self.queue.send(task).unwrap();
///     }
///
///     fn spawned_at(&self) -> Option<&'static Location<'static>> {
///         Some(self.spawned_at)
///     }
///
///     fn panicked(&self) {
///         self.panics.fetch_add(1, Ordering::Relaxed);
///     }
///
///     fn ended(&self, reason: EndReason) {
///         println!("the task of {} has ended: {reason:?}", self.spawned_at);
///     }
/// }
///
/// let (queue, due) = mpsc::channel();
/// let (spawned_at, panics) = (Location::caller(), Arc::default());
/// let scheduler = Scheduler { queue, spawned_at, panics };
/// let parse = async { "many".parse::<u32>().unwrap() };
/// let (task, _handle) = raddle_task::spawn(parse, scheduler.clone());
/// scheduler.schedule(task);
/// while let Ok(task) = due.try_recv() {
///     if let Outcome::Again(task) = task.run() {
///         scheduler.schedule(task);
///     }
/// }
/// assert_eq!(scheduler.panics.load(Ordering::Relaxed), 1);
/// ```
pub trait Schedule: Clone + Send + Sync + 'static {
    /// Accepts a task that is ready to run. Called on the thread that wakes the task. It is not
    /// called for a task that is woken while it runs;
    /// [`Outcome::Again`](crate::Outcome::Again) returns that one.
    ///
    /// `self` is a clone: the task with the original in it may have run and been freed before this
    /// returns.
    fn schedule(&self, task: Runnable);

    /// Returns where the task was spawned, if the scheduler stores it. This value is part of the
    /// task, so tasks of other schedulers need no memory for it.
    fn spawned_at(&self) -> Option<&'static Location<'static>> {
        None
    }

    /// Called when the task has panicked: in a poll, or in the drop of its future after that, or
    /// both. Not called for a panic in the drop of a future that was aborted, or of an output.
    ///
    /// Called by the thread that runs the task, before the task completes and its join handle
    /// receives the panic.
    fn panicked(&self) {}

    /// Called after the last run of the task, with the reason for its end. The future has been
    /// dropped; the join handle is notified after this call. The future of a task that has panicked
    /// counts as dropped, even if its drop has panicked.
    ///
    /// Called by the thread that runs or cancels the task, as part of the run. A panic is caught.
    fn ended(&self, reason: EndReason) {
        let _ = reason;
    }
}

/// Why a task has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    pub(crate) fn of<T>(output: &Result<T, JoinError>) -> Self {
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

/// Makes a task from a future. Returns its first runnable, without scheduling it.
///
/// A future that is larger than [`MAX_INLINE_SIZE`](crate::MAX_INLINE_SIZE) is boxed.
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
    box_if_large!(future: F, Box::pin => unsafe { spawn_unchecked(future, scheduler) })
}

/// Makes a task from a future that need not be `Send` or `'static`.
///
/// # Safety
///
/// If the future is not `Send`, the runnable and all later runnables of the task must be run and
/// dropped on the thread that spawned it. If its output is not `Send`, the handle must stay on that
/// thread too. If the future borrows data, the task must be completed or cancelled before that data
/// goes out of scope.
///
/// # Examples
///
/// ```
/// use raddle_task::{Outcome, Runnable};
///
/// let text = String::from("borrowed");
/// let length = async { text.len() };
/// // SAFETY: the task runs on this thread, and completes while `text` exists.
/// let (task, handle) =
///     unsafe { raddle_task::spawn_unchecked(length, drop::<Runnable>) };
/// assert!(matches!(task.run(), Outcome::Complete));
/// assert_eq!(raddle_testing::ready(handle).unwrap(), 8);
/// ```
#[inline]
pub unsafe fn spawn_unchecked<F, S>(future: F, scheduler: S) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future,
    S: Schedule,
{
    let header = box_if_large!(future: F, Box::pin => Cell::allocate(future, scheduler));
    // SAFETY: a new task is notified: its runnable exists once, here.
    let runnable = unsafe { Runnable::from_header(header) };
    // SAFETY: a new task has a reference for its handle, made once, here.
    let handle = unsafe { JoinHandle::new(header) };
    (runnable, handle)
}
