//! Task lifecycle callbacks.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;

use raddle_task::Id;

/// A callback for an event in a task's life.
///
/// It runs on the thread where the event happens, outside the task: [`raddle_task::try_id`] does
/// not return the task's id. If it panics, std's panic hook reports the panic, and the task, the
/// worker and the spawner continue.
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
    /// Allows a later version to borrow from the task.
    task: PhantomData<&'a ()>,
}

impl TaskMeta<'_> {
    pub(crate) fn new(id: Id, location: &'static Location<'static>) -> Self {
        Self {
            id,
            location,
            task: PhantomData,
        }
    }

    /// Returns the id of the task. The task's join handle returns the same id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns the source location where the task was spawned.
    pub fn spawned_at(&self) -> &'static Location<'static> {
        self.location
    }
}

/// The callbacks that a scheduler calls for each of its tasks.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use raddle_sched::{TaskHooks, TaskMeta};
///
/// let hooks = TaskHooks {
///     on_spawn: Some(Arc::new(|task: &TaskMeta<'_>| println!("spawned {}", task.id()))),
///     ..TaskHooks::default()
/// };
/// assert!(hooks.are_set());
/// ```
#[derive(Clone, Default)]
pub struct TaskHooks {
    /// Called when a task is spawned, on the spawning thread, before the task can run.
    pub on_spawn: Option<TaskHook>,
    /// Called when a task has ended, whether it completed, panicked or was aborted. Its future is
    /// dropped by then, and its join handle may have been woken.
    pub on_terminate: Option<TaskHook>,
    /// Called before each poll of a task, and before the drop of its future if the task was
    /// aborted.
    pub before_poll: Option<TaskHook>,
    /// Called after each poll or drop that `before_poll` announced, also if it panicked.
    pub after_poll: Option<TaskHook>,
}

impl TaskHooks {
    /// Whether any callback is set.
    pub fn are_set(&self) -> bool {
        self.on_spawn.is_some()
            || self.on_terminate.is_some()
            || self.before_poll.is_some()
            || self.after_poll.is_some()
    }
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
