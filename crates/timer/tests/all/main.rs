//! Tests of timers and of the driver that waits for them.
#![cfg(not(raddle_loom))]

mod context;
mod driver;
mod handle_futures;
mod interval;
mod panic_hook;
mod precise;
mod reentry;
mod shards;
mod shutdown;
mod sleep;
mod support;
mod threads;
mod time_source;
mod timeout;
mod timer_driver;
