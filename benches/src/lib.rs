//! Benchmarks of Raddle beside other runtimes.
#![forbid(unsafe_code)]

pub mod executors;
pub mod policies;
pub mod queues;
pub mod rounds;
pub mod stats;
pub mod timing;
pub mod workloads;
