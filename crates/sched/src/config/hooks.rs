//! Task lifecycle callbacks.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use raddle_task::{Id, Outcome, Runnable};

use crate::context;

/// A function that is called at some point of each task's life.
///
/// It runs on the thread at hand, outside the task: [`raddle_task::try_id`]
/// does not name it. A panic in it ends the call and nothing else: std's panic
/// hook reports it, and the task, the worker and the spawner go on.
pub type TaskHook = Arc<dyn Fn(&TaskMeta<'_>) + Send + Sync>;

/// The task that a hook is called for.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::TaskMeta;
///
/// /// A hook for `Builder::on_task_spawn`.
/// fn spawned(task: &TaskMeta<'_>) {
///     println!("task {} from {}", task.id(), task.spawned_at());
/// }
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct TaskMeta<'a> {
    id: Id,
    location: &'static Location<'static>,
    /// Room for what a later version may borrow from the task.
    task: PhantomData<&'a ()>,
}

impl TaskMeta<'_> {
    /// None of a scheduler without hooks, which notes no locations.
    pub(crate) fn of(task: &Runnable) -> Option<Self> {
        Some(Self {
            id: task.id(),
            location: task.spawned_at()?,
            task: PhantomData,
        })
    }

    /// The task's id, which its join handle tells too.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::runtime::TaskMeta;
    ///
    /// /// A hook for `Builder::on_task_spawn`.
    /// fn spawned(task: &TaskMeta<'_>) {
    ///     println!("task {} from {}", task.id(), task.spawned_at());
    /// }
    /// # fn main() {}
    /// ```
    pub fn id(&self) -> Id {
        self.id
    }

    /// Where the task was spawned.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::runtime::TaskMeta;
    ///
    /// /// A hook for `Builder::on_task_spawn`.
    /// fn spawned(task: &TaskMeta<'_>) {
    ///     println!("task {} from {}", task.id(), task.spawned_at());
    /// }
    /// # fn main() {}
    /// ```
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.location
    }
}

/// The functions that a scheduler calls for each of its tasks.
#[derive(Clone, Default)]
pub struct TaskHooks {
    /// Runs where a task is spawned, before it can run.
    pub on_spawn: Option<TaskHook>,
    /// Runs when a task has ended, however it did: its future is dropped, and
    /// its join handle may have been woken.
    pub on_terminate: Option<TaskHook>,
    /// Runs before each poll of a task, or before it is dropped instead since
    /// it was aborted.
    pub before_poll: Option<TaskHook>,
    /// Runs after the same, also if the poll panicked.
    pub after_poll: Option<TaskHook>,
}

impl TaskHooks {
    /// Whether there is any.
    pub(crate) fn are_set(&self) -> bool {
        self.on_spawn.is_some()
            || self.on_terminate.is_some()
            || self.before_poll.is_some()
            || self.after_poll.is_some()
    }

    pub(crate) fn spawned(&self, task: &Runnable) {
        call(&self.on_spawn, &TaskMeta::of(task));
    }

    pub(crate) fn before_poll(&self, task: &Option<TaskMeta<'_>>) {
        call(&self.before_poll, task);
    }

    pub(crate) fn after_poll(&self, task: &Option<TaskMeta<'_>>) {
        call(&self.after_poll, task);
    }

    /// Says that a task has ended, if the outcome of its run is that.
    pub(crate) fn ended(&self, task: &Option<TaskMeta<'_>>, outcome: &Outcome) {
        if matches!(outcome, Outcome::Complete | Outcome::CompleteElsewhere) {
            call(&self.on_terminate, task);
        }
    }

    /// Cancels a task outside a worker's run, and says so.
    pub(crate) fn cancel(&self, task: Runnable) -> Outcome {
        let meta = TaskMeta::of(&task);
        let outcome = task.cancel(None);
        self.ended(&meta, &outcome);
        outcome
    }
}

fn call(hook: &Option<TaskHook>, task: &Option<TaskMeta<'_>>) {
    let (Some(hook), Some(task)) = (hook, task) else {
        return;
    };
    let _pinned = context::pin();
    raddle_primitives::contain(|| hook(task));
}

impl fmt::Debug for TaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskHooks")
            .field("on_spawn", &self.on_spawn.is_some())
            .field("on_terminate", &self.on_terminate.is_some())
            .field("before_poll", &self.before_poll.is_some())
            .field("after_poll", &self.after_poll.is_some())
            .finish()
    }
}
