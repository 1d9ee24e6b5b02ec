#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod busy_clock;
mod histogram;
mod poll_average;
mod worker;

pub use busy_clock::BusyClock;
pub use histogram::{
    Histogram, HistogramConfiguration, HistogramRecorder, InvalidHistogramConfiguration,
    LogHistogram, LogHistogramBuilder,
};
pub use poll_average::PollAverage;
pub use worker::{WorkerCounters, WorkerMetrics};
