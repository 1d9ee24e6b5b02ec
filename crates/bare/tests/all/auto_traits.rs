//! Auto traits: an executor, its spawner and its storage stay on the thread that made them; errors
//! and plain values may move to other threads.

use std::cell::Cell;
use std::error::Error;
use std::future::Ready;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;

use raddle_bare::{
    Array, BoxExecutor, BoxFuture, Executor, Park, Slab, SpawnError, Spawner, Storage,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type Future = Ready<()>;
type InArray = Array<u8, Future, 4>;
type InSlab = Slab<u8, Future>;
type Make = fn(u8) -> Future;

assert_not_impl_any!(Spawner<u8>: Send, Sync, Clone);
assert_impl_all!(Spawner<u8>: Unpin);

// Wakers point into the executor, so it is neither `Send` nor `Unpin`, for any type of task.
assert_not_impl_any!(Executor<'static, u8, Future, Make, InArray>: Send, Sync, Unpin, Clone);
assert_not_impl_any!(Executor<'static, u8, Future, Make, InSlab>: Send, Sync, Unpin, Clone);
assert_not_impl_any!(BoxExecutor<'static, 'static>: Send, Sync, Unpin);

// An executor never returns its storage, so code outside it moves a storage only before its use.
assert_impl_all!(InArray: Storage<u8, Future>);
assert_not_impl_any!(InArray: Send, Sync, Clone, Storage<u16, Future>);
assert_impl_all!(InSlab: Storage<u8, Future>, Unpin);
assert_not_impl_any!(InSlab: Send, Sync, Clone, Storage<u16, Future>);

// The futures of a `BoxExecutor` need not be `Send`.
assert_impl_all!(BoxFuture<'static>: Unpin);
assert_not_impl_any!(BoxFuture<'static>: Send, Sync);

assert_impl_all!(SpawnError<u8>: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Error);
assert_impl_all!(SpawnError<Cell<u8>>: Send);
assert_not_impl_any!(SpawnError<Cell<u8>>: Sync);
assert_not_impl_any!(SpawnError<Rc<u8>>: Send, Sync);
assert_impl_all!(Park: Send, Sync, Unpin, UnwindSafe, RefUnwindSafe, Copy);

/// The assertions above are made by the compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
