//! Ticks at a fixed distance.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use raddle_leaf::misuse::at_caller;
use raddle_leaf::wait::Resource;

use crate::entry::ShutdownError;
use crate::handle::Handle;
use crate::instant::Instant;
use crate::sleep::{Sleep, shut_down};

/// A tick that is observed no later than this was not missed: timers and schedulers are never
/// exact.
const TOLERANCE: Duration = Duration::from_millis(5);

/// Makes an interval whose first tick is due at once, and the next ones every `period`.
///
/// # Panics
///
/// Panics if `period` is zero, and in the same cases as [`sleep`](crate::sleep).
///
/// ```no_run
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, interval};
///
/// # fn main() { raddle::run(async {
/// let mut interval = interval(Duration::from_secs(1));
/// loop {
///     interval.tick().await;
///     println!("still here");
/// }
/// # }) }
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    check_period(period);
    let handle = Handle::lend();
    let start = handle.now();
    Interval::new(handle, start, period)
}

/// Makes an interval whose first tick is due at `start`, and the next ones every `period`.
///
/// # Panics
///
/// Panics in the same cases as [`interval`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, Instant, interval_at};
///
/// # fn main() { raddle::run(async {
/// let start = Instant::now() + Duration::from_millis(2);
/// let mut ticks = interval_at(start, Duration::from_millis(1));
/// assert_eq!(ticks.tick().await, start);
/// assert_eq!(ticks.tick().await, start + Duration::from_millis(1));
/// # }) }
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    check_period(period);
    Interval::new(Handle::lend(), start, period)
}

#[track_caller]
pub(crate) fn check_period(period: Duration) {
    assert!(!period.is_zero(), "period must be non-zero");
}

/// The way in which an [`Interval`] handles missed ticks.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, MissedTickBehavior, interval, sleep};
///
/// # fn main() { raddle::run(async {
/// let mut ticks = interval(Duration::from_millis(10));
/// ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
/// let first = ticks.tick().await;
/// // Misses two ticks.
/// sleep(Duration::from_millis(35)).await;
/// ticks.tick().await;
/// // At least a whole period after the tick before it was observed.
/// let third = ticks.tick().await;
/// assert!(third >= first + Duration::from_millis(45));
/// # }) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissedTickBehavior {
    /// Ticks at once for each missed tick, until it has caught up. No tick is left out.
    #[default]
    Burst,
    /// Ticks one period after the late tick was observed: ticks stay at least a period apart.
    Delay,
    /// Skips the missed ticks: ticks stay at multiples of the period from the start.
    Skip,
}

impl MissedTickBehavior {
    /// Returns the tick after one that was due at `due` and is observed at `now`, later than the
    /// tolerance.
    fn next_after(self, due: Instant, now: Instant, period: Duration) -> Option<Instant> {
        match self {
            Self::Burst => due.checked_add(period),
            Self::Delay => now.checked_add(period),
            Self::Skip => {
                let into_period = (now - due).as_nanos() % period.as_nanos();
                // Durations that exceed 64 bits of nanoseconds are centuries.
                let rest = u64::try_from(period.as_nanos() - into_period).unwrap_or(u64::MAX);
                now.checked_add(Duration::from_nanos(rest))
            }
        }
    }
}

/// Ticks at regular times; made by [`interval`] and [`interval_at`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, interval};
///
/// # fn main() { raddle::run(async {
/// let mut ticks = interval(Duration::from_millis(1));
/// let first = ticks.tick().await;
/// let second = ticks.tick().await;
/// assert_eq!(second - first, ticks.period());
/// # }) }
/// ```
#[derive(Debug)]
pub struct Interval {
    /// Waits for the next tick.
    delay: Pin<Box<Sleep>>,
    period: Duration,
    missed_tick_behavior: MissedTickBehavior,
}

/// The stream of the ticks, which does not end. Only with the feature `stream`.
#[cfg(feature = "stream")]
impl futures_core::Stream for Interval {
    type Item = Instant;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.get_mut().poll_tick(cx).map(Some)
    }
}

impl Interval {
    /// Makes an interval with a [checked](check_period) period.
    pub(crate) fn new(handle: Handle, start: Instant, period: Duration) -> Self {
        Self {
            delay: Box::pin(Sleep::first(handle, start)),
            period,
            missed_tick_behavior: MissedTickBehavior::default(),
        }
    }

    /// Waits for the next tick, and returns the instant at which it was due.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a tick is consumed only when the future is ready.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> {
        // A block, so that the future is not `Unpin`, as in Tokio.
        let tick = async move { poll_fn(|cx| self.try_poll_tick(cx)).await };
        let tick = raddle_leaf::wait::located("Interval::tick", Resource::Unknown, tick);
        at_caller(tick, |ticked| ticked.map_err(shut_down))
    }

    /// Polls for the next tick. While it is pending, the task of the last call will be woken.
    ///
    /// # Panics
    ///
    /// Panics if the runtime has shut down.
    #[track_caller]
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        match ready!(self.try_poll_tick(cx)) {
            Ok(tick) => Poll::Ready(tick),
            Err(error) => shut_down(error).panic(),
        }
    }

    fn try_poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Result<Instant, ShutdownError>> {
        ready!(self.delay.as_mut().try_poll(cx))?;
        let due = self.delay.deadline();
        let now = self.delay.now();
        let next = if now.saturating_duration_since(due) > TOLERANCE {
            self.missed_tick_behavior.next_after(due, now, self.period)
        } else {
            due.checked_add(self.period)
        };
        let next = next.unwrap_or_else(|| Instant::far_after(now));
        self.delay.as_mut().reset(next);
        Poll::Ready(Ok(due))
    }

    /// Makes the next tick due one period from now.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, Instant, interval};
    ///
    /// # fn main() { raddle::run(async {
    /// let mut ticks = interval(Duration::from_millis(2));
    /// ticks.tick().await;
    /// let reset = Instant::now();
    /// ticks.reset();
    /// assert!(ticks.tick().await >= reset + Duration::from_millis(2));
    /// # }) }
    /// ```
    pub fn reset(&mut self) {
        self.reset_after(self.period);
    }

    /// Makes the next tick due now.
    pub fn reset_immediately(&mut self) {
        self.reset_at(self.delay.now());
    }

    /// Makes the next tick due `after` from now.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::time::{Duration, interval};
    ///
    /// # fn main() { raddle::run(async {
    /// let mut ticks = interval(Duration::from_secs(3600));
    /// ticks.tick().await;
    /// ticks.reset_after(Duration::from_millis(1));
    /// // Does not wait for an hour. The tick after it would.
    /// ticks.tick().await;
    /// # }) }
    /// ```
    pub fn reset_after(&mut self, after: Duration) {
        let now = self.delay.now();
        let deadline = now
            .checked_add(after)
            .unwrap_or_else(|| Instant::far_after(now));
        self.reset_at(deadline);
    }

    /// Makes the next tick due at `deadline`.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// Returns how missed ticks are handled.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.missed_tick_behavior
    }

    /// Sets how missed ticks are handled.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.missed_tick_behavior = behavior;
    }

    /// Returns the time between ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}
