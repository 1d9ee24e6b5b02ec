use std::time::Duration;

use super::{
    Histogram, HistogramConfiguration, HistogramRecorder, InvalidHistogramConfiguration,
    LogHistogram, nanos,
};

fn configurations() -> Vec<HistogramConfiguration> {
    let times = [0, 1, 2, 63, 64, 65, 1_000, 1 << 40, u64::MAX].map(Duration::from_nanos);
    let mut configurations = vec![
        HistogramConfiguration::default(),
        HistogramConfiguration::linear(Duration::from_micros(100), 10),
        HistogramConfiguration::linear(Duration::from_nanos(1), 1),
        HistogramConfiguration::linear(Duration::MAX, 2),
    ];
    for min in times {
        for max in &times[1..] {
            for precision in [0, 1, 2, 10] {
                let builder = LogHistogram::builder().min_value(min).max_value(*max);
                configurations.push(HistogramConfiguration::log(
                    builder.precision_exact(precision),
                ));
            }
        }
    }
    configurations
}

#[test]
fn buckets_cover_all_durations_without_gap_or_overlap() {
    for configuration in configurations() {
        let histogram = Histogram::new(&configuration);
        let mut end = Duration::ZERO;
        for bucket in 0..histogram.num_buckets() {
            let range = histogram.range(bucket);
            assert_eq!(range.start, end, "bucket {bucket} of {configuration:?}");
            // The last nanosecond of a u64 is after 584 years; buckets beyond it are empty.
            assert!(
                range.end > range.start || nanos(range.start) == u64::MAX,
                "bucket {bucket} of {configuration:?}"
            );
            end = range.end;
        }
        assert_eq!(nanos(end), u64::MAX);
    }
}

#[test]
fn each_duration_is_counted_in_the_bucket_whose_range_has_it() {
    for configuration in configurations() {
        let histogram = Histogram::new(&configuration);
        for bucket in 0..histogram.num_buckets() {
            let range = histogram.range(bucket);
            if range.is_empty() {
                continue;
            }
            assert_eq!(
                configuration.bucket(nanos(range.start)),
                bucket,
                "{configuration:?}"
            );
            assert_eq!(
                configuration.bucket(nanos(range.end) - 1),
                bucket,
                "{configuration:?}"
            );
        }
        let last = histogram.num_buckets() - 1;
        assert_eq!(configuration.bucket(0), 0);
        assert_eq!(configuration.bucket(u64::MAX), last);
    }
}

#[test]
fn a_bucket_has_the_configured_precision() {
    for (precision, parts_per_power) in [(0, 1), (2, 4), (10, 1024)] {
        let builder = LogHistogram::builder().precision_exact(precision);
        let histogram = Histogram::new(&HistogramConfiguration::log(builder));
        for bucket in 1..histogram.num_buckets() - 1 {
            let range = histogram.range(bucket);
            let width = nanos(range.end) - nanos(range.start);
            assert!(
                width * parts_per_power <= nanos(range.start).max(parts_per_power),
                "{range:?}"
            );
        }
    }
}

#[test]
fn the_first_and_last_buckets_end_close_to_the_limits() {
    let builder = LogHistogram::builder();
    let builder = builder.min_value(Duration::from_nanos(100));
    for max in [1_000, 1_024, 1_025, 60_000_000_000] {
        let builder = builder.max_value(Duration::from_nanos(max));
        let histogram = Histogram::new(&HistogramConfiguration::log(builder));
        let first = nanos(histogram.range(0).end);
        assert!((75..=100).contains(&first), "{first}");
        let last = histogram.num_buckets() - 1;
        assert!(nanos(histogram.range(last).start) >= max);
        assert!(nanos(histogram.range(last - 1).start) < max);
        assert_eq!(
            builder.build().max_value(),
            nanos(histogram.range(last).start)
        );
    }
}

#[test]
fn the_first_bucket_ends_close_to_the_minimum() {
    for (min, end) in [(0, 1), (1, 1), (2, 2), (7, 7), (100, 96), (1_000, 896)] {
        let builder = LogHistogram::builder().min_value(Duration::from_nanos(min));
        let histogram = Histogram::new(&HistogramConfiguration::log(builder));
        assert_eq!(nanos(histogram.range(0).end), end, "from {min} ns");
    }
}

#[test]
fn a_maximum_below_the_minimum_makes_two_buckets() {
    let builder = LogHistogram::builder().min_value(Duration::from_millis(1));
    let builder = builder.max_value(Duration::from_micros(1));
    assert_eq!(HistogramConfiguration::log(builder).num_buckets(), 2);
}

#[test]
fn the_maximum_error_determines_the_precision() {
    let buckets = |error: f64| {
        let builder = LogHistogram::builder().max_error(error);
        HistogramConfiguration::log(builder).num_buckets()
    };
    let exact = |precision| {
        let builder = LogHistogram::builder().precision_exact(precision);
        HistogramConfiguration::log(builder).num_buckets()
    };
    assert_eq!(buckets(0.9), exact(2));
    assert_eq!(buckets(0.25), exact(2));
    assert_eq!(buckets(0.2), exact(3));
    assert_eq!(buckets(0.000_001), exact(10));
    assert_eq!(exact(2), 119);
}

#[test]
fn too_many_buckets_are_an_error() {
    let mut builder = LogHistogram::builder();
    assert_eq!(builder.max_buckets(119).unwrap(), LogHistogram::default());
    let error = builder.max_buckets(118).unwrap_err();
    let InvalidHistogramConfiguration::TooManyBuckets {
        required_bucket_count,
    } = error;
    assert_eq!(required_bucket_count, 119);
    assert!(error.to_string().contains("119"));
}

#[test]
#[should_panic = "give it a width"]
fn a_histogram_without_buckets_is_refused() {
    let _ = HistogramConfiguration::linear(Duration::from_nanos(1), 0);
}

#[test]
#[should_panic = "give it a width"]
fn buckets_without_a_width_are_refused() {
    let _ = HistogramConfiguration::linear(Duration::ZERO, 1);
}

#[test]
#[should_panic(expected = "give it 65536 or less")]
fn a_configuration_with_too_many_buckets_is_refused() {
    let _ = HistogramConfiguration::linear(Duration::from_nanos(1), usize::MAX);
}

#[test]
#[should_panic = "between 0 and 1"]
fn an_error_of_one_is_refused() {
    let _ = LogHistogram::builder().max_error(1.0);
}

#[test]
#[should_panic = "give precision_exact less"]
fn a_precision_above_the_limit_is_refused() {
    let _ = LogHistogram::builder().precision_exact(11);
}

#[test]
#[should_panic = "more than zero"]
fn a_maximum_of_zero_is_refused() {
    let _ = LogHistogram::builder().max_value(Duration::ZERO);
}

#[test]
fn each_time_is_counted_in_its_bucket() {
    let recorder = HistogramRecorder::new(&HistogramConfiguration::default());
    recorder.record(Duration::ZERO);
    recorder.record(Duration::from_nanos(95));
    recorder.record(Duration::from_nanos(96));
    recorder.record(Duration::MAX);
    let histogram = recorder.histogram();
    assert_eq!(histogram.count(0), 2);
    assert_eq!(histogram.count(1), 1);
    assert_eq!(histogram.count(histogram.num_buckets() - 1), 1);
}
