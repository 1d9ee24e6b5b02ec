//! Whether the monitor sleeps without a limit.
//!
//! # Why it does not sleep while a worker runs
//!
//! | a worker | the monitor |
//! |---|---|
//! | 1. clears its mark in the idle set | 1. sets `is_asleep` |
//! | 2. fence | 2. fence |
//! | 3. reads `is_asleep`; wakes the monitor if it is set | 3. reads the idle set; does not sleep if a worker runs |
//!
//! At least one of the two sees the other's change.

use raddle_primitives::named;
use raddle_primitives::sync::atomic::{AtomicBool, Ordering, fence};

/// Whether the monitor sleeps without a limit.
pub(crate) struct SleepState {
    is_asleep: AtomicBool,
}

impl SleepState {
    pub(crate) fn asleep() -> Self {
        Self {
            is_asleep: named("sleep of the monitor", AtomicBool::new(true)),
        }
    }

    /// Returns whether a worker that begins to run has to wake the monitor. The worker has passed a
    /// fence after it cleared its mark.
    #[inline]
    pub(crate) fn is_asleep(&self) -> bool {
        // ORDERING: the fence of the caller pairs with that of `try_sleep`.
        self.is_asleep.load(Ordering::Relaxed)
    }

    /// Goes to sleep, unless `is_any_running` returns true. Returns whether the monitor sleeps.
    pub(crate) fn try_sleep(&self, is_any_running: impl FnOnce() -> bool) -> bool {
        // ORDERING: the fence orders it.
        self.is_asleep.store(true, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `IdleSet::transition_to_running`, see above.
        fence(Ordering::SeqCst);
        let sleeps = !is_any_running();
        if !sleeps {
            self.wake();
        }
        sleeps
    }

    pub(crate) fn wake(&self) {
        // ORDERING: a worker that reads the former value wakes the monitor needlessly.
        self.is_asleep.store(false, Ordering::Relaxed);
    }
}
