//! What the owner of the timers and their handles share.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use raddle_std::sync::{Mutex, MutexGuard};

use crate::batch::Batch;
use crate::clock::Clock;
use crate::instant::Instant;
use crate::state::MAX_TICK;
use crate::wheel::{Progress, Wheel};

/// The tick a driver waits for that is not parked: no timer is earlier.
const AWAKE: u64 = 0;

/// The tick a driver waits for that is parked without a time-out.
const FOR_EVER: u64 = u64::MAX;

/// The function that makes the driver's present or next park return.
pub(crate) type UnparkFn = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct Shared {
    pub(crate) clock: Clock,
    unpark: UnparkFn,
    core: Mutex<Core>,
}

/// What the lock protects.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) wheel: Wheel,
    /// When the driver will look at the wheel at the latest, as a tick.
    parked_until: u64,
    shut_down: bool,
}

impl Shared {
    pub(crate) fn new(unpark: UnparkFn) -> Self {
        Self {
            clock: Clock::new(),
            unpark,
            core: Mutex::new(Core {
                wheel: Wheel::new(),
                parked_until: AWAKE,
                shut_down: false,
            }),
        }
    }

    /// Takes the lock. No user code may run before it is released.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock()
    }

    /// Calls the unpark function. Never with the lock held.
    pub(crate) fn unpark(&self) {
        (self.unpark)();
    }

    /// Fires what is due, and says how many timers that were.
    pub(crate) fn fire_due(&self) -> usize {
        let now = self.present_tick();
        if self.core().wheel.skip_to(now) {
            return 0;
        }
        let mut fired = 0;
        loop {
            let mut batch = Batch::new();
            let progress = self.core().wheel.fire(now, &mut batch);
            fired += batch.len();
            batch.wake_all();
            if progress == Progress::Done {
                return fired;
            }
        }
    }

    /// The first tick that is not before `deadline`.
    #[inline]
    pub(crate) fn tick_of_deadline(&self, deadline: Instant) -> u64 {
        let since_start = deadline.saturating_duration_since(self.clock.start());
        let part = u64::from(since_start.subsec_nanos()).div_ceil(1_000_000);
        whole_ticks(since_start).saturating_add(part).min(MAX_TICK)
    }

    /// The last tick that is not after the present.
    #[inline]
    pub(crate) fn present_tick(&self) -> u64 {
        let since_start = self
            .clock
            .now()
            .saturating_duration_since(self.clock.start());
        let part = u64::from(since_start.subsec_millis());
        whole_ticks(since_start).saturating_add(part).min(MAX_TICK)
    }

    /// The instant of a tick.
    pub(crate) fn instant_of(&self, tick: u64) -> Instant {
        self.clock
            .start()
            .checked_add(Duration::from_millis(tick))
            .unwrap_or_else(|| Instant::far_after(self.clock.start()))
    }
}

/// The ticks of the whole seconds of a duration.
fn whole_ticks(duration: Duration) -> u64 {
    duration.as_secs().saturating_mul(1_000)
}

impl Core {
    pub(crate) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    pub(crate) fn set_shut_down(&mut self) {
        self.shut_down = true;
    }

    /// Notes that the driver will look at the wheel before it parks.
    pub(crate) fn set_awake(&mut self) {
        self.parked_until = AWAKE;
    }

    /// The tick until which the driver may park, and notes that it does.
    pub(crate) fn set_parked(&mut self) -> Option<u64> {
        let next = self.wheel.next_tick();
        self.parked_until = next.unwrap_or(FOR_EVER);
        next
    }

    /// Whether a timer of this tick would come too late if the driver were left
    /// to wait. Answers yes once: then the driver is as good as awake until that
    /// tick.
    pub(crate) fn is_earlier_than_park(&mut self, tick: u64) -> bool {
        let earlier = tick < self.parked_until;
        if earlier {
            self.parked_until = tick;
        }
        earlier
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}
