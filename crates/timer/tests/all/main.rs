//! Tests of timers and of the driver that waits for them.
#![cfg(not(raddle_loom))]

mod context;
mod driver;
mod interval;
mod panic_hook;
mod reentry;
mod shards;
mod shutdown;
mod sleep;
mod support;
mod threads;
mod timeout;
mod timer_driver;
