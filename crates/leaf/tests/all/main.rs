//! Tests of the budget of a poll, and of the recorded waits.
#![cfg(not(raddle_loom))]

mod auto_traits;
mod budget;
#[cfg(all(feature = "record", target_pointer_width = "64"))]
mod users;
#[cfg(feature = "record")]
mod waits;
