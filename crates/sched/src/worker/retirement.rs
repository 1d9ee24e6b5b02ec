//! The workers of a scheduler that have retired, and what the shutdown waits for.

use raddle_primitives::ByNumber;
use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};

use super::core_ref::{CoreRef, HandoffSlot};
use super::shard::Shard;

/// What the shutdown of a scheduler needs to know about its workers: `docs/scheduler.md`, shutdown.
pub(crate) struct Retirement {
    pub(crate) shard: Arc<Shard>,
    pub(crate) retired: Mutex<Retired>,
    /// Notified when the shutdown [has ended](Retired::has_ended) and when `handoff_slots` of
    /// [`Retired`] is set.
    pub(crate) changed: Condvar,
}

/// The workers that have retired, and those that may have to be.
#[derive(Default)]
pub(crate) struct Retired {
    pub(crate) workers: Vec<CoreRef>,
    /// The spare workers that no thread drives.
    pub(crate) reserve: Vec<CoreRef>,
    /// The number of spare workers that were made.
    pub(crate) made_spares: usize,
    /// Whether a thread has taken all workers, to finish the shutdown. No spare worker is made from
    /// then on: its reference to the scheduler would keep that in memory.
    pub(crate) is_finishing: bool,
    /// The number of threads in handed-off polls.
    pub(crate) handed_off: usize,
    /// Whether these threads were released from what they may wait for.
    pub(crate) has_released: bool,
    /// Whether every task has been dropped and the driver is shut down.
    pub(crate) is_finished: bool,
    /// The number of threads that the pool has started and that have not left their hooks.
    pub(crate) threads: usize,
    /// For each worker that has requested another thread, and each spare worker that was started,
    /// the slot of its last request. The shutdown takes the slots to retire the workers that it
    /// finds in them.
    pub(crate) handoff_slots: ByNumber<HandoffSlot>,
}

impl Retired {
    /// Adds a worker that its thread has left: to the reserve if it is a spare one.
    pub(crate) fn add(&mut self, core: CoreRef) {
        match core.queues.is_spare {
            true => self.reserve.push(core),
            false => self.workers.push(core),
        }
    }

    /// Whether no thread drives any worker.
    pub(crate) fn has_all(&self, workers: usize) -> bool {
        self.workers.len() + self.reserve.len() == workers + self.made_spares
    }

    /// Takes all workers that no thread drives.
    pub(crate) fn take(&mut self) -> Vec<CoreRef> {
        let mut cores = std::mem::take(&mut self.workers);
        cores.append(&mut self.reserve);
        cores
    }

    /// Whether the shutdown has ended: the tasks are dropped, the driver is shut down, and each
    /// thread of the pool has left its worker and the hook around it.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_finished && self.threads == 0
    }
}

/// Counts a thread of a pool until it is dropped, in the last operation of the thread.
pub(crate) struct CountedThread(Arc<Retirement>);

impl CountedThread {
    pub(crate) fn new(retirement: &Arc<Retirement>) -> Self {
        retirement.retired.lock().threads += 1;
        Self(retirement.clone())
    }
}

impl Drop for CountedThread {
    fn drop(&mut self) {
        let mut retired = self.0.retired.lock();
        retired.threads -= 1;
        let has_ended = retired.has_ended();
        drop(retired);
        if has_ended {
            self.0.changed.notify_all();
        }
    }
}

impl Retirement {
    pub(crate) fn new(shard: Arc<Shard>) -> Self {
        Self {
            shard,
            retired: Mutex::ranked(Rank::leaf("retired workers"), Retired::default()),
            changed: Condvar::new(),
        }
    }
}
