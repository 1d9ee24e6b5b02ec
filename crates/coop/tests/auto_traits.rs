//! Which threads may hold and share what.
#![cfg(not(raddle_loom))]

use std::cell::Cell;
use std::future::Ready;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle_coop::{Coop, RestoreOnPending, Unconstrained};
use static_assertions::{assert_impl_all, assert_not_impl_any};

/// Goes from thread to thread, but two may not look at it at once.
type Sent = Ready<Cell<u8>>;
/// Stays on its thread.
type Bound = Ready<Rc<u8>>;

// Both are what the future inside is.
assert_impl_all!(Coop<Ready<u8>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Coop<Sent>: Send);
assert_not_impl_any!(Coop<Sent>: Sync, RefUnwindSafe);
assert_not_impl_any!(Coop<Bound>: Send, Sync);
assert_not_impl_any!(Coop<PhantomPinned>: Unpin);
assert_impl_all!(Unconstrained<Ready<u8>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Unconstrained<Sent>: Send);
assert_not_impl_any!(Unconstrained<Sent>: Sync, RefUnwindSafe);
assert_not_impl_any!(Unconstrained<Bound>: Send, Sync);
assert_not_impl_any!(Unconstrained<PhantomPinned>: Unpin);

// It belongs to a poll, which stays on its thread; the unit is given back once.
assert_impl_all!(RestoreOnPending: Unpin, UnwindSafe);
assert_not_impl_any!(RestoreOnPending: Send, Sync, Clone);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
