#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod console;
mod metrics;
mod observer;
mod request;
mod server;
mod slow;
mod table;
mod token;

pub use console::{Console, ServeGuard};
pub use metrics::{Metrics, MetricsSource, WorkerMetrics};
pub use slow::{SlowPoll, SlowPolls};
