//! The protocol by which the driver and a thread that sets a timer agree on when the driver wakes:
//! see "Cutting a park short" in `docs/timers.md`.
//!
//! There are two kinds of words: one for each shard, with the tick at which the driver must look at
//! it, and one with the tick that the driver waits for. Each side writes its word and then reads
//! the other's.

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
        // ORDERING: a lowering that is missed here is announced: the fences of
        // `ParkedUntil` see to that.
        self.0.load(Ordering::Relaxed)
    }

    /// Takes a timer of this tick into account. Whether that must be
    /// [announced](ParkedUntil::is_too_late_for) to the driver, once the lock
    /// is released.
    #[must_use]
    pub(crate) fn lower(&self, tick: u64) -> bool {
        let lowers = tick < self.load();
        if lowers {
            // ORDERING: see `load`.
            self.0.store(tick, Ordering::Relaxed);
        }
        lowers
    }

    /// Notes that no timer is before this tick any more. It does nothing if that
    /// was known: to go back to a bound that is less tight would leave the
    /// driver waiting for more than is announced.
    pub(crate) fn raise(&self, tick: u64) {
        if tick > self.load() {
            // ORDERING: see `load`; the former tick costs the driver a look.
            self.0.store(tick, Ordering::Relaxed);
        }
    }
}

/// The tick at which the driver will look at the shards at the latest.
#[derive(Debug)]
pub(crate) struct ParkedUntil(AtomicU64);

impl ParkedUntil {
    pub(crate) fn new() -> Self {
        Self(AtomicU64::new(AWAKE))
    }

    /// Notes that the driver will look at the shards before it parks.
    pub(crate) fn transition_to_awake(&self) {
        // ORDERING: a thread that still reads the former tick unparks needlessly.
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Notes that the driver is about to park until the tick that `earliest`
    /// finds in the shards, and returns that.
    pub(crate) fn transition_to_parked(&self, earliest: impl FnOnce() -> u64) -> u64 {
        // ORDERING: the fence orders it.
        self.0.store(NEVER, Ordering::Relaxed);
        // ORDERING: pairs with the fence in `is_too_late_for`. Without them: the
        // driver does not see the timer in its shard, and the thread that sets it does not see
        // that the driver has looked; the timer is late.
        fence(Ordering::SeqCst);
        let tick = earliest();
        // ORDERING: read by `is_too_late_for` to spare the unpark.
        self.0.fetch_min(tick, Ordering::Relaxed);
        tick
    }

    /// Returns whether a timer of this tick, which has just lowered that of its shard, would be
    /// fired too late if the driver were left to wait: then it must be unparked. Answers yes once
    /// for a tick.
    pub(crate) fn is_too_late_for(&self, tick: u64) -> bool {
        // ORDERING: pairs with `transition_to_parked`.
        fence(Ordering::SeqCst);
        // ORDERING: as above.
        tick < self.0.load(Ordering::Relaxed)
            // ORDERING: as above; of those that set a timer of the same tick one
            // unparks.
            && tick < self.0.fetch_min(tick, Ordering::Relaxed)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
