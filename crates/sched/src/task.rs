//! The tasks of a scheduler: what its queues hold, and where a wake leads.

use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;

use raddle_primitives::sync::Arc;
use raddle_queue::Pointer;
use raddle_task::{JoinHandle, Runnable, Schedule};

use crate::context;
use crate::shared::Shared;

/// A runnable in a queue.
#[derive(Debug)]
pub(crate) struct Task(pub(crate) Runnable);

// SAFETY: `Runnable::into_raw` and `from_raw` are inverses, and run no code of
// the task.
unsafe impl Pointer for Task {
    #[inline]
    fn into_ptr(self) -> NonNull<()> {
        self.0.into_raw()
    }

    #[inline]
    unsafe fn from_ptr(ptr: NonNull<()>) -> Self {
        // SAFETY: the caller passes what `into_ptr` returned, once.
        Self(unsafe { Runnable::from_raw(ptr) })
    }
}

/// The scheduler of a task: a pointer to the shared state.
///
/// It is not a reference count, which every spawn and completion of every
/// worker would have to change. It is valid while the task has not completed:
/// the shared state is kept by the workers, and the last of them completes
/// every task before it goes (`docs/scheduler.md`, shutdown).
#[derive(Clone, Copy)]
pub(crate) struct Home(NonNull<Shared>);

// SAFETY: the shared state is `Sync`.
unsafe impl Send for Home {}
// SAFETY: as above.
unsafe impl Sync for Home {}

impl Home {
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        // SAFETY: an `Arc`'s pointer is never null.
        Self(unsafe { NonNull::new_unchecked(Arc::as_ptr(shared).cast_mut()) })
    }
}

impl Schedule for Home {
    #[inline]
    fn schedule(&self, task: Runnable) {
        let task = Task(task);
        match context::worker() {
            Some(worker) if std::ptr::eq(worker.shared(), self.0.as_ptr()) => {
                worker.schedule(task);
            }
            _ => {
                // SAFETY: `task` has not completed, and cannot before it is
                // pushed below, so the shared state is there; from here on it
                // is kept by a reference of our own.
                let shared = unsafe {
                    Arc::increment_strong_count(self.0.as_ptr());
                    Arc::from_raw(self.0.as_ptr())
                };
                shared.inject(task);
            }
        }
    }

    #[cold]
    fn panicked(&self) {
        // SAFETY: the task that calls this has not completed, and the shared
        // state is there until it has.
        unsafe { self.0.as_ref() }.task_panicked();
    }
}

/// The scheduler of a task that hooks are told of.
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
}

/// Makes a task of a future.
#[inline]
#[track_caller]
pub(crate) fn spawn<F>(shared: &Arc<Shared>, future: F) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match shared.has_task_hooks {
        false => raddle_task::spawn(future, Home::of(shared)),
        // SAFETY: the future and its output may be on any thread at any time.
        true => unsafe { spawn_hooked(shared, Box::pin(future)) },
    }
}

/// Makes a task of a future that need not be `Send`, for a pinned worker.
///
/// # Safety
///
/// As for [`raddle_task::spawn_unchecked`].
#[track_caller]
pub(crate) unsafe fn spawn_unchecked<F>(
    shared: &Arc<Shared>,
    future: F,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
{
    match shared.has_task_hooks {
        // SAFETY: the caller's.
        false => unsafe { raddle_task::spawn_unchecked(future, Home::of(shared)) },
        // SAFETY: the caller's.
        true => unsafe { spawn_hooked(shared, Box::pin(future)) },
    }
}

/// Makes a task that the hooks are told of.
///
/// # Safety
///
/// As for [`raddle_task::spawn_unchecked`].
#[cold]
#[track_caller]
unsafe fn spawn_hooked<T: 'static>(
    shared: &Arc<Shared>,
    future: Pin<Box<dyn Future<Output = T>>>,
) -> (Runnable, JoinHandle<T>) {
    let home = LocatedHome {
        home: Home::of(shared),
        location: Location::caller(),
    };
    // SAFETY: the caller's.
    let (task, handle) = unsafe { raddle_task::spawn_unchecked(future, home) };
    shared.config.task_hooks.spawned(&task);
    (task, handle)
}
