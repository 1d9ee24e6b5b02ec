//! A pool of worker threads.

use std::fmt;
use std::io;
use std::time::{Duration, Instant};

use raddle_primitives::sync::Arc;
use raddle_primitives::thread::{self, JoinHandle, Joining};

use crate::config::Config;
use crate::config::policy::Policy;
use crate::context;
use crate::driver::Driver;
use crate::handle::Handle;
use crate::handoff;
use crate::id::Id;
use crate::monitor;
use crate::worker::Worker;
use crate::worker::retirement::{CountedThread, Retirement};
use crate::worker::shard::{DrivenBy, Shard};

/// A pool of worker threads.
///
/// Dropping a pool shuts it down and waits for the end of the shutdown: see
/// [`shutdown`](Self::shutdown).
///
/// ```
/// use raddle_sched::{Config, Pool};
///
/// let pool = Pool::start(Config { workers: 2, ..Config::default() }, None)?;
/// let handle = pool.handle().clone();
/// let task = handle.spawn(async { 42 });
/// assert_eq!(handle.block_on(task).unwrap(), 42);
/// // The threads exit, and the handle spawns no further tasks.
/// drop(pool);
/// assert!(handle.spawn(async { 42 }).is_finished());
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Pool {
    handle: Handle,
    /// One for each shard, or one for the whole pool.
    retirements: Vec<Arc<Retirement>>,
    /// The threads that were not joined yet.
    threads: Joining,
    is_shut_down: bool,
}

impl Pool {
    /// Starts a pool of `config.workers` threads. The workers share one driver, if there is one:
    /// one parked worker waits in it, and the other parked workers sleep. The workers of a
    /// [`Sharded`](Policy::Sharded) pool have one driver each, or none has one.
    ///
    /// # Errors
    ///
    /// Returns an error if the system refuses to start a thread, or if a thread name contains a
    /// zero byte. The threads that were already started have exited by then.
    ///
    /// # Panics
    ///
    /// Panics if the number of workers or an interval is zero, if the number of workers or of spare
    /// workers is more than [`Config::MAX_WORKERS`], or if the number of drivers does not fit the
    /// policy.
    #[track_caller]
    pub fn start(
        config: Config,
        drivers: impl IntoIterator<Item = Box<dyn Driver>>,
    ) -> io::Result<Self> {
        Self::start_with(config, drivers.into_iter().map(Some).collect())
    }

    #[track_caller]
    fn start_with(config: Config, drivers: Vec<Option<Box<dyn Driver>>>) -> io::Result<Self> {
        let (handle, workers) = build(config, drivers, DrivenBy::Pool);
        let retirements = workers.iter().map(|worker| &worker.core().retirement);
        let mut retirements: Vec<_> = retirements.cloned().collect();
        retirements.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let mut pool = Self {
            handle,
            retirements,
            threads: Joining::default(),
            is_shut_down: false,
        };
        for (number, worker) in workers.into_iter().enumerate() {
            let thread = pool.start_thread(number, worker)?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// Makes a pool without threads. The caller drives its workers inside [`Handle::enter`], in any
    /// order and on any threads. The pool shuts down when all workers are dropped. Workers that are
    /// stepped do nothing that depends on how long steps take; [`Worker::run`] makes a worker like
    /// one of [`start`](Self::start).
    ///
    /// A worker of a sharded pool stays on its thread while it has tasks. On another thread its
    /// methods panic; dropping it there leaks it and panics.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`start`](Self::start).
    ///
    /// # Examples
    ///
    /// ```
    /// use raddle_sched::{Config, Pool, Step};
    ///
    /// let (handle, mut workers) = Pool::stepped(Config { workers: 2, ..Config::default() }, None);
    /// let _entered = handle.enter();
    /// let task = handle.spawn(async { 42 });
    /// // A test decides which worker runs when.
    /// assert_eq!(workers[1].step(), Step::Ran);
    /// assert_eq!(workers[1].step(), Step::Idle);
    /// assert_eq!(handle.block_on(task).unwrap(), 42);
    /// ```
    #[track_caller]
    pub fn stepped(
        config: Config,
        drivers: impl IntoIterator<Item = Box<dyn Driver>>,
    ) -> (Handle, Vec<Worker>) {
        build(
            config,
            drivers.into_iter().map(Some).collect(),
            DrivenBy::Caller,
        )
    }

    fn start_thread(&self, number: usize, worker: Worker) -> io::Result<JoinHandle<()>> {
        let config = &self.handle.first_shard.config;
        let name = (config.thread_name)();
        if name.as_bytes().contains(&0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a thread's name must not contain a zero byte; change thread_name",
            ));
        }
        let mut builder = thread::Builder::new().name(name);
        if let Some(size) = config.thread_stack_size {
            builder = builder.stack_size(size);
        }
        let handle = self.handle.clone();
        let counted = CountedThread::new(&worker.core().retirement);
        let body = move || {
            // Dropped last.
            let _counted = counted;
            let handle = handle;
            let _pool = context::enter_pool(handle.id());
            let around = handle.first_shard.config.around_worker.clone();
            let _current = handle.enter();
            // Dropped inside the wrapper function, so that tasks which end with the worker still
            // have its surroundings.
            let mut worker = Some(worker);
            let mut run = || {
                if let Some(worker) = worker.take() {
                    worker.run();
                }
            };
            match around {
                Some(around) => around(number, &mut run),
                None => run(),
            }
        };
        thread::spawn_boxed(builder, Box::new(body)).map_err(|error| {
            io::Error::new(
                error.kind(),
                format!(
                    "the system refused a worker thread: {error}; raise the limit of threads, or \
                     ask for fewer workers or a smaller stack"
                ),
            )
        })
    }

    /// Returns a handle of the pool.
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Returns the monitor of the pool, which has no thread in a model.
    #[cfg(raddle_loom)]
    pub fn monitor(&self) -> monitor::Monitor {
        monitor::Monitor(self.retirements[0].clone())
    }

    /// Shuts the pool down and waits for the end of the shutdown, for at most `wait` if that is
    /// given. Each task is dropped on a worker, when its current poll returns. With a `wait` of
    /// zero the call returns at once.
    ///
    /// Returns whether the shutdown is complete: the tasks are dropped, and the threads have
    /// exited, including [`around_worker`](Config::around_worker) and the destructors of their
    /// thread-locals. The method may be called again, to wait once more.
    ///
    /// On a thread of the pool, and on that of the monitor, the call does not wait, because it
    /// would wait for itself.
    pub fn shutdown(&mut self, wait: Option<Duration>) -> bool {
        self.is_shut_down = true;
        let id = self.handle.id();
        let is_on_own_thread = self.handle.current_worker().is_some()
            || handoff::is_in_loop_of(id)
            || context::pool() == Some(id)
            // In an observer. The end of the shutdown waits for the monitor.
            || self.retirements.iter().any(|it| monitor::thread::is_current(it));
        let wait = is_on_own_thread.then_some(Duration::ZERO).or(wait);
        for retirement in &self.retirements {
            Retirement::close(retirement, wait.is_some());
        }
        // A deadline that the clock cannot represent is no limit.
        let deadline = wait.and_then(|wait| Instant::now().checked_add(wait));
        // The threads end when their polls return, or a later call joins them.
        let has_ended = self
            .retirements
            .iter()
            .all(|retirement| retirement.wait(deadline))
            && self.threads.join(deadline);
        if has_ended {
            raddle_task::memory::release();
        }
        has_ended
    }
}

/// Makes a scheduler and its workers: one shard with all workers, or one shard for each worker of a
/// sharded scheduler. `drivers` is empty, or has an entry for each shard.
#[track_caller]
pub(crate) fn build(
    config: Config,
    mut drivers: Vec<Option<Box<dyn Driver>>>,
    driven: DrivenBy,
) -> (Handle, Vec<Worker>) {
    config.check();
    let (shards, workers) = match config.policy {
        Policy::Sharded => (config.workers, 1),
        Policy::WorkStealing | Policy::Shared => (1, config.workers),
    };
    assert!(
        drivers.is_empty() || drivers.len() == shards,
        "a scheduler has one driver or none, and a sharded scheduler has one for each worker or \
         none; this one has places for {shards}, but got {}",
        drivers.len()
    );
    drivers.resize_with(shards, || None);
    config.notify(|observer| observer.started(config.workers));
    let of_shard = Config { workers, ..config };
    let id = Id::next();
    let new_shard = |first_worker, driver, others| {
        Shard::new(id, first_worker, of_shard.clone(), driver, driven, others)
    };
    let later = drivers.split_off(1).into_iter().zip(1..);
    let later = later.map(|(driver, number)| new_shard(number, driver, Vec::new()));
    let (others, mut queues): (Vec<_>, Vec<_>) = later.unzip();
    let (first, first_queues) = new_shard(0, drivers.remove(0), others);
    queues.insert(0, first_queues);
    let workers = Shard::all(&first)
        .zip(queues)
        .flat_map(|(shard, queues)| Worker::build(shard.clone(), &first, queues))
        .collect();
    (Handle { first_shard: first }, workers)
}

impl Drop for Pool {
    fn drop(&mut self) {
        if !self.is_shut_down {
            self.shutdown(None);
        }
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.handle).finish()
    }
}
