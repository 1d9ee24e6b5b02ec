//! Spare workers: they run the tasks of a pool while its workers are in polls that do not return.
//! `docs/scheduler.md`, spare workers.
//!
//! # States of a spare worker
//!
//! | state | where its core is | changed by |
//! |---|---|---|
//! | not made | | the monitor, to active |
//! | in the reserve | in `Retired::reserve` | the monitor, to active; the shutdown takes it |
//! | active | with the thread that drives it, or in the slot of a `Handoff` | the monitor, to leaving |
//! | leaving | the same: it is in a poll, or on its way out | its own thread, to the reserve |
//!
//! Only the monitor makes a spare worker active, and asks it to leave; only its thread brings it
//! back. No step depends on another thread's timing: a spare worker that is started needlessly
//! waits until it is asked to leave, and one that is asked too late serves a little longer.

use std::sync::{OnceLock, PoisonError};

use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use raddle_primitives::{Count, Epoch, named};
use raddle_queue::Owner;

use crate::config::Config;
use crate::handoff::Handoff;
use crate::task::Task;
use crate::worker::core::Core;
use crate::worker::core_ref::{CoreRef, HandoffSlot};
use crate::worker::retirement::Retirement;
use crate::worker::shard::Peer;

/// The spare workers of a shard. They are numbered from 0, and made when they are first needed.
pub(crate) struct Spares {
    spares: Box<[OnceLock<Spare>]>,
    epoch: Epoch,
    /// One more than the spare worker that takes tasks from outside, or 0.
    attendant: AtomicUsize,
    /// Written under the lock of the reserve.
    starts: Count,
    /// Written by the monitor.
    shortages: Count,
}

/// A spare worker, as other threads see it.
pub(crate) struct Spare {
    pub(crate) peer: Peer,
    /// Whether it is not in the reserve: a thread drives it, or was requested.
    is_active: AtomicBool,
    /// Whether it is active and the thread has come.
    is_driven: AtomicBool,
    /// Whether it was asked to leave.
    is_leaving: AtomicBool,
    /// Whether it was called to look for tasks: it may take one from the injection queue.
    is_called: AtomicBool,
    /// Whether it takes the tasks of stuck workers.
    is_helper: AtomicBool,
    /// The name of the future in its current or last poll.
    #[allow(
        clippy::disallowed_types,
        reason = "for a report only: a model need not switch threads at it"
    )]
    // UNRANKED: no lock is taken under it.
    polled: std::sync::Mutex<&'static str>,
}

impl Spares {
    pub(crate) fn new(max: usize, epoch: Epoch) -> Self {
        Self {
            spares: (0..max).map(|_| OnceLock::new()).collect(),
            epoch,
            attendant: named("attendant of the driver", AtomicUsize::new(0)),
            starts: Count::default(),
            shortages: Count::default(),
        }
    }

    /// The highest number of spare workers.
    pub(crate) fn max(&self) -> usize {
        self.spares.len()
    }

    /// The spare workers that were made.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Spare> {
        self.spares.iter().map_while(OnceLock::get)
    }

    /// # Panics
    ///
    /// Panics if the spare worker was not made.
    pub(crate) fn get(&self, spare: usize) -> &Spare {
        self.spares[spare].get().expect("the spare worker was made")
    }

    /// The number of spare workers that run, or are about to.
    pub(crate) fn active(&self) -> usize {
        self.iter().filter(|spare| spare.is_active()).count()
    }

    /// How often a spare worker was started.
    pub(crate) fn starts(&self) -> u64 {
        self.starts.get()
    }

    /// How often tasks waited while all spare workers were in use.
    pub(crate) fn shortages(&self) -> u64 {
        self.shortages.get()
    }

    /// Counts such a shortage. Only the monitor calls it.
    pub(crate) fn count_shortage(&self) {
        self.shortages.add(1);
    }

    /// The spare worker to call for a task from outside.
    #[inline]
    pub(crate) fn attendant(&self) -> Option<usize> {
        // ORDERING: Acquire pairs with `set_attendant`: the caller finds the spare worker made. The
        // number itself is a hint. A task that is missed waits for a worker's tick or for the
        // monitor.
        self.attendant.load(Ordering::Acquire).checked_sub(1)
    }

    pub(crate) fn set_attendant(&self, attendant: Option<usize>) {
        if self.attendant() != attendant {
            let word = attendant.map_or(0, |spare| spare + 1);
            // ORDERING: Release pairs with `attendant`.
            self.attendant.store(word, Ordering::Release);
        }
    }

    /// The calling thread drives a spare worker from now on, which attends the driver if it was
    /// started for that.
    pub(crate) fn begin(&self, number: usize) {
        let spare = self.get(number);
        // ORDERING: as in `is_active`.
        spare.is_driven.store(true, Ordering::Relaxed);
        if !spare.is_helper() && !spare.is_leaving() {
            self.set_attendant(Some(number));
        }
    }

    /// The calling thread stops driving a spare worker, or brings it back undriven. If it may have
    /// been the attendant, the caller notifies a worker afterwards, which takes the driver.
    pub(crate) fn end(&self, number: usize) {
        let spare = self.get(number);
        // ORDERING: as in `is_active`.
        spare.is_driven.store(false, Ordering::Relaxed);
        // ORDERING: Release pairs with `is_active`.
        spare.is_active.store(false, Ordering::Release);
        let word = number + 1;
        // ORDERING: the queues and the idle set have their own order. If the monitor sets it
        // meanwhile, its next check finds that no worker is in the driver.
        let _is_other =
            self.attendant
                .compare_exchange(word, 0, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Makes the next spare worker, and returns its number and its run queue.
    fn make(&self, config: &Config) -> Option<(usize, Owner<Task>)> {
        let number = self.iter().count();
        let place = self.spares.get(number)?;
        let (peer, queue) = Peer::new(config, self.epoch);
        let spare = Spare {
            peer,
            is_active: AtomicBool::new(false),
            is_driven: AtomicBool::new(false),
            is_leaving: AtomicBool::new(false),
            is_called: AtomicBool::new(false),
            is_helper: AtomicBool::new(false),
            polled: Default::default(),
        };
        let _made = place.get_or_init(|| spare);
        Some((number, queue))
    }
}

impl Spare {
    /// Whether it runs, or is about to. A hint for the monitor and the metrics.
    pub(crate) fn is_active(&self) -> bool {
        // ORDERING: Acquire pairs with `Spares::end`: the caller sees what the worker has taken.
        self.is_active.load(Ordering::Acquire)
    }

    /// Whether a thread drives it. A hint for the monitor: until the thread has come, the worker is
    /// in no poll, and no further spare worker is needed.
    pub(crate) fn is_driven(&self) -> bool {
        // ORDERING: as in `is_active`.
        self.is_driven.load(Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn is_leaving(&self) -> bool {
        // ORDERING: a hint, which the worker reads before each step. It is unparked afterwards.
        self.is_leaving.load(Ordering::Relaxed)
    }

    /// Asks the worker to leave. The caller unparks it.
    pub(crate) fn ask_to_leave(&self) {
        // ORDERING: the parker orders it for a worker that is parked.
        self.is_leaving.store(true, Ordering::Relaxed);
    }

    /// Allows the worker to take a task from the injection queue. The caller unparks it.
    pub(crate) fn call(&self) {
        // ORDERING: Release pairs with `take_call`, which then sees the task.
        self.is_called.store(true, Ordering::Release);
    }

    pub(crate) fn is_called(&self) -> bool {
        // ORDERING: `take_call` follows. The parker orders it for a worker that is parked.
        self.is_called.load(Ordering::Relaxed)
    }

    /// Whether it takes the tasks of stuck workers, instead of waiting in the driver only.
    pub(crate) fn is_helper(&self) -> bool {
        // ORDERING: a hint. The queues have their own order.
        self.is_helper.load(Ordering::Relaxed)
    }

    pub(crate) fn set_helper(&self, is_helper: bool) {
        // ORDERING: as in `is_helper`. A worker that is parked is called afterwards.
        self.is_helper.store(is_helper, Ordering::Relaxed);
    }

    pub(crate) fn polled(&self) -> &'static str {
        *self.polled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set_polled(&self, future: &'static str) {
        *self.polled.lock().unwrap_or_else(PoisonError::into_inner) = future;
    }

    /// Uses up a call.
    pub(crate) fn take_call(&self) -> bool {
        // ORDERING: Acquire pairs with `call`. The caller takes from the injection queue next.
        // Without it, the caller uses up a second call that comes between the two operations, and
        // does not see the task for which that was made: the task waits.
        self.is_called() && self.is_called.swap(false, Ordering::Acquire)
    }
}

/// The reserve.
impl Retirement {
    /// Takes a spare worker out of the reserve, or makes one. Returns `None` if all are active, and
    /// after the shutdown has begun.
    pub(crate) fn take_spare(this: &Arc<Self>) -> Option<Handoff> {
        let shard = &this.shard;
        let mut retired = this.retired.lock();
        if retired.is_finishing {
            return None;
        }
        let core = match retired.reserve.pop() {
            Some(core) => core,
            None => {
                let (spare, queue) = shard.spares.make(&shard.config)?;
                let number = shard.peers.len() + spare;
                retired.made_spares += 1;
                CoreRef::new(Core::new(this.clone(), shard, number, queue))
            }
        };
        let number = core.queues.index;
        let spare = shard.spare_of(number);
        // ORDERING: as in `Spare::is_active`.
        spare.is_active.store(true, Ordering::Relaxed);
        shard.spares.starts.add(1);
        // ORDERING: as in `Spare::is_leaving`: the thread that drives the worker gets it later.
        spare.is_leaving.store(false, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `Shard::close`.
        fence(Ordering::SeqCst);
        let slot = HandoffSlot::of_spare(core);
        // If no thread takes the worker, the shutdown finds it here.
        let former = retired.handoff_slots.insert(number as u64, slot.clone());
        drop(retired);
        drop(former);
        let handoff = Handoff::of_spare(shard.first_worker + number, slot);
        // CHECK: the shutdown. Dropping the handoff brings the worker back.
        (!shard.is_closed()).then_some(handoff)
    }
}
