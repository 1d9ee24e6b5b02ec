//! The clocks of hosts.

use std::time::Duration;

/// The wall clock at the start of each simulation, in nanoseconds: 2026-01-01.
const REALTIME: u64 = 1_767_225_600 * 1_000_000_000;
/// The monotonic clock at the start: later than any that a program has read outside, since no
/// machine has run for 34 years.
const MONOTONIC: u64 = (1 << 30) * 1_000_000_000;

/// How the clocks of a host differ from the time of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Clock {
    /// How far the wall clock is ahead, in nanoseconds.
    pub(crate) ahead: i64,
    /// How much faster both clocks are, in parts of a million.
    pub(crate) drift: i32,
}

/// What the clocks of a host show, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clocks {
    pub(crate) monotonic: u64,
    pub(crate) realtime: u64,
}

const MILLION: i128 = 1_000_000;

impl Clock {
    /// What the clocks show at a time of the simulation.
    #[inline]
    pub(crate) fn at(self, now: u64) -> Clocks {
        let passed = match self.drift {
            0 => now,
            drift => scale(now, MILLION + i128::from(drift), MILLION),
        };
        Clocks {
            monotonic: MONOTONIC + passed,
            realtime: (REALTIME + passed).saturating_add_signed(self.ahead),
        }
    }

    /// The time of the simulation when so much has passed on the clock.
    pub(crate) fn until(self, passed: u64) -> u64 {
        match self.drift {
            0 => passed,
            drift => scale(passed, MILLION, MILLION + i128::from(drift)),
        }
    }

    /// How long a time of the clock is.
    pub(crate) fn real(self, time: Duration) -> Duration {
        Duration::from_nanos(self.until(super::kernel::nanos(time)))
    }
}

/// Rounds up, so that the clock has passed a time when the simulation has reached it.
fn scale(number: u64, by: i128, of: i128) -> u64 {
    let scaled = (i128::from(number) * by + of - 1) / of;
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_on_a_clock_has_passed_when_the_simulation_has_reached_it() {
        for drift in [-500_000, -300, -1, 0, 1, 300, 500_000] {
            let clock = Clock { ahead: 0, drift };
            for passed in [0, 1, 999, 1_000_000, 86_400_000_000_000] {
                let shown = clock.at(clock.until(passed)).monotonic - MONOTONIC;
                assert!(
                    (passed..passed + 3).contains(&shown),
                    "{drift} {passed} {shown}"
                );
            }
        }
    }

    #[test]
    fn a_clock_that_is_behind_shows_an_earlier_time() {
        let clock = Clock {
            ahead: -5,
            drift: 0,
        };
        assert_eq!(clock.at(7).realtime, REALTIME + 2);
        assert_eq!(clock.at(7).monotonic, MONOTONIC + 7);
    }
}
