//! The clock of a recorder: the processor's time-stamp counter where it can be relied on, since
//! std's clock takes two to three times as long to read.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The shortest time, in nanoseconds, from which the rate of the counter is computed.
#[cfg(target_arch = "x86_64")]
const MIN_MEASURED: u64 = 1_000_000;

/// Reads the time in ticks, and converts ticks to nanoseconds.
#[derive(Debug)]
pub(crate) struct Clock {
    source: Source,
    start: Instant,
    origin: Anchor,
    /// The system time at the origin, in nanoseconds since the Unix epoch.
    unix: u64,
}

/// One point in time on both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Anchor {
    pub(crate) ticks: u64,
    pub(crate) nanos: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// std's monotonic clock; a tick is a nanosecond.
    Std,
    /// The time-stamp counter, whose rate is measured.
    #[cfg(target_arch = "x86_64")]
    Counter,
}

impl Source {
    /// Returns the counter if the kernel uses it as its clock source: then it has a constant rate
    /// and is equal on all processors.
    fn pick() -> Self {
        #[cfg(target_arch = "x86_64")]
        if cfg!(all(target_os = "linux", not(miri), not(raddle_loom))) {
            let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
            if std::fs::read_to_string(path).is_ok_and(|name| name.trim() == "tsc") {
                return Self::Counter;
            }
        }
        Self::Std
    }
}

impl Clock {
    pub(crate) fn new() -> Self {
        let source = Source::pick();
        let start = Instant::now();
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            source,
            start,
            origin: Anchor {
                ticks: now(source, &start),
                nanos: 0,
            },
            unix: unix.map_or(0, |time| nanos(time.as_nanos())),
        }
    }

    /// Returns the time in ticks.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        now(self.source, &self.start)
    }

    /// Returns the current time on both scales.
    pub(crate) fn anchor(&self) -> Anchor {
        // Of three measurements, the one whose two readings of the ticks are closest together.
        let anchors = [(); 3].map(|()| {
            let before = self.now();
            let nanos = nanos(self.start.elapsed().as_nanos());
            let spread = self.now().saturating_sub(before);
            let ticks = before + spread / 2;
            (spread, Anchor { ticks, nanos })
        });
        let closest = anchors.into_iter().min_by_key(|(spread, _)| *spread);
        closest.map_or(self.origin, |(_, anchor)| anchor)
    }

    /// Returns the number of ticks that surely take no more than `nanos` nanoseconds.
    pub(crate) fn ticks_within(&self, nanos: u64) -> u64 {
        match self.source {
            Source::Std => nanos,
            #[cfg(target_arch = "x86_64")]
            Source::Counter => {
                let past = self.past();
                // Counters run at a gigahertz or more.
                let rated = u128::from(nanos) * u128::from(past.ticks) * 99 / 100;
                let rated = rated / u128::from(past.nanos).max(1);
                match past.nanos < MIN_MEASURED {
                    true => nanos,
                    false => self::nanos(rated),
                }
            }
        }
    }

    /// Returns the nanoseconds that a number of ticks take.
    pub(crate) fn nanos_of(&self, ticks: u64) -> u64 {
        let past = self.past();
        let time = u128::from(ticks) * u128::from(past.nanos);
        nanos(time / u128::from(past.ticks).max(1))
    }

    /// Returns the time since the origin on both scales.
    fn past(&self) -> Anchor {
        let now = self.anchor();
        Anchor {
            ticks: now.ticks.wrapping_sub(self.origin.ticks),
            nanos: now.nanos,
        }
    }

    pub(crate) fn origin(&self) -> Anchor {
        self.origin
    }

    pub(crate) fn unix(&self) -> u64 {
        self.unix
    }
}

#[inline]
fn now(source: Source, start: &Instant) -> u64 {
    match source {
        Source::Std => std_now(start),
        #[cfg(target_arch = "x86_64")]
        Source::Counter => {
            // SAFETY: every x86-64 processor has the instruction, and Linux allows it if the
            // counter is its own clock source.
            unsafe { core::arch::x86_64::_rdtsc() }
        }
    }
}

/// Out of line, so that reading the counter stays short.
#[inline(never)]
fn std_now(start: &Instant) -> u64 {
    nanos(start.elapsed().as_nanos())
}

/// Returns nanoseconds in 64 bits, which suffice for 584 years.
fn nanos(nanos: u128) -> u64 {
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

/// Converts ticks by linear interpolation between three points in time, so that the order of times
/// is kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    pub(crate) origin: Anchor,
    pub(crate) former: Anchor,
    pub(crate) present: Anchor,
}

impl Scale {
    /// Returns the nanoseconds of a tick of which only the remainder after division by `modulus` is
    /// known. Of all such ticks it takes the one closest to the current time, and none later.
    pub(crate) fn nanos(&self, ticks: u64, modulus: u64) -> u64 {
        let age = self.present.ticks.wrapping_sub(ticks) % modulus;
        // The counters of two processors may differ slightly.
        let age = if age > modulus / 2 { 0 } else { age };
        let ticks = self.present.ticks.saturating_sub(age);
        let (from, to) = match ticks >= self.former.ticks {
            true => (self.former, self.present),
            false => (self.origin, self.former),
        };
        let span = u128::from(to.ticks.saturating_sub(from.ticks)).max(1);
        let time = u128::from(to.nanos.saturating_sub(from.nanos));
        let past = u128::from(ticks.saturating_sub(from.ticks));
        from.nanos + nanos(past * time / span)
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
