//! Benchmarks of Raddle beside other runtimes.
#![deny(unsafe_code)]

pub mod async_cost;
pub mod both;
pub mod client;
pub mod executors;
pub mod policies;
pub mod queues;
pub mod rounds;
pub mod servers;
pub mod sockets;
pub mod stats;
pub mod strace;
pub mod sync;
pub mod table;
pub mod timing;
pub mod workloads;
pub mod wrk;
