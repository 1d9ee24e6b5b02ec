//! The owner of the timers: the code that parks.

use raddle_primitives::sync::Arc;

use crate::deadline::NEVER;
use crate::driver::UnparkFn;
use crate::handle::Handle;
use crate::instant::Instant;
use crate::shard::Shard;
use crate::shared::Shared;

/// Timer wheels and their clock, owned by the thread (or the driver) that waits.
///
/// Its owner runs, for ever: ask [`next_deadline`](Self::next_deadline), park
/// until then at the latest, [`fire_due`](Self::fire_due). A wait that counts in
/// milliseconds must round **up**, or it wakes up before anything is due.
///
/// Dropping it is [`shutdown`](Self::shutdown).
#[derive(Debug)]
pub struct Timers {
    shared: Arc<Shared>,
    shards: Box<[Arc<Shard>]>,
}

impl Timers {
    /// Makes timers that run with the system's clock.
    ///
    /// `unpark` must make the owner's present or next park return. It is called,
    /// from any thread and without a lock held, when a timer is set that is
    /// earlier than what `next_deadline` last returned, and when a virtual clock
    /// is moved.
    pub fn new(unpark: UnparkFn) -> Self {
        Self::sharded(1, unpark)
    }

    /// Like [`new`](Self::new), in `count` shards, each with a wheel, a lock and a reference count
    /// of its own: threads that have entered handles of different shards do not get in each other's
    /// way. The owner serves all of them.
    ///
    /// # Panics
    ///
    /// Panics if `count` is zero.
    pub fn sharded(count: usize, unpark: UnparkFn) -> Self {
        assert!(count > 0, "timers need at least one shard; use 1 or more");
        let shared = Arc::new(Shared::new(unpark, count > 1));
        Self {
            shards: (0..count)
                .map(|_| Arc::new(Shard::new(Arc::clone(&shared))))
                .collect(),
            shared,
        }
    }

    /// A handle for the futures that use these timers, of the first shard.
    pub fn handle(&self) -> Handle {
        Handle::new(Arc::clone(&self.shards[0]))
    }

    /// A handle of each shard.
    pub fn handles(&self) -> impl Iterator<Item = Handle> {
        self.shards.iter().cloned().map(Handle::new)
    }

    /// The present, by the clock of these timers.
    pub fn now(&self) -> Instant {
        self.shared.clock.now()
    }

    /// Returns the time until which the owner may park; `None` means without a limit.
    ///
    /// No timer is due before that instant. It may be earlier than the earliest
    /// deadline: then `fire_due` only moves timers within the wheel. It may be in
    /// the past.
    pub fn next_deadline(&self) -> Option<Instant> {
        let parked_until = &self.shared.driver.parked_until;
        let tick = parked_until.transition_to_parked(|| {
            let ticks = self.shards.iter().map(|shard| shard.earliest.load());
            ticks.min().unwrap_or(NEVER)
        });
        (tick != NEVER).then(|| self.shared.instant_of(tick))
    }

    /// Wakes the tasks whose deadline has passed, within a shard in the order of the deadlines, and
    /// returns their number.
    ///
    /// Wakers run on the calling thread without a lock held, so they may set,
    /// reset and drop timers. A panic of a waker ends here, reported by the panic
    /// hook.
    pub fn fire_due(&mut self) -> usize {
        self.shared.driver.parked_until.transition_to_awake();
        let now = self.shared.present_tick();
        self.shards.iter().map(|shard| shard.fire(now)).sum()
    }

    /// Returns whether the clock is paused and nothing [holds](Handle::hold_clock) it.
    pub fn may_auto_advance(&self) -> bool {
        self.shared.clock.is_paused() && !self.shared.clock.is_held()
    }

    /// Moves a paused clock to the earliest deadline and fires what is due
    /// then; says how many those were. None are if the clock runs, if it is
    /// [held](Handle::hold_clock), or if no timer is set.
    /// It makes time pass for tasks that wait on a paused clock. Call it in place of parking, when
    /// there is nothing else to do.
    pub fn auto_advance(&mut self) -> usize {
        while self.may_auto_advance() {
            let Some(deadline) = self.next_deadline() else {
                break;
            };
            self.shared.clock.advance_to(deadline);
            // None are due where timers only change their level.
            let fired = self.fire_due();
            if fired > 0 {
                return fired;
            }
        }
        0
    }

    /// Ends every timer that has not fired and wakes the task that waits for it.
    /// Polling such a timer, or a new one, panics from then on; dropping it is as before. A
    /// panic of a waker ends here.
    pub fn shutdown(&mut self) {
        for shard in &self.shards {
            shard.shut_down();
        }
    }
}

impl Drop for Timers {
    fn drop(&mut self) {
        self.shutdown();
    }
}
