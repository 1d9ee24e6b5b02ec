//! Time: the system's, that of another source, or a virtual one that only `advance` moves.

use std::fmt;
use std::time::Duration;

use raddle_primitives::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use raddle_primitives::sync::{Mutex, Rank};

use crate::config::TimeSource;
use crate::instant::Instant;

const MILLISECOND_NANOS: u32 = 1_000_000;

/// The system's clock determines the time.
const SYSTEM: u32 = 0;
/// The source determines the time.
const SOURCE: u32 = 1;
/// `adjusted` determines the time.
const ADJUSTED: u32 = 2;

/// A clock that runs with its source until it is first paused.
#[derive(Debug)]
pub(crate) struct Clock {
    /// The instant of tick 0.
    start: Instant,
    source: Option<Source>,
    /// What determines the time. The first `pause` permanently sets it to `ADJUSTED`.
    mode: AtomicU32,
    /// The number of holds: while there is one, a paused clock is not advanced automatically.
    holds: AtomicUsize,
    adjusted: Mutex<AdjustedTime>,
}

/// A source of the time in place of the system's clock.
struct Source {
    read: TimeSource,
    /// The source's time when the clock was made.
    start: Duration,
}

/// The time of a clock that has been paused: `base`, plus the time that has passed since
/// `running_since`.
#[derive(Debug)]
struct AdjustedTime {
    base: Instant,
    /// The time of the source at `base`; `None` while the clock is paused.
    running_since: Option<Instant>,
}

impl AdjustedTime {
    /// Returns the time at which the source shows `unadjusted`.
    fn at(&self, unadjusted: Instant) -> Instant {
        match self.running_since {
            None => self.base,
            Some(since) => self.base + unadjusted.saturating_duration_since(since),
        }
    }
}

impl Clock {
    pub(crate) fn new(source: Option<TimeSource>) -> Self {
        let now = Instant::system();
        let mode = if source.is_some() { SOURCE } else { SYSTEM };
        Self {
            start: now,
            source: source.map(|read| Source {
                start: read(),
                read,
            }),
            mode: AtomicU32::new(mode),
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
        if self.mode.load(Ordering::Relaxed) == SYSTEM {
            Instant::system()
        } else {
            self.now_of_other_mode()
        }
    }

    #[cold]
    fn now_of_other_mode(&self) -> Instant {
        // The source is the user's code, so it is not called under the lock.
        let unadjusted = self.unadjusted_now();
        // ORDERING: as in `now`.
        if self.mode.load(Ordering::Relaxed) == ADJUSTED {
            self.adjusted.lock().at(unadjusted)
        } else {
            unadjusted
        }
    }

    /// Returns the time as if the clock had never been paused.
    fn unadjusted_now(&self) -> Instant {
        match &self.source {
            None => Instant::system(),
            Some(source) => {
                let passed = (source.read)().saturating_sub(source.start);
                let now = self.start.checked_add(passed);
                now.unwrap_or_else(|| Instant::far_after(self.start))
            }
        }
    }

    pub(crate) fn has_source(&self) -> bool {
        self.source.is_some()
    }

    pub(crate) fn is_paused(&self) -> bool {
        // ORDERING: as in `now`.
        self.mode.load(Ordering::Relaxed) == ADJUSTED
            && self.adjusted.lock().running_since.is_none()
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
        let unadjusted = self.unadjusted_now();
        let mut adjusted = self.adjusted.lock();
        if adjusted.running_since.is_none() {
            drop(adjusted);
            panic!("the clock is paused already; call resume first");
        }
        // Pause at a whole millisecond, which is a whole tick. Then a timer of n milliseconds is
        // due once the clock is advanced by n milliseconds.
        let now = adjusted.at(unadjusted);
        let part = (now - self.start).subsec_nanos() % MILLISECOND_NANOS;
        let rest = (MILLISECOND_NANOS - part) % MILLISECOND_NANOS;
        adjusted.base = now + Duration::from_nanos(u64::from(rest));
        adjusted.running_since = None;
        // ORDERING: as in `now`.
        self.mode.store(ADJUSTED, Ordering::Relaxed);
    }

    #[track_caller]
    pub(crate) fn resume(&self) {
        let unadjusted = self.unadjusted_now();
        let mut adjusted = self.adjusted.lock();
        if adjusted.running_since.is_some() {
            drop(adjusted);
            panic!("the clock is not paused; call pause first");
        }
        adjusted.running_since = Some(unadjusted);
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

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
