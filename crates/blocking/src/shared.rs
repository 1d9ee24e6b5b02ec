//! The state that the threads and the handles share, and the one lock over it.
//!
//! A blocking job takes microseconds at least, so atomics would bring no measurable gain over the
//! lock. Each accepted job is run, or dropped by the shutdown, because of these rules:
//!
//! 1. **A submission starts a thread if its job would outnumber the free threads**
//!    (`queue.len() >= free` before the push) and fewer than the cap are serving. A free thread
//!    removes itself from the count; the submitter does not change it, so that the comparison pairs
//!    each queued job with the free thread that will take it.
//! 2. **Each submission wakes one waiting thread,** and a running thread checks the queue before it
//!    waits or leaves. For each queued job there is a thread that was woken for it, a thread that
//!    is starting, or as many threads as the cap allows, each of which will check the queue.
//! 3. **A thread leaves in the same critical section in which it found the queue empty,** and its
//!    idle time over or the pool shut down. Once the cap is reached, a submitter relies on the
//!    serving threads to check again.
//! 4. **The lock is held while the system starts a thread.** Another submitter that queues a job
//!    because the cap is reached relies on that thread. If the system refuses the thread and others
//!    serve, they take the job if it may wait. Otherwise the caller gets its own job back; if none
//!    serves, the queue is empty (rule 3).
//! 5. **No user code runs under the lock.** The function that names threads is called before it;
//!    jobs, hooks and handles are dropped after it.
//!
//! The queue is therefore empty when `serving == 0`. Only a hook that panics, or never calls the
//! loop that it is given, breaks this; the last such thread drops the queued jobs.
//!
//! # Shutdown
//!
//! A shutdown takes the configuration of new threads: submissions fail from then on, threads that
//! find the queue empty leave, and the hooks, which may own the pool's owner, are dropped. In the
//! same critical section it takes the queue, whose jobs it drops after the lock. The threads still
//! run the first jobs, as many as there are free threads, since one was started or woken for each,
//! and the mandatory jobs, such as the writes of a file. The shutdown then waits until `alive == 0`
//! and joins the threads, both at most for the given time. If that ends first, a later call waits
//! again. Dropping the pool is a shutdown without a limit, unless there was one before.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc as StdArc;

use raddle_primitives::ByNumber;
use raddle_primitives::sync::{Condvar, Mutex, Rank};
use raddle_primitives::thread::{Builder, JoinHandle};

use crate::config::Config;
use crate::job::Observed;

/// Starts a thread. Tests replace it by a function that refuses.
pub(crate) type Spawn =
    dyn Fn(Builder, Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> + Send + Sync;

pub(crate) struct Shared<J> {
    pub(crate) state: Mutex<PoolState<J>>,
    /// Notified when a job is queued or the shutdown starts; free threads wait on it.
    pub(crate) work_available: Condvar,
    /// Notified when the last thread ends; the shutdown waits on it.
    pub(crate) all_exited: Condvar,
    pub(crate) observed: Observed,
}

/// The whole state of a pool. The counts change only under the lock.
pub(crate) struct PoolState<J> {
    pub(crate) queue: VecDeque<Queued<J>>,
    /// Threads that exist or are being started.
    pub(crate) alive: usize,
    /// Of those, the ones that take jobs: all except those that are exiting.
    pub(crate) serving: usize,
    /// Of those, the ones that will check the queue next: they wait for work, or have just been
    /// started.
    pub(crate) free: usize,
    /// The configuration of new threads; `None` after the shutdown, so that hooks which own the
    /// pool's owner are dropped.
    pub(crate) thread_config: Option<StdArc<ThreadConfig>>,
    /// The threads that the shutdown joins, by number. A thread that exits earlier removes its own
    /// handle.
    pub(crate) handles: ByNumber<JoinHandle<()>>,
    pub(crate) next_number: u64,
}

/// A job that waits for a thread.
pub(crate) struct Queued<J> {
    pub(crate) job: J,
    /// Whether a shutdown runs the job instead of dropping it.
    pub(crate) mandatory: bool,
    /// Whether it is accepted if the system refuses a thread for it while others serve.
    pub(crate) may_wait: bool,
}

pub(crate) struct ThreadConfig {
    pub(crate) config: Config,
    pub(crate) spawn: Box<Spawn>,
}

impl<J> Shared<J> {
    pub(crate) fn new(config: Config, spawn: Box<Spawn>) -> Self {
        Self {
            observed: Observed(config.observer.clone()),
            state: Mutex::ranked(
                Rank::leaf("blocking pool"),
                PoolState {
                    queue: VecDeque::new(),
                    alive: 0,
                    serving: 0,
                    free: 0,
                    thread_config: Some(StdArc::new(ThreadConfig { config, spawn })),
                    handles: ByNumber::default(),
                    next_number: 0,
                },
            ),
            work_available: Condvar::new(),
            all_exited: Condvar::new(),
        }
    }
}

impl<J> PoolState<J> {
    /// Returns whether one more job would outnumber the free threads while another thread may be
    /// started.
    pub(crate) fn wants_thread(&self, max_threads: usize) -> bool {
        self.queue.len() >= self.free && self.serving < max_threads
    }

    pub(crate) fn is_shut_down(&self) -> bool {
        self.thread_config.is_none()
    }
}
