//! The protocol by which the driver and a thread that sets a timer agree on when the driver wakes:
//! see "Cutting a park short" in `docs/timers.md`.
//!
//! There are two kinds of words. Each shard has one, with the tick at which the driver must check
//! the shard. One word holds the tick until which the driver waits. Each side writes its word and
//! then reads the other's.

use raddle_primitives::sync::atomic::{AtomicU64, Ordering, fence};

/// Later than every tick.
pub(crate) const NEVER: u64 = u64::MAX;

/// The deadline of a driver that is not parked: no timer is earlier.
const AWAKE: u64 = 0;

/// A tick before which no timer of a shard is due, or `NEVER` if it has none. The holder of the
/// shard's lock changes it; the driver reads it without the lock.
#[derive(Debug)]
pub(crate) struct Earliest(AtomicU64);

impl Earliest {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(NEVER))
    }

    #[inline]
    pub(crate) fn load(&self) -> u64 {
        // ORDERING: Relaxed: a thread that lowers the tick announces it, and the fences of
        // `ParkedUntil` order the two.
        self.0.load(Ordering::Relaxed)
    }

    /// Lowers the tick for a timer. Returns whether the timer must be
    /// [announced](ParkedUntil::is_too_late_for) to the driver once the lock is released.
    #[must_use]
    pub(crate) fn lower(&self, tick: u64) -> bool {
        let lowers = tick < self.load();
        if lowers {
            // ORDERING: see `load`.
            self.0.store(tick, Ordering::Relaxed);
        }
        lowers
    }

    /// Records that no timer is before this tick now. It does nothing if the bound is later
    /// already: a timer between a lower bound and the later one would not lower it, and so would
    /// not be announced to a driver that waits for the later one.
    pub(crate) fn raise(&self, tick: u64) {
        if tick > self.load() {
            // ORDERING: see `load`; if the driver reads the old tick, it checks once too often.
            self.0.store(tick, Ordering::Relaxed);
        }
    }
}

/// The tick at which the driver checks the shards at the latest.
#[derive(Debug)]
pub(crate) struct ParkedUntil(AtomicU64);

impl ParkedUntil {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(AWAKE))
    }

    /// Records that the driver will check the shards before it parks.
    pub(crate) fn transition_to_awake(&self) {
        // ORDERING: a thread that still reads the old tick unparks the driver needlessly.
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Records that the driver is about to park until the tick that `earliest` finds in the shards,
    /// and returns the tick.
    pub(crate) fn transition_to_parked(&self, earliest: impl FnOnce() -> u64) -> u64 {
        // ORDERING: the fence orders it.
        self.0.store(NEVER, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `is_too_late_for`. Without both, the driver may miss
        // the timer in its shard while the thread that sets it misses that the driver has checked,
        // and the timer is late.
        fence(Ordering::SeqCst);
        let tick = earliest();
        // ORDERING: `is_too_late_for` reads it only to save an unpark.
        self.0.fetch_min(tick, Ordering::Relaxed);
        tick
    }

    /// Returns whether a timer of this tick, which has just lowered the tick of its shard, would
    /// fire too late if the driver continued to wait. Then the driver must be unparked. Returns
    /// true once per tick.
    pub(crate) fn is_too_late_for(&self, tick: u64) -> bool {
        // ORDERING: pairs with `transition_to_parked`.
        fence(Ordering::SeqCst);
        // ORDERING: as above.
        tick < self.0.load(Ordering::Relaxed)
            // ORDERING: as above; of several threads that set a timer of the same tick, one
            // unparks.
            && tick < self.0.fetch_min(tick, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
