//! Helpers of the scenarios: runtimes of each policy, time limits and certificates.
#![forbid(unsafe_code)]

pub mod load;
pub mod policies;
pub mod tls;

pub use policies::on_each_policy;
