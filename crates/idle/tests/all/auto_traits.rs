//! Auto traits: which types can be sent to other threads or shared with them.

use raddle_idle::{
    BlockedOn, Duty, IdleSet, IdleYield, Monitor, Parker, Parking, Progress, StealableSet,
};
use static_assertions::assert_impl_all;

assert_impl_all!(IdleSet: Send, Sync, Unpin);
assert_impl_all!(StealableSet: Send, Sync, Unpin);
assert_impl_all!(Parker: Send, Sync, Unpin);
assert_impl_all!(IdleYield: Send, Unpin);
assert_impl_all!(Monitor: Send, Sync, Unpin);
assert_impl_all!(Progress: Send, Sync, Copy);
assert_impl_all!(BlockedOn: Send, Sync, Copy);
assert_impl_all!(Parking: Send, Sync);
assert_impl_all!(Duty: Send, Sync);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
