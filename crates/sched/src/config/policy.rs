//! Which worker runs a task that is ready. `docs/scheduler.md` compares the policies.
//!
//! # Why a future of a sharded scheduler never leaves its thread
//!
//! A future that is made on a worker is polled and dropped on the thread of this worker only:
//!
//! 1. **A worker has one thread while it has tasks.** All code that runs tasks enters the worker
//!    (`Core::enter`): a step, a park, the shutdown. Entering a pinned worker records the thread;
//!    another thread may enter it only when its live list is empty. A stepped `Worker` with tasks
//!    that is sent to another thread panics if it is stepped there; if it is dropped there, it
//!    leaks its tasks first. `block_in_place` refuses on a pinned worker. The current-thread
//!    scheduler's worker moves between threads: it is not pinned, and has no `spawn_local`.
//! 2. **A task that is not `Send` is in its worker's live list whenever it is not being polled.**
//!    `spawn_local` adopts at once. The future of `spawn_on` is its closure, which is `Send`, until
//!    the first poll; a pending task is adopted before it can be woken. A task that no worker has
//!    adopted is `Send`, and may be dropped anywhere.
//! 3. **A runnable of an adopted task reaches its own shard only:** the worker's queue, or the
//!    shard's injection queue, which only this worker takes from. Nothing panics before the push,
//!    which would drop the task on the wrong thread: the `ShardPtr` is `Copy`, the order of locks
//!    is checked after the push (`Mutex::lock_unordered`), and a panic of the user's `Unpark` is
//!    contained.
//! 4. **A shard's injection queue is closed after its live list is empty.** A runnable that is
//!    refused, and cancelled on the thread at hand, belongs to a task that no worker has adopted.
//! 5. **After the scheduler is closed** `spawn_local` cancels the task at once, on the worker; the
//!    shutdown cancels each task on the worker that has it.
//! 6. **The output** of `spawn_on` is `Send`; if that of `spawn_local` is not, its `JoinHandle` is
//!    not either. The future is dropped before the output is stored.

/// Which worker of a scheduler runs a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// A worker runs the tasks that are spawned and woken on it, the one that another task woke
    /// last first, and steals from other workers when it has none.
    #[default]
    WorkStealing,
    /// All workers take tasks from one queue, first in, first out.
    Shared,
    /// A task stays on the worker on which it was spawned, and each worker runs its tasks first in,
    /// first out. Each worker has its own driver. Tasks need not be `Send`.
    Sharded,
}

impl Policy {
    /// The highest number of tasks that an idle worker takes from the injection queue at once. If
    /// all tasks are in that queue it takes one: others that it kept for later would be overtaken.
    pub(crate) fn batch(self) -> usize {
        match self {
            Self::WorkStealing | Self::Sharded => usize::MAX,
            Self::Shared => 1,
        }
    }

    /// The highest number of tasks that a busy worker takes from the injection queue after
    /// `interval` steps. With a slot it is `interval`, so that tasks from outside get up to half of
    /// the polls. A worker that keeps its tasks in order takes one, since older tasks may be in its
    /// backlog.
    pub(crate) fn batch_of_tick(self, interval: u32) -> usize {
        match self {
            Self::WorkStealing => interval as usize,
            Self::Shared | Self::Sharded => 1,
        }
    }
}
