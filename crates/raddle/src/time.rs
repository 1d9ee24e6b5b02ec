//! Sleeping, time limits and intervals.
//!
//! | to | use |
//! |---|---|
//! | wait | [`sleep`], [`sleep_until`] |
//! | do something at regular intervals | [`interval`] |
//! | give something up when it takes too long | [`timeout`], [`timeout_at`] |
//! | read the time, which a test can control | [`Instant`] |
//!
//! ```
//! use raddle::time::{Duration, interval, sleep, timeout};
//!
//! # #[raddle::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let mut seconds = interval(Duration::from_secs(1));
//! // The first tick comes at once.
//! seconds.tick().await;
//! seconds.tick().await;
//!
//! let slow = sleep(Duration::from_secs(60));
//! assert!(timeout(Duration::from_secs(5), slow).await.is_err());
//! # }
//! ```
//!
//! Timers need a runtime built with [`enable_time`](crate::runtime::Builder::enable_time). By
//! default their resolution is a millisecond: rounding makes a timer up to two milliseconds late,
//! never early. [`Builder::timer_resolution`](crate::runtime::Builder::timer_resolution) makes them
//! more precise, and
//! [`Builder::include_suspended_time`](crate::runtime::Builder::include_suspended_time) makes them
//! count the time during which the system is suspended. A timer is stored in its future; setting
//! and dropping it allocates nothing and takes constant time.
//!
//! # Time in tests
//!
//! On a current-thread runtime the clock can be [paused](pause), with the feature `test-util`:
//! [`Instant::now`] then stands still, and time advances by [`advance`], or automatically to the
//! earliest deadline when the runtime has nothing to do except wait for a timer. A test that sleeps
//! for an hour takes no time, and the times that it measures are exact. Work of
//! [`spawn_blocking`](crate::task::spawn_blocking) prevents the automatic advance while it is
//! queued or runs, and so does a guard of [`hold_auto_advance`].
//! `#[raddle::test(start_paused = true)]` and
//! [`Builder::start_paused`](crate::runtime::Builder::start_paused) pause it from the start.
//!
//! # Cancel safety
//!
//! Dropping a [`Sleep`] cancels the timer. [`Interval::tick`] is cancel safe. Dropping a
//! [`Timeout`] drops the future in it.

pub use raddle_timer::{
    Instant, Interval, MissedTickBehavior, Sleep, Timeout, error, interval, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};
pub use std::time::Duration;

#[cfg(feature = "test-util")]
mod pausing;

#[cfg(feature = "test-util")]
pub use self::pausing::{AutoAdvanceHold, advance, hold_auto_advance, pause, resume};
