//! Auto traits: which types can be sent to other threads or shared with them.

use std::cell::Cell;
use std::future::Ready;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle_leaf::coop::{Coop, RestoreOnPending, Unconstrained};
use static_assertions::{assert_impl_all, assert_not_impl_any};

/// A future that is `Send` but not `Sync`.
type SendNotSync = Ready<Cell<u8>>;
/// A future that is not `Send`.
type NotSend = Ready<Rc<u8>>;

// `Coop` and `Unconstrained` have the auto traits of their future.
assert_impl_all!(Coop<Ready<u8>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Coop<SendNotSync>: Send);
assert_not_impl_any!(Coop<SendNotSync>: Sync, RefUnwindSafe);
assert_not_impl_any!(Coop<NotSend>: Send, Sync);
assert_not_impl_any!(Coop<PhantomPinned>: Unpin);
assert_impl_all!(Unconstrained<Ready<u8>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Unconstrained<SendNotSync>: Send);
assert_not_impl_any!(Unconstrained<SendNotSync>: Sync, RefUnwindSafe);
assert_not_impl_any!(Unconstrained<NotSend>: Send, Sync);
assert_not_impl_any!(Unconstrained<PhantomPinned>: Unpin);

// A unit belongs to a poll on one thread, and is returned once.
assert_impl_all!(RestoreOnPending: Unpin, UnwindSafe);
assert_not_impl_any!(RestoreOnPending: Send, Sync, Clone);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
