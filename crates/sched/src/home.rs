//! Makes tasks from futures, and queues woken tasks.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;

use crate::events::{SpawnedTask, TaskRef};
use raddle_primitives::sync::Arc;
use raddle_task::{EndReason, JoinHandle, Runnable, Schedule};

use crate::config::call_hook;
use crate::context;
use crate::panics::UnhandledPanic;
use crate::task::Task;
use crate::worker::core::Core;
use crate::worker::shared::Shared;

/// The scheduler of a task: a pointer to the shared state.
///
/// It is not counted as a reference: every spawn and completion on every worker would have to
/// change the count. It is valid while the task has not completed: the workers keep the shared
/// state alive, and the last of them completes every task before it drops its reference
/// (`docs/scheduler.md`, shutdown).
#[derive(Clone, Copy)]
pub(crate) struct Home(NonNull<Shared>);

// SAFETY: any thread may use the shared state by a `Home`, because it is `Sync`. `schedule` makes
// an `Arc` of it, and a thread that drops the last one drops the shared state, which may be on
// another thread than the one that made it, because it is `Send`. The compiler checks both bounds.
unsafe impl Send for Home where Shared: Send + Sync {}
// SAFETY: as above; a `Home` has no state of its own.
unsafe impl Sync for Home where Shared: Send + Sync {}

impl Home {
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        // SAFETY: an `Arc`'s pointer is never null.
        Self(unsafe { NonNull::new_unchecked(Arc::as_ptr(shared).cast_mut()) })
    }

    /// Whether a worker shares this state.
    #[inline]
    fn is_of(&self, core: &Core) -> bool {
        std::ptr::eq(Arc::as_ptr(core.shared()), self.0.as_ptr())
    }
}

impl Schedule for Home {
    #[inline]
    fn schedule(&self, task: Runnable) {
        let task = Task(task);
        context::with_core(|core| match core {
            Some(core) if self.is_of(core) => {
                if core.shared().observes_tasks {
                    return notify_and_schedule(core, task);
                }
                core.queues.schedule(task);
            }
            _ => {
                // SAFETY: the pointer comes from `Arc::as_ptr`. `task` has not completed, and
                // cannot before it is pushed below, so the worker that completes it later holds a
                // reference now. From here on this function holds one too.
                let shared = unsafe {
                    Arc::increment_strong_count(self.0.as_ptr());
                    Arc::from_raw(self.0.as_ptr())
                };
                let id = task.0.id();
                shared.config.notify(|observer| observer.task_woken(id));
                shared.inject(task);
            }
        });
    }

    /// Counts the completion, which the join handle does not show yet: a thread that has joined the
    /// task finds it counted.
    #[inline]
    fn ended(&self, reason: EndReason) {
        // SAFETY: the task that calls this has not completed, and until it has, a worker holds a
        // reference to the shared state (see `Home`).
        let shared = unsafe { self.0.as_ref() };
        context::with_core(|core| match core {
            Some(core) if self.is_of(core) => core.queues.counters.completed.add(1),
            _ => shared.count_completed_outside(),
        });
        if shared.observes_tasks {
            context::set_end_reason(reason);
        }
    }

    #[cold]
    fn panicked(&self) {
        // SAFETY: as in `ended`.
        let shared = unsafe { self.0.as_ref() };
        if shared.config.unhandled_panic == UnhandledPanic::Ignore {
            return;
        }
        context::with_core(|core| match core {
            Some(core) if core.scheduler == shared.id => {
                let parts = || Shared::parts(&core.first_part);
                // Closed before another thread can learn of the panic and spawn again.
                parts().for_each(|part| part.close());
                parts().for_each(|part| part.panics.shut_down());
                // The next step checks whether the scheduler is closed.
                core.ticks.force_tick();
            }
            _ => {
                shared.close();
                shared.panics.shut_down();
            }
        });
    }
}

/// Schedules a task on its worker, which is observed.
#[inline(never)]
fn notify_and_schedule(core: &Core, task: Task) {
    let (queues, id) = (&core.queues, task.0.id());
    queues.notify_observer(|observer, _| observer.task_woken(id));
    queues.schedule(task);
}

/// The scheduler of a task that remembers where it was spawned.
#[derive(Clone, Copy)]
struct LocatedHome {
    home: Home,
    location: &'static Location<'static>,
}

impl Schedule for LocatedHome {
    fn schedule(&self, task: Runnable) {
        self.home.schedule(task);
    }

    fn spawned_at(&self) -> Option<&'static Location<'static>> {
        Some(self.location)
    }

    fn panicked(&self) {
        self.home.panicked();
    }

    fn ended(&self, reason: EndReason) {
        self.home.ended(reason);
    }
}

/// Makes a task of a future that is spawned at `location`.
#[inline]
pub(crate) fn task<F>(
    shared: &Arc<Shared>,
    future: F,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future and its output may be on any thread at any time.
    unsafe { task_unchecked(shared, future, location) }
}

/// Makes a task of a future that need not be `Send`, for a pinned worker.
///
/// # Safety
///
/// As for [`raddle_task::spawn_unchecked`].
#[inline]
pub(crate) unsafe fn task_unchecked<F>(
    shared: &Arc<Shared>,
    future: F,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
{
    let (task, handle) = match shared.locates_tasks {
        // SAFETY: the caller upholds the same contract.
        false => unsafe { raddle_task::spawn_unchecked(future, Home::of(shared)) },
        // SAFETY: as above.
        true => unsafe { spawn_located(shared, Box::pin(future), location) },
    };
    if shared.observes_tasks {
        notify_of_spawn(shared, &task, location);
    }
    (task, handle)
}

/// Makes a task that remembers where it was spawned.
///
/// # Safety
///
/// As for [`raddle_task::spawn_unchecked`].
#[cold]
unsafe fn spawn_located<T: 'static>(
    shared: &Arc<Shared>,
    future: Pin<Box<dyn Future<Output = T>>>,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<T>) {
    let home = LocatedHome {
        home: Home::of(shared),
        location,
    };
    // SAFETY: the caller upholds the same contract.
    unsafe { raddle_task::spawn_unchecked(future, home) }
}

/// Calls the observer and the hook for a task that is spawned.
#[inline(never)]
fn notify_of_spawn(shared: &Shared, task: &Runnable, location: &'static Location<'static>) {
    let config = &shared.config;
    if config.observer.is_some() {
        let _pinned = context::pin();
        let name = raddle_task::take_name();
        let spawned = SpawnedTask::new(task.id(), location, name.as_deref());
        config.notify(|observer| observer.task_spawned(&spawned));
    }
    let meta = TaskRef::new(task).meta();
    call_hook(&config.task_hooks.on_spawn, &meta);
}

/// Spawns a task onto a worker, which the calling thread runs.
#[inline]
pub(crate) fn spawn_onto<F>(
    core: &Core,
    future: F,
    location: &'static Location<'static>,
) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (task, handle) = task(core.shared(), future, location);
    core.start(task);
    handle
}
