//! Which types are `Send` and `Sync`.

use raddle_reactor::{Handle, Interest, Reactor, Ready, ReadyEvent, Registration};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Handle: Send, Sync, Unpin, Clone);
assert_impl_all!(Registration: Send, Sync, Unpin);
assert_not_impl_any!(Registration: Clone);
assert_impl_all!(Interest: Send, Sync, Copy);
assert_impl_all!(Ready: Send, Sync, Copy);
assert_impl_all!(ReadyEvent: Send, Sync);

// Only one thread at a time waits for events.
assert_impl_all!(Reactor: Send, Unpin);
assert_not_impl_any!(Reactor: Clone);

/// The compiler checks the assertions above.
#[test]
fn auto_traits_are_as_asserted_above() {}
