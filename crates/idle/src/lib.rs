#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(all(target_os = "linux", not(raddle_loom)))]
mod alarm;
#[cfg(any(not(target_os = "linux"), raddle_loom))]
#[path = "alarm/absent.rs"]
mod alarm;
mod idle;
mod idle_yield;
mod monitor;
mod parker;
mod stealable;

pub use alarm::Alarm;
pub use idle::{Duty, IdleSet, MAX_WORKERS, Parking};
pub use idle_yield::IdleYield;
pub use monitor::{Monitor, Progress};
pub use parker::{BlockedOn, Parker};
pub use stealable::StealableSet;
