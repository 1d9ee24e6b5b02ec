//! Which threads may hold a task, and wait for it.

use std::cell::Cell;
use std::error::Error;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle_task::{
    AbortHandle, AbortOnDropHandle, Id, JoinError, JoinHandle, LiveList, Outcome, Runnable,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

// The output goes to the handle's thread.
assert_impl_all!(JoinHandle<u32>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_impl_all!(JoinHandle<Cell<u32>>: Send, Sync, Unpin);
assert_impl_all!(JoinHandle<std::marker::PhantomPinned>: Unpin);
assert_not_impl_any!(JoinHandle<Rc<u32>>: Send, Sync);
assert_not_impl_any!(JoinHandle<u32>: Clone);

assert_impl_all!(AbortOnDropHandle<Cell<u32>>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe);
assert_not_impl_any!(AbortOnDropHandle<Rc<u32>>: Send, Sync);

// It reaches no output.
assert_impl_all!(AbortHandle: Send, Sync, Unpin, Clone, UnwindSafe, RefUnwindSafe);

assert_impl_all!(JoinError: Send, Sync, Error);
assert_impl_all!(Id: Send, Sync, Copy);

// A thread that adopts a shared runnable writes to the cell.
assert_impl_all!(Runnable: Send, Unpin, raddle_primitives::Pointer);
assert_not_impl_any!(Runnable: Sync, Clone);
assert_impl_all!(Outcome: Send);

// One thread at a time has a list.
assert_impl_all!(LiveList: Send);
assert_not_impl_any!(LiveList: Sync);

/// RUSTSEC-2020-0060, RUSTSEC-2020-0062, RUSTSEC-2025-0023: the assertions above are made by the
/// compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
