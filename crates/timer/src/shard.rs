//! A shard of the timers: a wheel with its own lock.

use std::fmt;

use raddle_primitives::WakerBatch;
use raddle_primitives::sync::{Arc, Mutex, MutexGuard, Rank};

use crate::deadline::{Earliest, NEVER};
use crate::shared::Shared;
use crate::wheel::{Progress, Wheel};

/// A wheel into which some of the threads insert their timers. Only these threads change its
/// reference count, so the count is contended no more than the lock.
pub(crate) struct Shard {
    pub(crate) shared: Arc<Shared>,
    pub(crate) earliest: Earliest,
    core: Mutex<Core>,
}

/// The state under the lock.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) wheel: Wheel,
    shut_down: bool,
}

impl Shard {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            earliest: Earliest::new(),
            core: Mutex::ranked(
                Rank::leaf("shard of timers"),
                Core {
                    wheel: Wheel::new(),
                    shut_down: false,
                },
            ),
        }
    }

    /// Takes the lock. No user code may run before it is released.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock()
    }

    /// Fires the timers that are due at `now`, and returns their number. A panic of a waker is
    /// caught, so that other timers are not late.
    pub(crate) fn fire(&self, now: u64) -> usize {
        if self.earliest.load() > now {
            return 0;
        }
        let mut fired = 0;
        loop {
            let mut batch = WakerBatch::new();
            let progress = {
                let mut core = self.core();
                let progress = core.wheel.fire(now, &mut batch);
                self.note_removal(&core);
                progress
            };
            fired += batch.len();
            batch.wake_all_contained();
            if progress == Progress::Done {
                return fired;
            }
        }
    }

    /// Ends every timer that has not fired, and wakes the tasks that wait for them, even if a waker
    /// panics.
    pub(crate) fn shut_down(&self) {
        loop {
            let mut batch = WakerBatch::new();
            let progress = {
                let mut core = self.core();
                core.shut_down = true;
                let progress = core.wheel.shut_down(&mut batch);
                self.note_removal(&core);
                progress
            };
            batch.wake_all_contained();
            if progress == Progress::Done {
                return;
            }
        }
    }

    /// Computes the next deadline after a timer was removed.
    pub(crate) fn note_removal(&self, core: &Core) {
        self.earliest.raise(core.wheel.next_tick().unwrap_or(NEVER));
    }
}

impl Core {
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down
    }
}

impl fmt::Debug for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shard")
            .field("shared", &self.shared)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
