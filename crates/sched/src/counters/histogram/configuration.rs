//! The configuration of a histogram's buckets.

use std::error::Error;
use std::fmt;
use std::time::Duration;

use super::nanos;

/// The maximum number of buckets for each power of two, as a power of two.
const MAX_PRECISION: u32 = 10;
/// The maximum number of buckets of one width. Each worker allocates them.
const MAX_BUCKETS: usize = 1 << 16;

/// The configuration of a histogram's buckets.
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::{HistogramConfiguration, LogHistogram};
/// use std::time::Duration;
///
/// # fn main() {
/// // 0 to 50 us, 50 to 100 us, and so on to 950 us; longer polls are in the last bucket.
/// let even = HistogramConfiguration::linear(Duration::from_micros(50), 20);
/// let wide = HistogramConfiguration::log(
///     LogHistogram::builder().max_value(Duration::from_secs(1)),
/// );
/// # drop((even, wide));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HistogramConfiguration(Scale);

#[derive(Clone, Copy, Debug)]
enum Scale {
    /// Buckets of one width in nanoseconds, and their number.
    Linear(u64, usize),
    Log(LogHistogram),
}

impl HistogramConfiguration {
    /// Makes `buckets` buckets of width `bucket_width`. The last one also counts all longer
    /// durations.
    ///
    /// # Panics
    ///
    /// Panics if `bucket_width` or `buckets` is zero, or if `buckets` is more than 65,536.
    #[track_caller]
    pub fn linear(bucket_width: Duration, buckets: usize) -> Self {
        assert!(
            !bucket_width.is_zero() && buckets > 0,
            "a histogram needs a bucket; give it a width and a number from 1 up"
        );
        assert!(
            buckets <= MAX_BUCKETS,
            "a histogram cannot have {buckets} buckets; give it {MAX_BUCKETS} or less"
        );
        Self(Scale::Linear(nanos(bucket_width), buckets))
    }

    /// Makes buckets whose width grows with their durations.
    pub fn log(configuration: impl Into<LogHistogram>) -> Self {
        Self(Scale::Log(configuration.into()))
    }

    pub(crate) fn num_buckets(&self) -> usize {
        match self.0 {
            Scale::Linear(_, buckets) => buckets,
            Scale::Log(log) => log.buckets,
        }
    }

    /// Returns the bucket of a time in nanoseconds.
    #[inline]
    pub(crate) fn bucket(&self, time: u64) -> usize {
        let bucket = match self.0 {
            Scale::Linear(width, _) => time / width,
            Scale::Log(log) => index(time, log.precision).saturating_sub(log.skipped),
        };
        // The minimum is taken before the cast: the number of a bucket beyond the last may exceed
        // `usize`.
        bucket.min(self.num_buckets() as u64 - 1) as usize
    }

    /// Returns the shortest time of a bucket, in nanoseconds.
    pub(crate) fn start(&self, bucket: usize) -> u64 {
        match self.0 {
            Scale::Linear(width, _) => width.saturating_mul(bucket as u64),
            Scale::Log(log) => log.start(bucket),
        }
    }
}

/// The configuration of [`LogHistogram::default`].
impl Default for HistogramConfiguration {
    fn default() -> Self {
        Self::log(LogHistogram::default())
    }
}

/// Logarithmic buckets: each power of two has the same number of buckets, so that the width of a
/// bucket is proportional to its durations.
///
/// The first bucket also counts all shorter durations, and the last one all longer ones. In
/// between, the buckets are those of an [H2 histogram](https://h2histogram.org). By default there
/// are 119: four for each power of two, from 96 ns to 68.7 s.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::runtime::LogHistogram;
/// use std::time::Duration;
///
/// # fn main() {
/// let histogram = LogHistogram::builder()
///     .min_value(Duration::from_micros(1))
///     .max_value(Duration::from_secs(1))
///     .max_error(0.1)
///     .build();
/// assert!(histogram.max_value() >= 1_000_000_000);
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogHistogram {
    /// Each power of two has `2^precision` buckets.
    precision: u32,
    /// The number of lower buckets that are merged into the first bucket.
    skipped: u64,
    buckets: usize,
}

impl LogHistogram {
    /// Returns a builder.
    pub fn builder() -> LogHistogramBuilder {
        LogHistogramBuilder::default()
    }

    /// Returns the lower bound of the last bucket, in nanoseconds.
    pub fn max_value(&self) -> u64 {
        self.start(self.buckets - 1)
    }

    fn start(&self, bucket: usize) -> u64 {
        match bucket {
            0 => 0,
            _ => start(self.skipped + bucket as u64, self.precision),
        }
    }
}

impl Default for LogHistogram {
    fn default() -> Self {
        Self::builder().build()
    }
}

/// Builds a [`LogHistogram`].
#[derive(Clone, Copy, Debug)]
pub struct LogHistogramBuilder {
    min_value: Duration,
    max_value: Duration,
    precision: u32,
}

impl Default for LogHistogramBuilder {
    fn default() -> Self {
        Self {
            min_value: Duration::from_nanos(100),
            max_value: Duration::from_secs(60),
            precision: 2,
        }
    }
}

impl LogHistogramBuilder {
    /// Sets the maximum width of a bucket, relative to its durations. Each power of two has 4 to
    /// 1,024 buckets. Default: 0.25.
    ///
    /// # Panics
    ///
    /// Panics if `max_error` is not between 0 and 1.
    #[must_use]
    #[track_caller]
    pub fn max_error(mut self, max_error: f64) -> Self {
        assert!(
            max_error > 0.0 && max_error < 1.0,
            "max_error is a part of the time; give it a number between 0 and 1"
        );
        let precise = |precision: &u32| 0.5_f64.powi(*precision as i32) <= max_error;
        self.precision = (2..MAX_PRECISION).find(precise).unwrap_or(MAX_PRECISION);
        self
    }

    /// Sets the number of buckets for each power of two, as a power of two. With 0, each bucket is
    /// twice as wide as the previous one. Default: 2.
    ///
    /// # Panics
    ///
    /// Panics if `precision` is above 10.
    #[must_use]
    #[track_caller]
    pub fn precision_exact(mut self, precision: u32) -> Self {
        assert!(
            precision <= MAX_PRECISION,
            "a power of two has 2^{MAX_PRECISION} buckets at most; give precision_exact less"
        );
        self.precision = precision;
        self
    }

    /// Sets the highest upper bound of the first bucket. Default: 100 ns.
    #[must_use]
    pub fn min_value(mut self, time: Duration) -> Self {
        self.min_value = time;
        self
    }

    /// Sets the lowest lower bound of the last bucket. Default: 60 seconds.
    ///
    /// # Panics
    ///
    /// Panics if `time` is zero.
    #[must_use]
    #[track_caller]
    pub fn max_value(mut self, time: Duration) -> Self {
        assert!(
            !time.is_zero(),
            "max_value is the longest time; give it more than zero"
        );
        self.max_value = time;
        self
    }

    /// Returns the histogram, if it has at most `max_buckets` buckets.
    ///
    /// # Errors
    ///
    /// Returns an error if it has more.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::runtime::LogHistogram;
    ///
    /// # fn main() {
    /// assert!(LogHistogram::builder().max_buckets(200).is_ok());
    /// assert!(LogHistogram::builder().max_buckets(2).is_err());
    /// # }
    /// ```
    pub fn max_buckets(
        &mut self,
        max_buckets: usize,
    ) -> Result<LogHistogram, InvalidHistogramConfiguration> {
        let histogram = self.build();
        match histogram.buckets <= max_buckets {
            true => Ok(histogram),
            false => Err(InvalidHistogramConfiguration::TooManyBuckets {
                required_bucket_count: histogram.buckets,
            }),
        }
    }

    /// Returns the histogram. If its maximum value is not above its minimum value, it has two
    /// buckets.
    pub fn build(&self) -> LogHistogram {
        let precision = self.precision;
        let max = nanos(self.max_value);
        // The first bucket ends where the bucket of the minimum begins.
        let skipped = index(nanos(self.min_value), precision).max(1) - 1;
        let mut last = index(max, precision);
        if start(last, precision) < max && last < index(u64::MAX, precision) {
            last += 1;
        }
        let last = last.max(skipped + 1);
        LogHistogram {
            precision,
            skipped,
            buckets: usize::try_from(last - skipped + 1).expect("64 times 1024 at most"),
        }
    }
}

impl From<LogHistogramBuilder> for LogHistogram {
    fn from(builder: LogHistogramBuilder) -> Self {
        builder.build()
    }
}

/// The reason why a histogram cannot be built.
#[derive(Debug)]
pub enum InvalidHistogramConfiguration {
    /// It would have more buckets than allowed.
    TooManyBuckets {
        /// The number of buckets that it would have.
        required_bucket_count: usize,
    },
}

impl fmt::Display for InvalidHistogramConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyBuckets {
                required_bucket_count,
            } => write!(
                f,
                "the histogram needs {required_bucket_count} buckets; allow as many, a larger error or a shorter range"
            ),
        }
    }
}

impl Error for InvalidHistogramConfiguration {}

/// Returns the bucket of a time in a histogram whose first buckets are one nanosecond wide, with
/// `2^precision` buckets for each power of two.
#[inline]
fn index(time: u64, precision: u32) -> u64 {
    let shift = time.checked_ilog2().unwrap_or(0).saturating_sub(precision);
    (u64::from(shift) << precision) + (time >> shift)
}

/// Returns the shortest time of such a bucket.
fn start(index: u64, precision: u32) -> u64 {
    let shift = (index >> precision).saturating_sub(1);
    (index - (shift << precision)) << shift
}
