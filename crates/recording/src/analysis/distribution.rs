//! The distribution of some times.

use std::fmt;
use std::time::Duration;

/// The distribution of a set of times.
///
/// # Examples
///
/// ```
/// use raddle_recording::analysis::Distribution;
/// use std::time::Duration;
///
/// let times: Distribution = (1..=100).map(Duration::from_nanos).collect();
/// assert_eq!(times.count(), 100);
/// assert_eq!(times.percentile(50.0), Duration::from_nanos(50));
/// assert_eq!(times.max(), Duration::from_nanos(100));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Distribution {
    sorted: Vec<Duration>,
}

impl Distribution {
    /// The number of times.
    pub fn count(&self) -> usize {
        self.sorted.len()
    }

    /// The times, the shortest first.
    pub fn iter(&self) -> impl Iterator<Item = Duration> {
        self.sorted.iter().copied()
    }

    /// The sum of the times.
    pub fn total(&self) -> Duration {
        self.sorted.iter().sum()
    }

    /// The longest time, zero if there is none.
    pub fn max(&self) -> Duration {
        self.sorted.last().copied().unwrap_or_default()
    }

    /// The shortest time that is at least as long as `percent` of all (nearest rank), zero if there
    /// is none. A percentage below 0 is 0, one above 100 is 100.
    pub fn percentile(&self, percent: f64) -> Duration {
        let rank = (percent.clamp(0.0, 100.0) / 100.0 * self.count() as f64).ceil() as usize;
        let index = rank.saturating_sub(1);
        self.sorted.get(index).copied().unwrap_or_default()
    }
}

impl FromIterator<Duration> for Distribution {
    fn from_iter<I: IntoIterator<Item = Duration>>(times: I) -> Self {
        let mut sorted: Vec<_> = times.into_iter().collect();
        sorted.sort_unstable();
        Self { sorted }
    }
}

/// The columns of a table: count, total, median, 90th and 99th percentile, longest.
impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>9} {:>10}", self.count(), short(self.total()))?;
        for percent in [50.0, 90.0, 99.0] {
            write!(f, " {:>10}", short(self.percentile(percent)))?;
        }
        write!(f, " {:>10}", short(self.max()))
    }
}

/// Formats a time with about three digits.
pub(super) fn short(time: Duration) -> String {
    let nanos = time.as_nanos();
    match nanos {
        0..10_000 => format!("{nanos} ns"),
        10_000..10_000_000 => format!("{} us", nanos / 1_000),
        10_000_000..10_000_000_000 => format!("{} ms", nanos / 1_000_000),
        _ => format!("{} s", nanos / 1_000_000_000),
    }
}
