//! Sleeping, time limits and intervals: those of `raddle-timer`. They need a
//! runtime built with [`enable_time`](crate::runtime::Builder::enable_time).
//!
//! # Time in tests
//!
//! On a current-thread runtime the clock can be [paused](pause): [`Instant::now`]
//! stands still then, and time passes by [`advance`], or by itself when there is
//! nothing to do but wait for a timer: then the clock is moved to the earliest
//! deadline. So a test that sleeps for an hour takes no time, and what it
//! measures is exact. Work of [`spawn_blocking`](crate::task::spawn_blocking)
//! keeps the clock from moving by itself while it is queued or runs.
//! `#[raddle::test(start_paused = true)]` and
//! [`Builder::start_paused`](crate::runtime::Builder::start_paused) pause it
//! from the start.

pub use raddle_timer::{
    Instant, Interval, MissedTickBehavior, Sleep, Timeout, error, interval, interval_at, sleep,
    sleep_until, timeout, timeout_at,
};
pub use std::time::Duration;

#[cfg(feature = "test-util")]
mod pausing;

#[cfg(feature = "test-util")]
pub use self::pausing::{advance, pause, resume};
