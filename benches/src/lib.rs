//! Benchmarks of Raddle beside other runtimes.
#![forbid(unsafe_code)]

pub mod executors;
pub mod stats;
pub mod workloads;
