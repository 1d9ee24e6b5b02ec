//! The scheduler that each task has: where a woken task goes, and what is done when a task ends.

use std::num::NonZeroU64;
use std::panic::Location;
use std::ptr::{self, NonNull};

use raddle_primitives::sync::Arc;
use raddle_task::{EndReason, Runnable, Schedule};

use crate::context;
use crate::panics::UnhandledPanic;
use crate::task::Task;
use crate::worker::core::Core;
use crate::worker::shard::Shard;

/// The scheduler of a task: a pointer to its shard.
///
/// It is not counted as a reference: every spawn and completion on every worker would have to
/// change the count. It is valid while the task has not completed: the workers keep the shard
/// alive, and the last of them completes every task before it drops its reference
/// (`docs/scheduler.md`, shutdown).
#[derive(Clone, Copy)]
pub(crate) struct ShardPtr(NonNull<Shard>);

// SAFETY: any thread may use the shard by a `ShardPtr`, because it is `Sync`. `schedule` makes an
// `Arc` of it, and a thread that drops the last one drops the shard, which may be another thread
// than the one that made it, because it is `Send`. The compiler checks both bounds.
unsafe impl Send for ShardPtr where Shard: Send + Sync {}
// SAFETY: as above; a `ShardPtr` has no state of its own.
unsafe impl Sync for ShardPtr where Shard: Send + Sync {}

impl ShardPtr {
    pub(crate) fn of(shard: &Arc<Shard>) -> Self {
        // SAFETY: an `Arc`'s pointer is never null.
        Self(unsafe { NonNull::new_unchecked(Arc::as_ptr(shard).cast_mut()) })
    }

    /// Whether a worker belongs to the shard.
    #[inline]
    fn is_of(self, core: &Core) -> bool {
        ptr::eq(Arc::as_ptr(core.shard()), self.0.as_ptr())
    }
}

impl Schedule for ShardPtr {
    #[inline]
    fn schedule(&self, task: Runnable) {
        let (this, task) = (*self, Task(task));
        context::with_core(move |core| match core {
            Some(core) if this.is_of(core) => {
                if core.shard().observes_wakes {
                    return notify_and_schedule(core, task);
                }
                core.queues.schedule(task);
            }
            _ => {
                // SAFETY: the pointer comes from `Arc::as_ptr`. `task` has not completed, and
                // cannot before it is pushed below, so the worker that completes it later holds a
                // reference now. From here on this function holds one too.
                let shard = unsafe {
                    Arc::increment_strong_count(this.0.as_ptr());
                    Arc::from_raw(this.0.as_ptr())
                };
                let id = task.0.id();
                shard.config.notify(|observer| observer.task_woken(id));
                shard.count_wake(id);
                shard.inject(task);
            }
        });
    }

    /// Counts the completion, which the join handle does not show yet: a thread that has joined the
    /// task finds it counted.
    #[inline]
    fn ended(&self, reason: EndReason) {
        // SAFETY: the task that calls this has not completed, and until it has, a worker holds a
        // reference to the shard (see `ShardPtr`).
        let shard = unsafe { self.0.as_ref() };
        context::with_core(|core| match core {
            Some(core) if self.is_of(core) => core.queues.counters.completed.add(1),
            _ => shard.count_completed_outside(),
        });
        if shard.observes_tasks {
            context::set_end_reason(reason);
        }
    }

    #[cold]
    fn panicked(&self) {
        // SAFETY: as in `ended`.
        let shard = unsafe { self.0.as_ref() };
        if shard.config.unhandled_panic == UnhandledPanic::Ignore {
            return;
        }
        context::with_core(|core| match core {
            Some(core) if core.scheduler == shard.id => {
                let shards = || Shard::all(&core.first_shard);
                // Closed before another thread can learn of the panic and spawn again.
                shards().for_each(|shard| shard.close());
                shards().for_each(|shard| shard.panics.shut_down());
                // The next step checks whether the scheduler is closed.
                core.ticks.force_tick();
            }
            _ => {
                shard.close();
                shard.panics.shut_down();
            }
        });
    }
}

/// Schedules a task on its worker, which is observed.
#[inline(never)]
fn notify_and_schedule(core: &Core, task: Task) {
    let (queues, id) = (&core.queues, task.0.id());
    queues.notify_observer(|observer, _| observer.task_woken(id));
    core.count_wake(NonZeroU64::from(id).get());
    queues.schedule(task);
}

/// The scheduler of a task that remembers where it was spawned.
#[derive(Clone, Copy)]
pub(crate) struct ShardPtrWithLocation {
    pub(crate) shard: ShardPtr,
    pub(crate) location: &'static Location<'static>,
}

impl Schedule for ShardPtrWithLocation {
    fn schedule(&self, task: Runnable) {
        self.shard.schedule(task);
    }

    fn spawned_at(&self) -> Option<&'static Location<'static>> {
        Some(self.location)
    }

    fn panicked(&self) {
        self.shard.panicked();
    }

    fn ended(&self, reason: EndReason) {
        self.shard.ended(reason);
    }
}
