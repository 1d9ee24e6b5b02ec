//! Tasks that stay on the thread that spawned them.

use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use raddle_primitives::sync::Arc;

use crate::{Id, JoinHandle, LiveList, Outcome, Runnable, Schedule, box_if_large};

/// The scheduler of a [`LocalList`], which receives its woken tasks.
pub trait ScheduleLocal: Send + Sync + 'static {
    /// Accepts a task that is ready to run, on the thread that wakes it. The scheduler must pass it
    /// to the thread of its list, the only one that can run it.
    fn schedule(&self, task: LocalRunnable);

    /// Like [`Schedule::panicked`]: called by the list's thread when a task has panicked.
    fn panicked(&self) {}
}

/// The right to let a task of a [`LocalList`] run once.
///
/// It may be on any thread, but only [`LocalList::run`] can run it. Dropping it leaks the task,
/// since the future must be dropped on the thread of its list, and this may be another thread.
#[must_use = "dropping it leaks the task; give it to LocalList::run"]
pub struct LocalRunnable(ManuallyDrop<Runnable>);

impl LocalRunnable {
    fn new(task: Runnable) -> Self {
        Self(ManuallyDrop::new(task))
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.0.id()
    }

    /// Returns the address that the task's wakers point to; see [`Runnable::waker_address`].
    pub fn waker_address(&self) -> usize {
        self.0.waker_address()
    }
}

impl fmt::Debug for LocalRunnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalRunnable").field(&self.id()).finish()
    }
}

/// A list of tasks that need not be `Send`: the list stays on one thread, and only the list can run
/// its tasks.
///
/// A list that is dropped before its tasks have completed leaks them; call
/// [`abort_all`](Self::abort_all) first.
///
/// ```
/// use std::rc::Rc;
/// use std::sync::{Arc, mpsc};
///
/// use raddle_task::{LocalList, LocalRunnable, ScheduleLocal};
///
/// struct Queue(mpsc::Sender<LocalRunnable>);
///
/// impl ScheduleLocal for Queue {
///     fn schedule(&self, task: LocalRunnable) {
///         self.0.send(task).unwrap();
///     }
/// }
///
/// let (queue, due) = mpsc::channel();
/// let list = LocalList::new();
/// let rc = Rc::new(());
/// let (task, handle) = list.spawn(async move { drop(rc) }, Arc::new(Queue(queue)));
/// assert_eq!(list.len(), 1);
/// assert!(list.run(task).is_none());
/// assert!(handle.is_finished() && due.try_recv().is_err());
/// assert!(list.is_empty());
/// ```
///
/// Neither the list nor, while the output is not `Send`, a handle leaves the thread:
///
/// ```compile_fail,E0277
/// let list = raddle_task::LocalList::new();
/// std::thread::spawn(move || drop(list));
/// ```
pub struct LocalList {
    live: LiveList,
    /// The pointer binds the type to its thread.
    thread: PhantomData<*mut ()>,
}

impl LocalList {
    /// Makes an empty list for the calling thread.
    pub fn new() -> Self {
        Self {
            live: LiveList::new(),
            thread: PhantomData,
        }
    }

    /// Makes a task from a future, in this list. Returns its first runnable, without scheduling it.
    pub fn spawn<F, S>(
        &self,
        future: F,
        scheduler: Arc<S>,
    ) -> (LocalRunnable, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        F::Output: 'static,
        S: ScheduleLocal,
    {
        box_if_large!(future: F, Box::pin => self.spawn_sized(future, scheduler))
    }

    fn spawn_sized<F, S>(
        &self,
        future: F,
        scheduler: Arc<S>,
    ) -> (LocalRunnable, JoinHandle<F::Output>)
    where
        F: Future + 'static,
        F::Output: 'static,
        S: ScheduleLocal,
    {
        // SAFETY: each runnable of the task is in a `LocalRunnable` before code that might drop it
        // sees it (here, and in `Bound`). Only `run` takes it out, of the list that has adopted the
        // task, which never leaves this thread. The handle stays on this thread too, unless the
        // output may leave it. The future borrows nothing that ends.
        let (task, handle) = unsafe { crate::spawn_unchecked(future, Bound(scheduler)) };
        let task = LocalRunnable::new(task);
        self.live.adopt(&task.0);
        (task, handle)
    }

    /// Polls a task, or drops its future if it was aborted. Returns the task if it was woken
    /// meanwhile, and is ready to run again.
    ///
    /// # Panics
    ///
    /// Panics if the task belongs to another list; the task is leaked then.
    #[track_caller]
    pub fn run(&self, task: LocalRunnable) -> Option<LocalRunnable> {
        assert!(
            self.live.holds(&task.0),
            "a local task must be run by the list that spawned it"
        );
        match ManuallyDrop::into_inner(task.0).run_in(&self.live) {
            Outcome::Again(task) => Some(LocalRunnable::new(task)),
            Outcome::Idle | Outcome::Complete => None,
            Outcome::CompleteElsewhere => unreachable!("it was run in its own list"),
        }
    }

    /// Aborts every task. Passes idle tasks to `enqueue`: running them drops their futures. The
    /// other tasks have a runnable that is in a queue or about to be queued, and are cancelled when
    /// that is run.
    pub fn abort_all(&self, mut enqueue: impl FnMut(LocalRunnable)) {
        self.live
            .abort_all(|task| enqueue(LocalRunnable::new(task)));
    }

    /// Returns the number of tasks that have not completed.
    pub fn len(&self) -> usize {
        self.live.len()
    }

    /// Returns whether every task has completed.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}

impl Default for LocalList {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for LocalList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalList")
            .field("len", &self.len())
            .finish()
    }
}

/// The scheduler of a task that is bound to its thread.
///
/// It is an `Arc`, because a wake clones the scheduler while it holds the bare runnable. If the
/// clone could panic, the panic would drop the runnable on the waking thread.
struct Bound<S>(Arc<S>);

impl<S> Clone for Bound<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S: ScheduleLocal> Schedule for Bound<S> {
    fn schedule(&self, task: Runnable) {
        self.0.schedule(LocalRunnable::new(task));
    }

    fn panicked(&self) {
        self.0.panicked();
    }
}
