//! What the scenarios share: the network's faults, retries and certificates.
#![forbid(unsafe_code)]

mod faults;
mod retry;
pub mod tls;

pub use faults::disturb;
pub use retry::{ATTEMPT, retry};
