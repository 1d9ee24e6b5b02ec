//! The tasks that an observer receives with an event.

use std::fmt;
use std::panic::Location;

use raddle_task::{Id, Runnable};

use crate::TaskMeta;

/// A task that is being spawned, for [`Observer::task_spawned`](crate::Observer::task_spawned).
///
/// # Examples
///
/// ```
/// use raddle_events::{Observer, SpawnedTask};
///
/// struct Printer;
///
/// impl Observer for Printer {
///     fn task_spawned(&self, task: &SpawnedTask<'_>) {
///         println!("task {} ({:?}) from {}", task.id(), task.name(), task.location());
///     }
/// }
/// ```
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
    /// use raddle_events::{Observer, SpawnedTask};
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
    ///         assert_eq!(task.name(), Some("accept"));
    ///         println!("task {} is spawned at {}", task.id(), task.location());
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
///
/// # Examples
///
/// ```
/// use raddle_events::{Observer, TaskRef};
///
/// struct Printer;
///
/// impl Observer for Printer {
///     fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
///         println!("worker {worker}: task {} from {}", task.id(), task.location());
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct TaskRef<'a> {
    task: &'a Runnable,
}

impl<'a> TaskRef<'a> {
    /// Makes the description of the task that `task` runs.
    ///
    /// ```
    /// use raddle_events::{Observer, TaskRef};
    /// use raddle_task::Runnable;
    ///
    /// /// What a scheduler does when a worker runs a task.
    /// fn run(observer: &dyn Observer, worker: usize, task: Runnable) {
    ///     observer.poll_started(worker, TaskRef::new(&task));
    ///     drop(task.run());
    /// }
    ///
    /// struct Printer;
    ///
    /// impl Observer for Printer {
    ///     fn poll_started(&self, worker: usize, task: TaskRef<'_>) {
    ///         println!("worker {worker} polls task {}", task.id());
    ///     }
    /// }
    ///
    /// let (task, handle) = raddle_task::spawn(async {}, drop::<Runnable>);
    /// run(&Printer, 0, task);
    /// assert!(handle.is_finished());
    /// ```
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
    ///
    /// ```
    /// use std::future::poll_fn;
    /// use std::task::Poll;
    ///
    /// use raddle_events::TaskRef;
    /// use raddle_task::Runnable;
    ///
    /// let address = poll_fn(|cx| Poll::Ready(cx.waker().data().addr()));
    /// let check = async move { println!("polled with the waker at {:#x}", address.await) };
    /// let (task, _handle) = raddle_task::spawn(check, drop::<Runnable>);
    /// println!("the wakers of the task are at {:#x}", TaskRef::new(&task).waker_address());
    /// drop(task.run());
    /// ```
    #[inline]
    pub fn waker_address(&self) -> usize {
        self.task.waker_address()
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
    ///
    /// ```
    /// use raddle_events::TaskRef;
    /// use raddle_task::Runnable;
    ///
    /// // This scheduler does not record where its tasks are spawned, so it calls no hooks.
    /// let (task, _handle) = raddle_task::spawn(async {}, drop::<Runnable>);
    /// assert!(TaskRef::new(&task).meta().is_none());
    /// ```
    pub fn meta(&self) -> Option<TaskMeta<'static>> {
        Some(TaskMeta::new(self.id(), self.task.spawned_at()?))
    }
}

impl fmt::Debug for TaskRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TaskRef").field(&self.id()).finish()
    }
}
