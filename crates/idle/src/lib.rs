#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod idle;
mod idle_yield;
mod monitor;
mod parker;
mod stealable;

pub use idle::{Duty, IdleSet, MAX_WORKERS, Parking};
pub use idle_yield::IdleYield;
pub use monitor::{Monitor, Progress};
pub use parker::{Parker, Place};
pub use stealable::StealableSet;
