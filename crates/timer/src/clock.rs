//! Time: the system's, or a virtual one that only `advance` moves.

use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::instant::Instant;

/// The length of a tick.
const TICK_NANOS: u32 = 1_000_000;

/// A clock that runs with the system's until it is first paused.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The instant of tick 0.
    start: Instant,
    /// Set permanently by the first `pause`: from then on `adjusted` determines the time.
    is_adjusted: AtomicBool,
    /// The number of holds: while there is one, a paused clock is not advanced automatically.
    holds: AtomicUsize,
    adjusted: Mutex<AdjustedTime>,
}

/// The time of a clock that has been paused: `base`, plus the system time that has passed since
/// `running_since`.
#[derive(Debug)]
struct AdjustedTime {
    base: Instant,
    /// The system time at `base`; `None` while the clock is paused.
    running_since: Option<Instant>,
}

impl AdjustedTime {
    fn now(&self) -> Instant {
        match self.running_since {
            None => self.base,
            Some(since) => self.base + Instant::system().saturating_duration_since(since),
        }
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        let now = Instant::system();
        Self {
            start: now,
            is_adjusted: AtomicBool::new(false),
            holds: AtomicUsize::new(0),
            adjusted: Mutex::ranked(
                Rank::leaf("clock"),
                AdjustedTime {
                    base: now,
                    running_since: Some(now),
                },
            ),
        }
    }

    #[inline]
    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    #[inline]
    pub(crate) fn now(&self) -> Instant {
        // ORDERING: the flag only leads to the lock, which orders the rest. A thread that does not
        // see a pause yet reads the time as before it.
        if self.is_adjusted.load(Ordering::Relaxed) {
            self.adjusted_now()
        } else {
            Instant::system()
        }
    }

    #[cold]
    fn adjusted_now(&self) -> Instant {
        self.adjusted.lock().now()
    }

    pub(crate) fn is_paused(&self) -> bool {
        // ORDERING: as in `now`.
        self.is_adjusted.load(Ordering::Relaxed) && self.adjusted.lock().running_since.is_none()
    }

    pub(crate) fn is_held(&self) -> bool {
        // ORDERING: pairs with `release`: a thread that sees the last hold released sees the wakes
        // before it.
        self.holds.load(Ordering::Acquire) > 0
    }

    pub(crate) fn hold(&self) {
        // ORDERING: only `release` publishes data.
        self.holds.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn release(&self) {
        // ORDERING: pairs with `is_held`.
        self.holds.fetch_sub(1, Ordering::Release);
    }

    #[track_caller]
    pub(crate) fn pause(&self) {
        let mut adjusted = self.adjusted.lock();
        if adjusted.running_since.is_none() {
            drop(adjusted);
            panic!("the clock is paused already; call resume first");
        }
        // Pause at a whole tick. Then a timer of n milliseconds is due once the clock is advanced
        // by n milliseconds.
        let now = adjusted.now();
        let part = (now - self.start).subsec_nanos() % TICK_NANOS;
        let rest = (TICK_NANOS - part) % TICK_NANOS;
        adjusted.base = now + Duration::from_nanos(u64::from(rest));
        adjusted.running_since = None;
        // ORDERING: as in `now`.
        self.is_adjusted.store(true, Ordering::Relaxed);
    }

    #[track_caller]
    pub(crate) fn resume(&self) {
        let mut adjusted = self.adjusted.lock();
        if adjusted.running_since.is_some() {
            drop(adjusted);
            panic!("the clock is not paused; call pause first");
        }
        adjusted.running_since = Some(Instant::system());
    }

    #[track_caller]
    pub(crate) fn advance(&self, duration: Duration) {
        let mut adjusted = self.adjusted.lock();
        let advanced = adjusted.base.checked_add(duration);
        match (adjusted.running_since, advanced) {
            (None, Some(advanced)) => adjusted.base = advanced,
            (Some(_), _) => {
                drop(adjusted);
                panic!("the clock is not paused; call pause first");
            }
            (None, None) => {
                drop(adjusted);
                panic!("the clock cannot be advanced that far; advance by less");
            }
        }
    }

    /// Moves a paused clock to `instant`, unless it is already past that.
    pub(crate) fn advance_to(&self, instant: Instant) {
        let mut adjusted = self.adjusted.lock();
        if adjusted.running_since.is_none() {
            adjusted.base = adjusted.base.max(instant);
        }
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
