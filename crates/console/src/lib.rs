#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(feature = "page")]
mod acceptor;
mod bind;
#[cfg(feature = "page")]
mod console;
mod metrics;
mod metrics_server;
#[cfg(feature = "page")]
mod observer;
#[cfg(feature = "page")]
mod options;
#[cfg(feature = "page")]
mod request;
#[cfg(feature = "page")]
mod response;
#[cfg(feature = "page")]
mod server;
#[cfg(feature = "page")]
mod slow;
mod slow_counts;
#[cfg(feature = "page")]
mod table;
#[cfg(feature = "page")]
mod token;
#[cfg(feature = "page")]
mod view;
mod waits;

#[cfg(feature = "page")]
pub use console::{Console, ServeGuard};
pub use metrics::{Metrics, MetricsSource, ReactorMetrics, WorkerMetrics};
pub use metrics_server::{MetricsGuard, MetricsServer};
#[cfg(feature = "page")]
pub use options::ConsoleOptions;
#[cfg(feature = "page")]
pub use slow::{SlowPoll, SlowPolls};
pub use slow_counts::SlowPollCounts;
pub use waits::BlockingWaits;
