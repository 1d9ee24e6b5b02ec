//! Benchmarks of Raddle and other runtimes.
//!
//! Only the programs of this package use this library, which is not published. Its errors and
//! panics end a program with a message, so they are not documented for each function.
#![deny(unsafe_code)]
#![allow(missing_debug_implementations, reason = "no program prints them")]

pub mod async_cost;
pub mod blocked;
pub mod executors;
pub mod latency;
pub mod policies;
pub mod queues;
pub mod record;
pub mod report;
pub mod servers;
pub mod sheet;
pub mod stats;
pub mod sync;
pub mod table;
pub mod timing;
pub mod workloads;
