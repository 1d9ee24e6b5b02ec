//! Tests of the counters of a worker.
#![cfg(not(raddle_loom))]

mod auto_traits;
mod busy_clock;
