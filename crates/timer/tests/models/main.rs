//! Models of timers and of the driver that parks for them.
#![cfg(raddle_loom)]

mod shards;
mod timer;
