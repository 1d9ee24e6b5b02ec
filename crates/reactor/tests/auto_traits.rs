//! Which threads may hold and share what.
#![cfg(not(raddle_loom))]

use raddle_reactor::{Handle, Interest, Reactor, Ready, ReadyEvent, Registration};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Handle: Send, Sync, Unpin, Clone);
assert_impl_all!(Registration: Send, Sync, Unpin);
assert_not_impl_any!(Registration: Clone);
assert_impl_all!(Interest: Send, Sync, Copy);
assert_impl_all!(Ready: Send, Sync, Copy);
assert_impl_all!(ReadyEvent: Send, Sync);

// One thread at a time waits for events.
assert_impl_all!(Reactor: Send, Unpin);
assert_not_impl_any!(Reactor: Clone);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
