//! Counts that one thread at a time writes and any other thread reads at any time: an update costs
//! a load, an addition and a store.

mod busy_clock;
mod histogram;
mod poll_average;
mod sampled;
mod worker;

pub(crate) use busy_clock::BusyClock;
pub(crate) use histogram::HistogramRecorder;
pub use histogram::{
    Histogram, HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram,
    LogHistogramBuilder,
};
pub(crate) use poll_average::PollAverage;
pub use sampled::SampledTimes;
pub(crate) use sampled::{Probes, Sampler, WorkerTimes};
pub(crate) use worker::WorkerCounters;
pub use worker::WorkerMetrics;
