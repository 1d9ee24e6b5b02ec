#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![deny(unsafe_code)]

mod clock;
mod config;
mod deadline;
pub mod driver;
#[allow(
    unsafe_code,
    reason = "timers live in their futures and are linked by pointer"
)]
mod entry;
pub mod error;
mod handle;
mod instant;
mod interval;
mod shard;
mod shared;
mod sleep;
mod state;
#[allow(unsafe_code, reason = "std does not read this clock")]
mod suspend;
mod tick;
mod timeout;
mod timers;
#[allow(
    unsafe_code,
    reason = "timers live in their futures and are linked by pointer"
)]
mod wheel;

pub use config::{Config, TimeSource};
pub use handle::{AutoAdvanceHold, CurrentHandle, Handle};
pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
pub use timeout::{Timeout, timeout, timeout_at};
pub use timers::Timers;
