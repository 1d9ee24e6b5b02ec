#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod acceptor;
mod console;
mod metrics;
mod observer;
mod options;
mod request;
mod response;
mod server;
mod slow;
mod table;
mod token;
mod view;

pub use console::{Console, ServeGuard};
pub use metrics::{Metrics, MetricsSource, WorkerMetrics};
pub use options::ConsoleOptions;
pub use slow::{SlowPoll, SlowPolls};
