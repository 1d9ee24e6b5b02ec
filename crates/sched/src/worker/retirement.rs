//! The workers of a scheduler that have retired, and what the shutdown waits for.

use std::collections::BTreeMap;

use raddle_primitives::sync::{Arc, Condvar, Mutex, Rank};

use super::core_ref::{CoreRef, HandoffSlot};
use super::shared::Shared;

/// What the shutdown of a scheduler needs to know about its workers: `docs/scheduler.md`, shutdown.
pub(crate) struct Retirement {
    pub(crate) shared: Arc<Shared>,
    pub(crate) retired: Mutex<Retired>,
    /// Notified when `is_finished` or `handoff_slots` of [`Retired`] is set.
    pub(crate) changed: Condvar,
}

/// The workers that have retired, and those that may have to be.
#[derive(Default)]
pub(crate) struct Retired {
    pub(crate) workers: Vec<CoreRef>,
    /// The number of threads in handed-off polls.
    pub(crate) handed_off: usize,
    /// Whether these threads were released from what they may wait for.
    pub(crate) has_released: bool,
    /// Whether every task has been dropped and the driver is shut down.
    pub(crate) is_finished: bool,
    /// For each worker that has requested another thread, the slot of its last request. The
    /// shutdown takes the slots to retire the workers that it finds in them.
    pub(crate) handoff_slots: BTreeMap<usize, HandoffSlot>,
}

impl Retirement {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            retired: Mutex::ranked(Rank::leaf("retired workers"), Retired::default()),
            changed: Condvar::new(),
        }
    }
}
