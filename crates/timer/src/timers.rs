//! The owner of the timers: whoever parks.

use raddle_std::sync::Arc;

use crate::batch::Batch;
use crate::handle::Handle;
use crate::instant::Instant;
use crate::shared::{Shared, UnparkFn};
use crate::wheel::Progress;

/// A timer wheel and its clock, owned by the thread (or the driver) that waits.
///
/// Its owner runs, for ever: ask [`next_deadline`](Self::next_deadline), park
/// until then at the latest, [`fire_due`](Self::fire_due). A wait that counts in
/// milliseconds must round **up**, or it wakes up before anything is due.
///
/// Dropping it is [`shutdown`](Self::shutdown).
#[derive(Debug)]
pub struct Timers {
    shared: Arc<Shared>,
}

impl Timers {
    /// Makes timers that run with the system's clock.
    ///
    /// `unpark` must make the owner's present or next park return. It is called,
    /// from any thread and without a lock held, when a timer is set that is
    /// earlier than what `next_deadline` last returned, and when a virtual clock
    /// is moved.
    pub fn new(unpark: std::sync::Arc<dyn Fn() + Send + Sync>) -> Self {
        let unpark: UnparkFn = unpark;
        Self {
            shared: Arc::new(Shared::new(unpark)),
        }
    }

    /// A handle for the futures that use these timers.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shared))
    }

    /// Until when the owner may park; `None` is for ever.
    ///
    /// No timer is due before that instant. It may be earlier than the earliest
    /// deadline: then `fire_due` only moves timers within the wheel. It may be in
    /// the past.
    pub fn next_deadline(&self) -> Option<Instant> {
        let tick = self.shared.core().set_parked();
        tick.map(|tick| self.shared.instant_of(tick))
    }

    /// Wakes the tasks whose deadline has come, in the order of the deadlines,
    /// and says how many those were.
    ///
    /// Wakers run on the calling thread without a lock held, so they may set,
    /// reset and drop timers.
    ///
    /// # Panics
    ///
    /// If a waker panics, after those that fired along with it were woken. What
    /// else is due is left for the next call.
    pub fn fire_due(&mut self) -> usize {
        self.shared.core().set_awake();
        self.shared.fire_due()
    }

    /// Whether the clock is stopped and nothing [holds](Handle::hold_clock) it.
    pub fn may_auto_advance(&self) -> bool {
        self.shared.clock.is_paused() && !self.shared.clock.is_held()
    }

    /// Moves a stopped clock to the earliest deadline and fires what is due
    /// then; says how many those were. None are if the clock runs, if it is
    /// [held](Handle::hold_clock), or if no timer is set.
    ///
    /// It is what makes time pass for who waits on a stopped clock: to be called
    /// in place of parking, when there is nothing else to do.
    ///
    /// # Panics
    ///
    /// As [`fire_due`](Self::fire_due).
    pub fn auto_advance(&mut self) -> usize {
        while self.may_auto_advance()
            && let Some(deadline) = self.next_deadline()
        {
            self.shared.clock.advance_to(deadline);
            // None are due where timers only change their level.
            let fired = self.fire_due();
            if fired > 0 {
                return fired;
            }
        }
        0
    }

    /// Ends every timer that has not fired and wakes who waits for it. To poll
    /// such a timer, or a new one, panics from then on; to drop it is as before.
    pub fn shutdown(&mut self) {
        loop {
            let mut batch = Batch::new();
            let progress = {
                let mut core = self.shared.core();
                core.set_shut_down();
                core.wheel.shut_down(&mut batch)
            };
            batch.wake_all();
            if progress == Progress::Done {
                return;
            }
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.shutdown();
    }
}
