//! Which threads may hold and share what.
#![cfg(not(raddle_loom))]

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle::runtime::{Builder, EnterGuard, Handle, Runtime};
use raddle::task::futures::TaskLocalFuture;
use raddle::task::{
    AbortHandle, AccessError, JoinError, JoinHandle, JoinSet, LocalEnterGuard, LocalKey, LocalSet,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

assert_impl_all!(Runtime: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Handle: Send, Sync, Unpin, Clone, UnwindSafe, RefUnwindSafe);
assert_impl_all!(Builder: Send, Sync, Unpin);
assert_not_impl_any!(EnterGuard<'static>: Send);

assert_impl_all!(AbortHandle: Send, Sync, Unpin, Clone);
assert_impl_all!(JoinError: Send, Sync, Unpin);
assert_impl_all!(JoinHandle<Cell<u8>>: Send, Sync, Unpin);
assert_not_impl_any!(JoinHandle<Rc<u8>>: Send, Sync);
assert_impl_all!(JoinSet<Cell<u8>>: Send, Sync, Unpin);
assert_not_impl_any!(JoinSet<Rc<u8>>: Send, Sync);

assert_impl_all!(LocalSet: Unpin);
assert_not_impl_any!(LocalSet: Send, Sync);
assert_not_impl_any!(LocalEnterGuard: Send, Sync);
assert_impl_all!(LocalKey<Rc<u8>>: Send, Sync, Unpin);
assert_impl_all!(AccessError: Send, Sync, Unpin, std::error::Error);
assert_impl_all!(TaskLocalFuture<Cell<u8>, Cell<u8>>: Send);
assert_not_impl_any!(TaskLocalFuture<Rc<u8>, u8>: Send);
assert_not_impl_any!(TaskLocalFuture<u8, Rc<u8>>: Send);

/// RUSTSEC-2020-0060, RUSTSEC-2020-0062, RUSTSEC-2025-0023: the assertions above
/// are made by the compiler.
#[test]
fn compiled() {}
