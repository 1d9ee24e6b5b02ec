//! The state that all shards share: the clock, and how to unpark the driver.

use std::fmt;
use std::time::Duration;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;
use crate::deadline::ParkedUntil;
use crate::driver::UnparkFn;
use crate::instant::Instant;
use crate::state::MAX_TICK;

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    unpark: UnparkFn,
    /// Whether there is more than one shard.
    pub(crate) is_sharded: bool,
    pub(crate) driver: CachePadded<DriverState>,
}

/// The state that the driver writes in each turn.
#[derive(Debug)]
pub(crate) struct DriverState {
    pub(crate) parked_until: ParkedUntil,
    /// The tick of the driver's last turn.
    present: AtomicU64,
}

impl Shared {
    pub(crate) fn new(unpark: UnparkFn, is_sharded: bool) -> Self {
        Self {
            clock: Clock::new(),
            unpark,
            is_sharded,
            driver: CachePadded::new(DriverState {
                parked_until: ParkedUntil::new(),
                present: AtomicU64::new(0),
            }),
        }
    }

    /// Calls the unpark function. The caller holds no lock.
    pub(crate) fn unpark(&self) {
        (self.unpark)();
    }

    /// Unparks the driver for a timer that is the first of its shard, if the timer would be late
    /// otherwise. The caller holds no lock.
    pub(crate) fn announce(&self, tick: u64) {
        if self.driver.parked_until.is_too_late_for(tick) {
            self.unpark();
        }
    }

    /// Returns the tick of the driver's last turn, which is not after the current time.
    pub(crate) fn last_turn(&self) -> u64 {
        // ORDERING: a hint with which a wheel keeps up with the time.
        self.driver.present.load(Ordering::Relaxed)
    }

    /// Returns the first tick that is not before `deadline`.
    #[inline]
    pub(crate) fn tick_of_deadline(&self, deadline: Instant) -> u64 {
        let since_start = deadline.saturating_duration_since(self.clock.start());
        let part = u64::from(since_start.subsec_nanos()).div_ceil(1_000_000);
        whole_ticks(since_start).saturating_add(part).min(MAX_TICK)
    }

    /// Returns the last tick that is not after the current time.
    #[inline]
    pub(crate) fn present_tick(&self) -> u64 {
        let since_start = self
            .clock
            .now()
            .saturating_duration_since(self.clock.start());
        let part = u64::from(since_start.subsec_millis());
        let tick = whole_ticks(since_start).saturating_add(part).min(MAX_TICK);
        // ORDERING: see `last_turn`.
        self.driver.present.store(tick, Ordering::Relaxed);
        tick
    }

    /// Returns the instant of a tick.
    pub(crate) fn instant_of(&self, tick: u64) -> Instant {
        self.clock
            .start()
            .checked_add(Duration::from_millis(tick))
            .unwrap_or_else(|| Instant::far_after(self.clock.start()))
    }
}

/// Returns the ticks of the whole seconds of a duration.
fn whole_ticks(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000)
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
