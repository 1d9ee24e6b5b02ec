//! Tests of the parking protocol.
#![cfg(not(raddle_loom))]

#[cfg(target_os = "linux")]
mod alarm;
mod auto_traits;
mod idle_set;
mod monitor;
mod parker;
mod stealable;
