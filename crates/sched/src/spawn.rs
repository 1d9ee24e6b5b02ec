//! Spawning: makes tasks from futures, and queues them on the worker at hand or from outside.

use std::future::Future;
use std::num::NonZeroU64;
use std::panic::Location;
use std::pin::Pin;

use raddle_primitives::current;
use raddle_primitives::sync::Arc;
use raddle_task::{JoinHandle, Runnable, box_if_large};

use crate::config::call_hook;
use crate::context::{self, let_core};
use crate::events::{SpawnedTask, TaskRef};
use crate::handle::{Handle, no_runtime};
use crate::schedule::{ShardPtr, ShardPtrWithLocation};
use crate::task::Task;
use crate::worker::core::Core;
use crate::worker::shard::Shard;

/// Spawns a task on the current scheduler.
///
/// # Panics
///
/// Panics outside any scheduler.
#[track_caller]
#[inline]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let location = Location::caller();
    let spawned = box_if_large!(future: F, Box::pin => {
        let_core!(core);
        match core.filter(|core| context::is_current(core.scheduler)) {
            Some(core) => Some(spawn_onto(core, future, location)),
            None => spawn_from_outside(future, location),
        }
    });
    match spawned {
        Some(handle) => handle,
        None => no_runtime(),
    }
}

/// Spawns a task onto the current scheduler without a change of its reference count: the handle
/// is borrowed, and no code of the user, which might enter another scheduler, runs meanwhile.
/// Returns `None` if there is no current scheduler.
#[inline]
fn spawn_from_outside<F>(
    future: F,
    location: &'static Location<'static>,
) -> Option<JoinHandle<F::Output>>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let mut future = Some(future);
    let spawned = current::with(|handle: &Handle| {
        let shard = Shard::for_spawn(&handle.first_shard);
        if shard.observes_wakes || shard.is_closed() {
            return None;
        }
        let (task, join) = task(shard, future.take()?, location);
        let pushed = shard.push_spawned(Task(task));
        let to_wake = pushed.map(|()| shard.claim_from_outside());
        let calls_user = !matches!(to_wake, Ok(None));
        Some((join, to_wake, calls_user.then(|| shard.clone())))
    });
    let Some((join, to_wake, shard)) = spawned.flatten() else {
        let handle = Handle::try_current()?;
        return Some(handle.spawn_injected(future.take()?, location));
    };
    if let Some(shard) = shard {
        match to_wake {
            Ok(worker) => worker.into_iter().for_each(|worker| shard.unpark(worker)),
            Err(task) => shard.refuse(task),
        }
    }
    Some(join)
}

/// Spawns a task on the calling worker, where it stays, so that the future and its output need not
/// be `Send`.
///
/// # Panics
///
/// Panics unless it is called on a worker of the current scheduler, in a task or in other code, and
/// the policy is [`Policy::Sharded`](crate::Policy::Sharded): see [`is_on_pinned_worker`].
///
/// # Examples
///
/// ```
/// use std::rc::Rc;
///
/// use raddle_sched::{Config, Policy, Pool};
///
/// let config = Config { policy: Policy::Sharded, ..Config::default() };
/// let pool = Pool::start(config, None)?;
/// let task = pool.handle().spawn_on(0, || async {
///     let text = Rc::new("not Send");
///     let shared = Rc::clone(&text);
///     let length = raddle_sched::spawn_local(async move { shared.len() });
///     (length.await.unwrap(), Rc::strong_count(&text))
/// });
/// assert_eq!(pool.handle().block_on(task).unwrap(), (8, 1));
/// # Ok::<(), std::io::Error>(())
/// ```
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    box_if_large!(future: F, Box::pin => spawn_local_sized(future))
}

#[track_caller]
fn spawn_local_sized<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let location = Location::caller();
    let spawned = context::with_core_of_entered(|core| {
        let core = core.filter(|core| core.is_pinned())?;
        // SAFETY: the worker adopts the task, before anything can wake it, or cancels it here; it
        // is pinned and this thread runs it; so the task is run and dropped here
        // (`config/policy.rs` has the proof). The handle is not `Send` unless the output is. The
        // future borrows nothing that ends.
        let (task, handle) = unsafe { task_unchecked(core.shard(), future, location) };
        // Other tasks are adopted after their first poll. Until then this one would not keep the
        // worker on its thread.
        core.live.adopt(&task);
        core.start(task);
        Some(handle)
    });
    let Some(handle) = spawned else {
        panic!(
            "spawn_local was called outside the workers of a sharded scheduler; call it in a task \
             of one, or send it there by spawn_on"
        );
    };
    handle
}

/// Returns whether the calling thread runs a pinned worker of the current scheduler, that is, a
/// worker of a sharded scheduler. Its tasks need not be `Send`, and it cannot be handed off to
/// another thread.
pub fn is_on_pinned_worker() -> bool {
    context::with_core_of_entered(|core| core.is_some_and(Core::is_pinned))
}

/// Makes a task of a future that is spawned at `location`.
#[inline]
pub(crate) fn task<F>(
    shard: &Arc<Shard>,
    future: F,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    // SAFETY: the future and its output may be on any thread at any time.
    unsafe { task_unchecked(shard, future, location) }
}

/// Makes a task of a future that need not be `Send`, for a pinned worker.
///
/// # Safety
///
/// As for [`raddle_task::spawn_unchecked`].
#[inline]
pub(crate) unsafe fn task_unchecked<F>(
    shard: &Arc<Shard>,
    future: F,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + 'static,
    F::Output: 'static,
{
    let (task, handle) = match shard.locates_tasks {
        // SAFETY: the caller upholds the same contract.
        false => unsafe { raddle_task::spawn_unchecked(future, ShardPtr::of(shard)) },
        true => {
            let future = Box::pin(future);
            raddle_task::note_boxed(&*future);
            // SAFETY: as above.
            unsafe { spawn_located(shard, future, location) }
        }
    };
    if shard.observes_wakes {
        notify_of_spawn(shard, &task, location);
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
    shard: &Arc<Shard>,
    future: Pin<Box<dyn Future<Output = T>>>,
    location: &'static Location<'static>,
) -> (Runnable, JoinHandle<T>) {
    let scheduler = ShardPtrWithLocation {
        shard: ShardPtr::of(shard),
        location,
    };
    // SAFETY: the caller upholds the same contract.
    unsafe { raddle_task::spawn_unchecked(future, scheduler) }
}

/// Calls the observer and the hook for a task that is spawned.
#[inline(never)]
fn notify_of_spawn(shard: &Shard, task: &Runnable, location: &'static Location<'static>) {
    let config = &shard.config;
    if config.observer.is_some() {
        let name = raddle_task::take_name();
        let spawned = SpawnedTask::new(task.id(), location, name.as_deref());
        config.notify(|observer| observer.task_spawned(&spawned));
    }
    if config.task_hooks.on_spawn.is_some() {
        let meta = TaskRef::new(task).meta();
        call_hook(&config.task_hooks.on_spawn, &meta);
    }
    context::with_core(|core| match core {
        Some(core) if std::ptr::eq(&**core.shard(), shard) => {
            core.count_wake(NonZeroU64::from(task.id()).get())
        }
        _ => shard.count_wake(task.id()),
    });
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
    let (task, handle) = task(core.shard(), future, location);
    core.start(task);
    handle
}
