//! The tasks that an observer receives with an event.

use std::fmt;
use std::panic::Location;

use raddle_task::{Id, Runnable, WakerCount};

use crate::TaskMeta;

/// A task that is being spawned, for [`Observer::task_spawned`](crate::Observer::task_spawned).
#[derive(Clone, Copy, Debug)]
pub struct SpawnedTask<'a> {
    id: Id,
    location: &'static Location<'static>,
    name: Option<&'a str>,
}

impl<'a> SpawnedTask<'a> {
    /// Makes the description of a task that is being spawned.
    ///
    /// ```
    /// use std::panic::Location;
    ///
    /// use raddle_sched::{Observer, SpawnedTask};
    ///
    /// /// What a scheduler does when it spawns a task.
    /// #[track_caller]
    /// fn report_spawn(observer: &dyn Observer, name: Option<&str>) {
    ///     let id = raddle_task::upcoming_id();
    ///     observer.task_spawned(&SpawnedTask::new(id, Location::caller(), name));
    /// }
    ///
    /// struct Printer;
    ///
    /// impl Observer for Printer {
    ///     fn task_spawned(&self, task: &SpawnedTask<'_>) {
    ///         println!("task {} ({:?}) from {}", task.id(), task.name(), task.location());
    ///     }
    /// }
    ///
    /// report_spawn(&Printer, Some("accept"));
    /// ```
    pub fn new(id: Id, location: &'static Location<'static>, name: Option<&'a str>) -> Self {
        Self { id, location, name }
    }

    /// Returns the task's id.
    pub fn id(&self) -> Id {
        self.id
    }

    /// Returns where the task is spawned.
    #[track_caller]
    pub fn location(&self) -> &'static Location<'static> {
        self.location
    }

    /// Returns the name that was [set](raddle_task::name_next) for the task.
    pub fn name(&self) -> Option<&'a str> {
        self.name
    }
}

/// A task that is about to be polled, for
/// [`Observer::poll_started`](crate::Observer::poll_started).
#[derive(Clone, Copy)]
pub struct TaskRef<'a> {
    task: &'a Runnable,
}

impl<'a> TaskRef<'a> {
    /// Makes the description of the task that `task` runs.
    #[inline]
    pub fn new(task: &'a Runnable) -> Self {
        Self { task }
    }

    /// Returns the task's id.
    #[inline]
    pub fn id(&self) -> Id {
        self.task.id()
    }

    /// Returns the address that the [task's wakers](Runnable::waker_address) point to.
    #[inline]
    pub fn waker_address(&self) -> usize {
        self.task.waker_address()
    }

    /// Returns an object that [counts the task's wakers](WakerCount::get). Give it up when the task
    /// has ended: it keeps the memory of the task.
    pub fn waker_count(&self) -> WakerCount {
        self.task.waker_count()
    }

    /// Returns where the task was spawned. This costs an indirect call.
    ///
    /// # Panics
    ///
    /// Panics if the observer does not [need](crate::Observer::needs_locations) locations.
    pub fn location(&self) -> &'static Location<'static> {
        let location = self.task.spawned_at();
        location.expect("the tasks have no locations; return true from needs_locations")
    }

    /// What a [task hook](crate::TaskHook) gets, or `None` if the scheduler records no locations.
    pub fn meta(&self) -> Option<TaskMeta<'static>> {
        Some(TaskMeta::new(self.id(), self.task.spawned_at()?))
    }
}

impl fmt::Debug for TaskRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskRef").field(&self.id()).finish()
    }
}
