//! Auto traits: which types can be sent to other threads or shared with them.

use raddle_counters::{
    BusyClock, Histogram, HistogramConfiguration, HistogramRecorder, LogHistogram,
    LogHistogramBuilder, PollAverage, WorkerCounters, WorkerMetrics,
};
use static_assertions::assert_impl_all;

assert_impl_all!(BusyClock: Send, Sync, Unpin);
assert_impl_all!(PollAverage: Send, Sync, Unpin);
assert_impl_all!(WorkerCounters: Send, Sync, Unpin);
assert_impl_all!(WorkerMetrics: Send, Sync, Clone);
assert_impl_all!(Histogram: Send, Sync, Unpin);
assert_impl_all!(HistogramRecorder: Send, Sync, Unpin);
assert_impl_all!(HistogramConfiguration: Send, Sync, Clone);
assert_impl_all!(LogHistogram: Send, Sync, Copy);
assert_impl_all!(LogHistogramBuilder: Send, Sync, Copy);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
