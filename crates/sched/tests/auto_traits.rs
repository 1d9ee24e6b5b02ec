//! Which threads may hold and share what.
#![cfg(not(raddle_loom))]

use raddle_sched::{
    Config, CurrentThread, EnterGuard, Handle, Handoff, Id, Metrics, Pool, TaskHooks, Worker,
    YieldNow,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Handle: Send, Sync, Unpin, Clone);
assert_impl_all!(Pool: Send, Sync, Unpin);
assert_impl_all!(CurrentThread: Send, Sync, Unpin);
assert_impl_all!(Config: Send, Sync, Clone);
assert_impl_all!(TaskHooks: Send, Sync, Clone);
assert_impl_all!(Metrics: Send, Sync, Clone);
assert_impl_all!(Id: Send, Sync, Copy);
assert_impl_all!(YieldNow: Send, Sync, Unpin);

// One thread at a time drives a worker, whichever it is.
assert_impl_all!(Worker: Send);
assert_not_impl_any!(Worker: Sync, Clone);
assert_impl_all!(Handoff: Send);

// What is current is so on a thread.
assert_not_impl_any!(EnterGuard<'static>: Send);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
