//! What the scenarios share: runtimes of each policy, time limits, the servers
//! that Debian's packages bring, and certificates.
#![forbid(unsafe_code)]

pub mod daemon;
pub mod load;
pub mod policies;
pub mod tls;

pub use policies::on_each_policy;
