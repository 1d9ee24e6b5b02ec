//! Auto traits: which types can be sent to other threads or shared with them.
#![cfg(not(raddle_loom))]

use raddle_events::{MonitorAction, Observer, PollResult, SpawnedTask, TaskHooks, TaskRef, Turn};
use static_assertions::{assert_impl_all, assert_obj_safe};

assert_obj_safe!(Observer);
assert_impl_all!(dyn Observer: Send, Sync);
assert_impl_all!(SpawnedTask<'static>: Send, Sync, Copy);
assert_impl_all!(TaskHooks: Send, Sync, Clone);
assert_impl_all!(TaskRef<'static>: Copy);
assert_impl_all!(PollResult: Send, Sync, Copy);
assert_impl_all!(MonitorAction: Send, Sync, Copy);
assert_impl_all!(Turn: Send, Sync, Copy);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
