//! Counts the operations of Raddle's scheduler with 2 to 256 workers, stepped on one thread:
//! `docs/scaling.md`.
//!
//! Every build can read [`Counts`]. Only the counting build, under `--cfg raddle_count`, can count.
#![forbid(unsafe_code)]

mod counts;
#[cfg(raddle_count)]
mod driver;
#[cfg(raddle_count)]
pub mod loads;
#[cfg(raddle_count)]
mod pool;
#[cfg(raddle_count)]
mod rng;

pub use counts::{Counts, Figure, Phase, Run, Scope, Tally, Word};
#[cfg(raddle_count)]
pub use loads::Load;
#[cfg(raddle_count)]
pub use pool::run;
