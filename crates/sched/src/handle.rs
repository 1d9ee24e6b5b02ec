//! Handles of a scheduler.

use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::pin;

use raddle_primitives::current::{self, Frame, HandleFrame};
use raddle_primitives::sync::Arc;
use raddle_primitives::thread;
use raddle_task::{JoinHandle, MAX_INLINE_SIZE, box_if_large};

use crate::context::{self, Blocking, let_core};
use crate::erased::{ErasedFuture, run_erased};
use crate::id::Id;
use crate::panics;
use crate::spawn;
use crate::task::Task;
use crate::worker::core::Core;
use crate::worker::shard::{Peer, Shard};

/// A reference to a scheduler. It does not keep the scheduler running.
///
/// ```
/// use raddle_sched::{Config, Pool};
///
/// let pool = Pool::start(Config { workers: 2, ..Config::default() }, None)?;
/// let handle = pool.handle().clone();
/// assert_eq!(handle.workers(), 2);
/// // A thread outside the pool spawns tasks there.
/// let spawner = std::thread::spawn(move || handle.spawn(async { 42 }));
/// let task = spawner.join().unwrap();
/// assert_eq!(pool.handle().block_on(task).unwrap(), 42);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone)]
pub struct Handle {
    /// The first shard of the scheduler.
    pub(crate) first_shard: Arc<Shard>,
}

impl Handle {
    /// The scheduler of a worker.
    pub(crate) fn of_worker(worker: &Core) -> Self {
        Self {
            first_shard: worker.first_shard.clone(),
        }
    }

    /// All workers in the order of their numbers, also the spare ones that were made: only a
    /// scheduler of one shard has any.
    pub(crate) fn peers(&self) -> impl Iterator<Item = &Peer> {
        let workers = Shard::all(&self.first_shard).flat_map(|shard| &shard.peers);
        workers.chain(self.first_shard.spares.iter().map(|spare| &spare.peer))
    }

    /// Returns the scheduler's id.
    pub fn id(&self) -> Id {
        self.first_shard.id
    }

    /// Returns the scheduler that the calling thread has entered last.
    ///
    /// # Panics
    ///
    /// Panics if there is none.
    #[track_caller]
    pub fn current() -> Self {
        // No closure: the panic would name a line in it instead of the caller's.
        match Self::try_current() {
            Some(handle) => handle,
            None => no_runtime(),
        }
    }

    /// Returns the scheduler that the calling thread has entered last, if any.
    pub fn try_current() -> Option<Self> {
        current::get()
    }

    /// Makes this the current scheduler of the calling thread, until the guard is dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        self.enter_as(HandleFrame(Some(self.clone())))
    }

    /// Like [`enter`](Self::enter), but with `frame`, which must contain this handle: a runtime
    /// makes its scheduler, drivers and timers current with one frame.
    ///
    /// ```
    /// use raddle_primitives::current::{self, Frame, Request};
    /// use raddle_sched::{Config, CurrentThread, Handle};
    ///
    /// /// What is current inside a runtime: its scheduler, and the name of its service.
    /// struct Runtime(Handle, &'static str);
    ///
    /// impl Frame for Runtime {
    ///     fn provide<'a>(&'a self, request: &mut Request<'a>) {
    ///         request.offer(|| Some(&self.0)).offer(|| Some(&self.1));
    ///     }
    /// }
    ///
    /// let scheduler = CurrentThread::new(Config::default(), None);
    /// let handle = scheduler.handle();
    /// let _entered = handle.enter_as(Runtime(handle.clone(), "billing"));
    /// assert_eq!(Handle::current().id(), handle.id());
    /// assert_eq!(current::get::<&'static str>(), Some("billing"));
    /// ```
    pub fn enter_as(&self, frame: impl Frame) -> EnterGuard<'_> {
        let entered = current::enter(frame);
        refresh_current();
        EnterGuard {
            _entered: entered,
            _refresh: Refresh,
        }
    }

    /// Makes this the current scheduler, unless it is already.
    pub(crate) fn enter_once(&self) -> Option<EnterGuard<'_>> {
        (!context::is_current(self.id())).then(|| self.enter())
    }

    /// Spawns a task on the calling worker, or else through the injection queue; a sharded
    /// scheduler distributes the tasks to its workers in turn. After the shutdown of the scheduler
    /// the task is cancelled at once.
    #[track_caller]
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let location = Location::caller();
        box_if_large!(future: F, Box::pin => {
            let_core!(core);
            match core.filter(|core| core.scheduler == self.id()) {
                Some(core) => spawn::spawn_onto(core, future, location),
                None => self.spawn_injected(future, location),
            }
        })
    }

    /// Spawns a task through the injection queue.
    pub(crate) fn spawn_injected<F>(
        &self,
        future: F,
        location: &'static Location<'static>,
    ) -> JoinHandle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let shard = Shard::for_spawn(&self.first_shard);
        let (task, handle) = spawn::task(shard, future, location);
        shard.inject_spawned(Task(task));
        handle
    }

    /// Sends `make` to a worker of a sharded scheduler, which calls it and runs the future as a
    /// task. The future stays on that worker, so it need not be `Send`. After the shutdown of the
    /// worker the task is cancelled at once.
    ///
    /// # Panics
    ///
    /// Panics if there is no worker of that index, or if the scheduler's policy is not
    /// [`Policy::Sharded`](crate::Policy::Sharded).
    #[track_caller]
    pub fn spawn_on<F, R>(&self, worker: usize, make: F) -> JoinHandle<R::Output>
    where
        F: FnOnce() -> R + Send + 'static,
        R: Future + 'static,
        R::Output: Send + 'static,
    {
        // SAFETY: until the first poll there is only the function, which is `Send`.
        box_if_large!(make: F, Box::new => unsafe {
            if const { size_of::<R>() > MAX_INLINE_SIZE } {
                self.spawn_unsent_on(worker, async { Box::pin(make()).await })
            } else {
                self.spawn_unsent_on(worker, async { make().await })
            }
        })
    }

    /// Spawns a future that is not `Send` once it has been polled.
    ///
    /// # Safety
    ///
    /// Until its first poll the future may move to another thread.
    #[track_caller]
    unsafe fn spawn_unsent_on<F>(&self, worker: usize, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: Send + 'static,
    {
        assert!(
            self.first_shard.pins_tasks,
            "spawn_on needs workers that keep their tasks; use Policy::Sharded"
        );
        let Some(shard) = Shard::all(&self.first_shard).nth(worker) else {
            no_worker(worker, self.workers());
        };
        // SAFETY: until the first poll the future may move (the caller's promise). A pinned worker
        // makes that poll, and adopts the task if it is pending, so that it is run and dropped on
        // one thread (`config/policy.rs` has the proof). The output is `Send`. The future borrows
        // nothing that ends.
        let (task, handle) = unsafe { spawn::task_unchecked(shard, future, Location::caller()) };
        self.with_core(|core| match core {
            Some(core) if core.queues.number() == worker => core.start(task),
            _ => shard.inject_spawned(Task(task)),
        });
        handle
    }

    /// Blocks the calling thread on a future, with this scheduler as the current one. The thread
    /// runs no tasks meanwhile.
    ///
    /// # Panics
    ///
    /// Panics on a thread that already runs tasks or blocks on a future, and if a task has panicked
    /// under [`UnhandledPanic::ShutdownRuntime`](crate::UnhandledPanic::ShutdownRuntime).
    #[track_caller]
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        box_if_large!(future: F, Box::pin => self.block_on_sized(future))
    }

    #[track_caller]
    fn block_on_sized<F: Future>(&self, future: F) -> F::Output {
        let _blocking = context::enter_blocking(Blocking::BesideWorkers);
        let _handle = self.enter_once();
        match run_erased(pin!(future), |future| self.run(future)) {
            Some(output) => output,
            None => panics::end_block_on(),
        }
    }

    /// Returns `None` if a task's panic has shut the scheduler down.
    fn run(&self, future: &mut ErasedFuture<'_>) -> Option<()> {
        let shard = &self.first_shard;
        let mut woken = None;
        thread::block_on(|cx| {
            woken.get_or_insert_with(|| shard.panics.wake_on_panic(cx.waker()));
            let polled = shard.poll_root(None, future, cx);
            let _ = raddle_task::memory::release_unused();
            polled
        })
    }

    /// Calls `f` with the core of the scheduler's worker that the calling thread is running.
    #[inline]
    pub(crate) fn with_core<R>(&self, f: impl FnOnce(Option<&Core>) -> R) -> R {
        context::with_core(|core| f(core.filter(|core| core.scheduler == self.id())))
    }

    /// Returns the index of the scheduler's worker that the calling thread is running, if any.
    pub fn current_worker(&self) -> Option<usize> {
        self.with_core(|core| core.map(|core| core.queues.number()))
    }

    /// Returns the index of the scheduler's worker whose loop the calling thread runs, if any: the
    /// [current worker](Self::current_worker), or, in code that [blocks in
    /// place](crate::block_in_place), the worker that the thread offers to other threads, and after
    /// that, until the end of the poll, the worker that another thread has taken over.
    pub fn worker_of_thread(&self) -> Option<usize> {
        self.current_worker()
            .or_else(|| context::worker_in_loop_of(self.id()))
    }

    /// Returns the number of workers, without spare ones.
    pub fn workers(&self) -> usize {
        let shards = Shard::all(&self.first_shard);
        shards.map(|shard| shard.peers.len()).sum()
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("id", &self.id())
            .field("idle", &self.first_shard.idle)
            .finish_non_exhaustive()
    }
}

fn refresh_current() {
    context::set_current(current::with(Handle::id));
}

/// The guard of [`Handle::enter`]. Dropping it restores the scheduler that was current before.
/// Guards must be dropped in the reverse order of their creation.
#[derive(Debug)]
pub struct EnterGuard<'a> {
    // Dropped before the other.
    _entered: current::EnterGuard<'a>,
    _refresh: Refresh,
}

#[derive(Debug)]
struct Refresh;

impl Drop for Refresh {
    fn drop(&mut self) {
        refresh_current();
    }
}

/// Counts a nested poll as a step of the worker: for a set of tasks that is polled as one future.
/// Returns false if the worker must first check the driver or the injection queue; then the set
/// must return from its own poll, and be polled again.
///
/// In each poll a set polls one future without calling this, and calls it before each further one.
/// So an event waits behind no more polls than it would beside tasks of the scheduler.
///
/// On a thread that runs no worker this returns true.
///
/// ```
/// use raddle_sched::{Config, CurrentThread, count_nested_poll};
/// use raddle_task::LocalSet;
///
/// // However many tasks of the set are ready, the scheduler checks for events in time.
/// let set = LocalSet::new(count_nested_poll);
/// let tasks: Vec<_> = (0..200).map(|n| set.spawn_local(async move { n })).collect();
/// let scheduler = CurrentThread::new(Config::default(), None);
/// scheduler.block_on(set);
/// assert!(tasks.iter().all(|task| task.is_finished()));
/// ```
#[inline]
pub fn count_nested_poll() -> bool {
    context::with_core(|core| core.is_none_or(|core| core.ticks.nested_step()))
}

/// Panics because the thread has entered no scheduler.
#[cold]
#[track_caller]
pub(crate) fn no_runtime() -> ! {
    panic!("{}", raddle_leaf::misuse::NO_RUNTIME)
}

/// Panics because a scheduler of `workers` workers has none of that index.
#[cold]
#[track_caller]
pub(crate) fn no_worker(index: usize, workers: usize) -> ! {
    panic!("there is no worker {index}; pass a number below {workers}, the number of workers")
}
