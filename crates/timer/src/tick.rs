//! The length of a tick, and conversions between ticks and durations.

use std::time::Duration;

use crate::state::MAX_TICK;

const MILLISECOND_NANOS: u32 = 1_000_000;

/// The length of a tick. It divides a millisecond, so a whole millisecond is a whole tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TickLength {
    nanos: u32,
}

impl TickLength {
    pub(crate) const MILLISECOND: Self = Self {
        nanos: MILLISECOND_NANOS,
    };

    #[track_caller]
    pub(crate) fn new(length: Duration) -> Self {
        match u32::try_from(length.as_nanos()) {
            Ok(nanos) if nanos >= 1_000 && MILLISECOND_NANOS % nanos == 0 => Self { nanos },
            _ => panic!(
                "a resolution of {length:?} does not divide a millisecond or is below a \
                 microsecond; use 1 ms, 100 µs, 10 µs or 1 µs"
            ),
        }
    }

    #[inline]
    pub(crate) fn is_millisecond(self) -> bool {
        self.nanos == MILLISECOND_NANOS
    }

    /// Returns the ticks of a duration, rounded up.
    #[inline]
    pub(crate) fn ceil(self, duration: Duration) -> u64 {
        if self.is_millisecond() {
            milliseconds(duration, MILLISECOND_NANOS - 1)
        } else {
            self.fine_ticks(duration, self.nanos - 1)
        }
    }

    /// Returns the ticks of a duration, rounded down.
    #[inline]
    pub(crate) fn floor(self, duration: Duration) -> u64 {
        if self.is_millisecond() {
            milliseconds(duration, 0)
        } else {
            self.fine_ticks(duration, 0)
        }
    }

    /// Returns the time from tick 0 to `tick`.
    #[inline]
    pub(crate) fn until(self, tick: u64) -> Duration {
        if self.is_millisecond() {
            Duration::from_millis(tick)
        } else {
            self.until_fine(tick)
        }
    }

    /// Returns the ticks of `duration` and `more` nanoseconds, rounded down.
    #[cold]
    fn fine_ticks(self, duration: Duration, more: u32) -> u64 {
        let part = (duration.subsec_nanos() + more) / self.nanos;
        let whole = duration.as_secs().saturating_mul(self.per_second());
        whole.saturating_add(u64::from(part)).min(MAX_TICK)
    }

    #[cold]
    fn until_fine(self, tick: u64) -> Duration {
        let (whole, part) = (tick / self.per_second(), tick % self.per_second());
        Duration::from_secs(whole) + Duration::from_nanos(part * u64::from(self.nanos))
    }

    fn per_second(self) -> u64 {
        u64::from(1_000_000_000 / self.nanos)
    }
}

/// Returns the milliseconds of `duration` and `more` nanoseconds, rounded down. The division by a
/// constant is a multiplication.
#[inline]
fn milliseconds(duration: Duration, more: u32) -> u64 {
    let part = (duration.subsec_nanos() + more) / MILLISECOND_NANOS;
    let whole = duration.as_secs().saturating_mul(1_000);
    whole.saturating_add(u64::from(part)).min(MAX_TICK)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
