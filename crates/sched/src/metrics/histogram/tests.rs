use std::time::Duration;

use super::{BUCKETS, Histogram, bucket, range};

#[test]
fn the_buckets_tile_the_axis() {
    let mut end = Duration::ZERO;
    for bucket in 0..BUCKETS {
        let range = range(bucket);
        assert_eq!(range.start, end, "bucket {bucket}");
        assert!(range.end > range.start, "bucket {bucket}");
        end = range.end;
    }
    assert_eq!(end, Duration::MAX);
}

#[test]
fn a_time_is_in_its_bucket() {
    for index in 0..BUCKETS {
        let range = range(index);
        let first = range.start.as_nanos() as u64;
        assert_eq!(bucket(first), index);
        let last = u64::try_from(range.end.as_nanos()).map_or(u64::MAX, |end| end - 1);
        assert_eq!(bucket(last), index);
    }
    assert_eq!(bucket(0), 0);
    assert_eq!(bucket(u64::MAX), BUCKETS - 1);
}

#[test]
fn a_bucket_is_at_most_a_quarter_as_wide_as_its_times() {
    for bucket in 1..BUCKETS - 1 {
        let range = range(bucket);
        assert!(
            (range.end - range.start) * 4 <= range.start,
            "bucket {bucket}"
        );
    }
}

#[test]
fn times_are_counted_where_they_belong() {
    let histogram = Histogram::new();
    histogram.record(Duration::ZERO);
    histogram.record(Duration::from_nanos(63));
    histogram.record(Duration::from_nanos(64));
    histogram.record(Duration::MAX);
    assert_eq!(histogram.count(0), 2);
    assert_eq!(histogram.count(1), 1);
    assert_eq!(histogram.count(BUCKETS - 1), 1);
}
