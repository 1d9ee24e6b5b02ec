//! A histogram of poll times: four buckets of equal width to each power of
//! two, so that a bucket is at most a quarter as wide as the times in it. The
//! idea is that of Gil Tene's HdrHistogram.

use std::ops::Range;
use std::time::Duration;

use raddle_std::Count;

/// Shorter times, in nanoseconds as a power of two, share the first bucket.
const SHORTEST: u32 = 6;
/// Times from here on, about 17 seconds, share the last.
const LONGEST: u32 = 34;
/// Each power of two in between has as many buckets as this power.
const SPLIT: u32 = 2;

/// How many buckets there are.
pub(super) const BUCKETS: usize = 2 + (((LONGEST - SHORTEST) as usize) << SPLIT);

/// Counts of times; written by one worker.
#[derive(Debug)]
pub(crate) struct Histogram(Box<[Count]>);

impl Histogram {
    pub(super) fn new() -> Self {
        Self((0..BUCKETS).map(|_| Count::default()).collect())
    }

    pub(crate) fn record(&self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.0[bucket(nanos)].add(1);
    }

    pub(super) fn count(&self, bucket: usize) -> u64 {
        self.0[bucket].get()
    }
}

/// The bucket of a time.
fn bucket(nanos: u64) -> usize {
    let power = match nanos.checked_ilog2() {
        Some(power) if power >= SHORTEST => power,
        _ => return 0,
    };
    if power >= LONGEST {
        return BUCKETS - 1;
    }
    let part = (nanos >> (power - SPLIT)) as usize & ((1 << SPLIT) - 1);
    1 + (((power - SHORTEST) as usize) << SPLIT) + part
}

/// The times that fall into a bucket.
pub(super) fn range(bucket: usize) -> Range<Duration> {
    let end = match bucket + 1 {
        BUCKETS => Duration::MAX,
        next => start(next),
    };
    start(bucket)..end
}

/// The shortest time that falls into a bucket.
fn start(bucket: usize) -> Duration {
    let Some(place) = bucket.checked_sub(1) else {
        return Duration::ZERO;
    };
    let power = SHORTEST + (place >> SPLIT) as u32;
    let part = (place & ((1 << SPLIT) - 1)) as u64;
    Duration::from_nanos(((1 << SPLIT) + part) << (power - SPLIT))
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
