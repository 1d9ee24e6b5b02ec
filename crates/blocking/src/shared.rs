//! The state that the threads and the handles share, and the one lock over it.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc as StdArc;

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

/// The whole state of a pool. The counts change only under the lock; the rules they keep are in
/// `docs/blocking.md`.
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
    pub(crate) handles: BTreeMap<u64, JoinHandle<()>>,
    pub(crate) next_number: u64,
}

/// A job that waits for a thread.
pub(crate) struct Queued<J> {
    pub(crate) job: J,
    /// Whether a shutdown runs the job instead of dropping it.
    pub(crate) mandatory: bool,
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
                    handles: BTreeMap::new(),
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
