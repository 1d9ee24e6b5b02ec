//! The state that all shards share: the clock, and how to unpark the driver.

use std::fmt;

use raddle_primitives::CachePadded;
use raddle_primitives::sync::atomic::{AtomicU64, Ordering};

use crate::clock::Clock;
use crate::config::Config;
use crate::deadline::ParkedUntil;
use crate::driver::UnparkFn;
use crate::instant::Instant;
use crate::tick::TickLength;

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) tick: TickLength,
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
    pub(crate) fn new(config: Config, unpark: UnparkFn) -> Self {
        Self {
            clock: Clock::new(config.time_source),
            tick: config.tick,
            unpark,
            is_sharded: config.shards > 1,
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
        self.tick
            .ceil(deadline.saturating_duration_since(self.clock.start()))
    }

    /// Returns the last tick that is not after the current time.
    #[inline]
    pub(crate) fn present_tick(&self) -> u64 {
        let since_start = self
            .clock
            .now()
            .saturating_duration_since(self.clock.start());
        let tick = self.tick.floor(since_start);
        // ORDERING: see `last_turn`.
        self.driver.present.store(tick, Ordering::Relaxed);
        tick
    }

    /// Returns the instant of a tick.
    pub(crate) fn instant_of(&self, tick: u64) -> Instant {
        self.clock
            .start()
            .checked_add(self.tick.until(tick))
            .unwrap_or_else(|| Instant::far_after(self.clock.start()))
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
