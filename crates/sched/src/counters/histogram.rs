//! A histogram of poll times, and which buckets it has.

mod configuration;

use std::ops::Range;
use std::time::Duration;

use raddle_primitives::Count;

pub use configuration::{
    HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};

/// Counts of times; written by one worker.
#[derive(Debug)]
pub(crate) struct Histogram {
    configuration: HistogramConfiguration,
    counts: Box<[Count]>,
}

impl Histogram {
    pub(crate) fn new(configuration: &HistogramConfiguration) -> Self {
        let buckets = configuration.num_buckets();
        Self {
            configuration: configuration.clone(),
            counts: (0..buckets).map(|_| Count::default()).collect(),
        }
    }

    pub(crate) fn record(&self, time: Duration) {
        self.counts[self.configuration.bucket(nanos(time))].add(1);
    }

    pub(crate) fn num_buckets(&self) -> usize {
        self.counts.len()
    }

    /// The times that fall into a bucket.
    pub(crate) fn range(&self, bucket: usize) -> Range<Duration> {
        let start = |bucket| self.configuration.start(bucket);
        let end = match bucket + 1 {
            next if next == self.counts.len() => u64::MAX,
            next => start(next),
        };
        Duration::from_nanos(start(bucket))..Duration::from_nanos(end)
    }

    pub(crate) fn count(&self, bucket: usize) -> u64 {
        self.counts[bucket].get()
    }
}

/// A time in nanoseconds, of which a `u64` holds 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
