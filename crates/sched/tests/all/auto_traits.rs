//! Which types of the crate are `Send`, `Sync`, `Unpin`, `Clone` and `Copy`.

use raddle_sched::{
    Config, CurrentThread, EnterGuard, Handle, Handoff, Histogram, HistogramConfiguration, Id,
    LogHistogram, LogHistogramBuilder, Metrics, MonitorAction, Observer, PollResult, Pool,
    SpawnedTask, TaskHooks, TaskRef, Turn, Worker, WorkerMetrics, YieldNow,
};
use static_assertions::{assert_impl_all, assert_not_impl_any, assert_obj_safe};

assert_impl_all!(Handle: Send, Sync, Unpin, Clone);
assert_impl_all!(Pool: Send, Sync, Unpin);
assert_impl_all!(CurrentThread: Send, Sync, Unpin);
assert_impl_all!(Config: Send, Sync, Clone);
assert_impl_all!(TaskHooks: Send, Sync, Clone);
assert_impl_all!(Metrics: Send, Sync, Clone);
assert_impl_all!(Id: Send, Sync, Copy);
assert_impl_all!(YieldNow: Send, Sync, Unpin);

assert_impl_all!(WorkerMetrics: Send, Sync, Clone);
assert_impl_all!(Histogram: Send, Sync, Unpin);
assert_impl_all!(HistogramConfiguration: Send, Sync, Clone);
assert_impl_all!(LogHistogram: Send, Sync, Copy);
assert_impl_all!(LogHistogramBuilder: Send, Sync, Copy);

assert_obj_safe!(Observer);
assert_impl_all!(dyn Observer: Send, Sync);
assert_impl_all!(SpawnedTask<'static>: Send, Sync, Copy);
assert_impl_all!(TaskRef<'static>: Copy);
assert_impl_all!(PollResult: Send, Sync, Copy);
assert_impl_all!(MonitorAction: Send, Sync, Copy);
assert_impl_all!(Turn: Send, Sync, Copy);

// One thread at a time drives a worker; it may be any thread.
assert_impl_all!(Worker: Send);
assert_not_impl_any!(Worker: Sync, Clone);
assert_impl_all!(Handoff: Send);

// `enter` sets the current scheduler of one thread, and the guard must restore it there.
assert_not_impl_any!(EnterGuard<'static>: Send);

/// The compiler checks the assertions above.
#[test]
fn auto_traits_are_as_asserted_above() {}
