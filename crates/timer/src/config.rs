//! The settings of timers.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::suspend;
use crate::tick::TickLength;

/// A function that returns the time since a fixed point. The time must not decrease.
pub type TimeSource = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Settings for [`Timers::with_config`](crate::Timers::with_config).
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use raddle_timer::{Config, Timers};
///
/// let config = Config::new().resolution(Duration::from_micros(10));
/// let mut timers = Timers::with_config(config, Arc::new(|| {}));
/// let handle = timers.handle();
/// handle.pause();
/// let mut sleep = Box::pin(handle.sleep(Duration::from_micros(130)));
/// assert!(raddle_testing::poll(sleep.as_mut()).is_pending());
/// handle.advance(Duration::from_micros(120));
/// assert_eq!(timers.fire_due(), 0);
/// handle.advance(Duration::from_micros(10));
/// assert_eq!(timers.fire_due(), 1);
/// ```
#[derive(Clone)]
pub struct Config {
    pub(crate) shards: usize,
    pub(crate) tick: TickLength,
    pub(crate) time_source: Option<TimeSource>,
}

impl Config {
    /// The settings of [`Timers::new`](crate::Timers::new): one shard, a resolution of a
    /// millisecond, the system's clock.
    pub fn new() -> Self {
        Self {
            shards: 1,
            tick: TickLength::MILLISECOND,
            time_source: None,
        }
    }

    /// Sets the number of [shards](crate::Timers::sharded).
    pub fn shards(mut self, count: usize) -> Self {
        self.shards = count;
        self
    }

    /// Sets the resolution of the timers: deadlines are rounded up to a multiple of it. It must
    /// divide a millisecond, and be a microsecond or more. Default: 1 ms.
    ///
    /// A finer resolution lets timers fire closer to their deadlines if the owner waits as
    /// precisely, and costs more: timers that would share a tick of a millisecond wake the owner
    /// one by one, and a timer moves between levels of the wheel more often. With ticks of a
    /// microsecond, a timer fires at the latest 8 years after the timers were made.
    ///
    /// # Panics
    ///
    /// Panics if `resolution` does not divide a millisecond, or is less than a microsecond.
    #[track_caller]
    pub fn resolution(mut self, resolution: Duration) -> Self {
        self.tick = TickLength::new(resolution);
        self
    }

    /// Takes the time from `source` instead of the system's clock.
    ///
    /// Time may then pass that the owner's wait does not count. So a
    /// [`TimerDriver`](crate::driver::TimerDriver) waits for a timer in steps of a second at most,
    /// unless its event source [says](crate::driver::EventSource::counts_suspended_time) that it
    /// need not.
    ///
    /// An [`Instant`](crate::Instant) of these timers is the system's time at which they were made,
    /// plus the time that has passed since then by `source`.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use std::time::Duration;
    ///
    /// use raddle_timer::{Config, Timers};
    ///
    /// let seconds = Arc::new(AtomicU64::new(0));
    /// let source = Arc::clone(&seconds);
    /// let config = Config::new()
    ///     .time_source(Arc::new(move || Duration::from_secs(source.load(Ordering::Relaxed))));
    /// let timers = Timers::with_config(config, Arc::new(|| {}));
    /// let start = timers.now();
    /// seconds.store(3600, Ordering::Relaxed);
    /// assert_eq!(timers.now() - start, Duration::from_secs(3600));
    /// ```
    pub fn time_source(mut self, source: TimeSource) -> Self {
        self.time_source = Some(source);
        self
    }

    /// Uses a clock that also counts the time during which the system was suspended: on Linux and
    /// Android `CLOCK_BOOTTIME`, on Apple's systems `CLOCK_MONOTONIC_RAW`. On Windows the system's
    /// clock counts it anyway. On other systems this has no effect.
    ///
    /// Otherwise like [`time_source`](Self::time_source): a wait of the owner that counts no
    /// suspended time must be short.
    pub fn include_suspended_time(mut self) -> Self {
        self.time_source = suspend::time_source();
        self
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config")
            .field("shards", &self.shards)
            .field("tick", &self.tick)
            .field("has_time_source", &self.time_source.is_some())
            .finish()
    }
}
