//! A histogram of durations, and its buckets.

mod configuration;

use std::ops::Range;
use std::time::Duration;

use raddle_primitives::Count;

pub use configuration::{
    HistogramConfiguration, InvalidHistogramConfiguration, LogHistogram, LogHistogramBuilder,
};

/// Records durations in a [`Histogram`]. One thread at a time records; any thread may read the
/// histogram meanwhile.
#[derive(Debug)]
pub(crate) struct HistogramRecorder(Histogram);

/// A histogram of durations, to be read. The scheduler writes it.
#[derive(Debug)]
pub struct Histogram {
    configuration: HistogramConfiguration,
    counts: Box<[Count]>,
}

impl HistogramRecorder {
    /// Makes a recorder with an empty histogram.
    pub(crate) fn new(configuration: &HistogramConfiguration) -> Self {
        Self(Histogram::new(configuration))
    }

    /// Adds a duration.
    #[inline]
    pub(crate) fn record(&self, time: Duration) {
        let Histogram {
            configuration,
            counts,
        } = &self.0;
        counts[configuration.bucket(nanos(time))].add(1);
    }

    /// Returns the histogram.
    pub(crate) fn histogram(&self) -> &Histogram {
        &self.0
    }
}

impl Histogram {
    fn new(configuration: &HistogramConfiguration) -> Self {
        let buckets = configuration.num_buckets();
        Self {
            configuration: configuration.clone(),
            counts: (0..buckets).map(|_| Count::default()).collect(),
        }
    }

    /// Returns the number of buckets.
    pub fn num_buckets(&self) -> usize {
        self.counts.len()
    }

    /// Returns the range of durations of a bucket. That of the last bucket ends at `u64::MAX`
    /// nanoseconds.
    ///
    /// # Panics
    ///
    /// Panics if there is no such bucket.
    #[track_caller]
    pub fn range(&self, bucket: usize) -> Range<Duration> {
        self.check(bucket);
        let start = |bucket| self.configuration.start(bucket);
        let end = match bucket + 1 {
            next if next == self.counts.len() => u64::MAX,
            next => start(next),
        };
        Duration::from_nanos(start(bucket))..Duration::from_nanos(end)
    }

    /// Returns the number of durations in a bucket.
    ///
    /// # Panics
    ///
    /// Panics if there is no such bucket.
    #[track_caller]
    pub fn count(&self, bucket: usize) -> u64 {
        self.check(bucket);
        self.counts[bucket].get()
    }

    #[track_caller]
    fn check(&self, bucket: usize) {
        let buckets = self.counts.len();
        assert!(
            bucket < buckets,
            "there is no bucket {bucket}: the histogram of poll times has {buckets}"
        );
    }
}

/// Returns a duration in nanoseconds; a `u64` holds 584 years.
fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
