//! The workers of a scheduler that have retired, and the handed-off polls that the shutdown waits
//! for.

use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::core_ref::{CoreRef, HandoffSlot};
use super::finish::Finish;
use super::shared::Shared;

/// What the shutdown of a scheduler needs to know about its workers: `docs/scheduler.md`, shutdown.
pub(crate) struct Retirement {
    pub(crate) shared: Arc<Shared>,
    pub(crate) retired: Mutex<Retired>,
    /// For each worker, the handoff slot for which another thread was requested last.
    pub(crate) handoff_slots: Box<[Mutex<Option<HandoffSlot>>]>,
    pub(crate) finish: Finish,
}

/// The workers that have retired.
#[derive(Default)]
pub(crate) struct Retired {
    pub(crate) workers: Vec<CoreRef>,
    /// The number of threads in handed-off polls.
    pub(crate) handed_off: usize,
    /// Whether these threads were released from what they may wait for.
    pub(crate) has_released: bool,
}

impl Retirement {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let slot = |_: &_| Mutex::ranked(Rank::leaf("last handoff slot of a worker"), None);
        Self {
            retired: Mutex::ranked(Rank::leaf("retired workers"), Retired::default()),
            handoff_slots: shared.remotes.iter().map(slot).collect(),
            finish: Finish::default(),
            shared,
        }
    }
}
