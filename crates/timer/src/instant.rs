//! A point in time, as the current timers' clock counts it.

use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

use crate::handle::{self, Handle};

/// The duration that counts as "never": thirty years.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365 * 30);

/// A point in time, opaque and only useful with [`Duration`].
///
/// It is a [`std::time::Instant`], except that [`now`](Instant::now) reads the clock of the current
/// timers. That makes a difference once that clock has been paused: see
/// [`Handle::pause`](crate::Handle::pause).
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, Instant};
///
/// # fn main() { raddle::run(async {
/// let start = Instant::now();
/// let deadline = start + Duration::from_secs(5);
/// assert!(deadline > start);
/// assert_eq!(deadline - start, Duration::from_secs(5));
/// # }) }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// Returns the current time of the current runtime's clock, or of the system's clock outside
    /// any runtime.
    #[inline]
    pub fn now() -> Self {
        handle::with_current(Handle::now).unwrap_or_else(Self::system)
    }

    /// Returns the current time of the system's clock.
    #[inline]
    pub(crate) fn system() -> Self {
        Self(std::time::Instant::now())
    }

    /// Returns an instant so long after `now` that no program waits for it.
    pub(crate) fn far_after(now: Self) -> Self {
        // Thirty years fit on every platform. If the clock was advanced nearly to its end, it stays
        // there.
        now.checked_add(FAR).unwrap_or(now)
    }

    /// Converts an instant of std's type.
    pub fn from_std(std: std::time::Instant) -> Self {
        Self(std)
    }

    /// Converts the instant into std's type.
    pub fn into_std(self) -> std::time::Instant {
        self.0
    }

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later.
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the time from `earlier` to this instant, or `None` if `earlier` is later.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, Instant};
    ///
    /// # fn main() {
    /// let start = Instant::now();
    /// let end = start + Duration::from_secs(1);
    /// assert_eq!(end.checked_duration_since(start), Some(Duration::from_secs(1)));
    /// assert_eq!(start.checked_duration_since(end), None);
    /// # }
    /// ```
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// Returns the time from `earlier` to this instant, or zero if `earlier` is later.
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// Returns the time from this instant to [now](Self::now), or zero if it is in the future.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, Instant, sleep};
    ///
    /// # fn main() { raddle::run(async {
    /// let start = Instant::now();
    /// sleep(Duration::from_millis(2)).await;
    /// assert!(start.elapsed() >= Duration::from_millis(2));
    /// # }) }
    /// ```
    pub fn elapsed(&self) -> Duration {
        Self::now().saturating_duration_since(*self)
    }

    /// Returns this instant plus `duration`, or `None` if the platform cannot represent it.
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// Returns this instant minus `duration`, or `None` if the platform cannot represent it.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(std: std::time::Instant) -> Self {
        Self::from_std(std)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.into_std()
    }
}

/// # Panics
///
/// Panics if the platform cannot count that far; see [`Instant::checked_add`].
impl Add<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn add(self, duration: Duration) -> Self {
        match self.checked_add(duration) {
            Some(sum) => sum,
            None => panic!("the platform cannot count that far; use checked_add"),
        }
    }
}

/// # Panics
///
/// Panics if the platform cannot count that far; see [`Instant::checked_add`].
impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

/// # Panics
///
/// Panics if the platform cannot count that far; see [`Instant::checked_sub`].
impl Sub<Duration> for Instant {
    type Output = Self;

    #[track_caller]
    fn sub(self, duration: Duration) -> Self {
        match self.checked_sub(duration) {
            Some(difference) => difference,
            None => panic!("the platform cannot count that far; use checked_sub"),
        }
    }
}

/// # Panics
///
/// Panics if the platform cannot count that far; see [`Instant::checked_sub`].
impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

/// Zero if the right operand is later.
impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.saturating_duration_since(earlier)
    }
}
