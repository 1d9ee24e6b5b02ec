//! Counts the operations of Raddle's scheduler with 2 to 256 workers, stepped on one thread, in the
//! counting build: `docs/scaling.md`.
#![cfg(raddle_count)]
#![forbid(unsafe_code)]
#![allow(missing_debug_implementations, reason = "no program prints them")]

mod counts;
mod driver;
pub mod loads;
mod pool;
mod rng;

pub use counts::{Figure, Phase, Run, operations};
pub use loads::LOADS;
pub use pool::run;
