//! Which threads may own and share the ends of a queue.

use std::cell::Cell;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::rc::Rc;
use std::sync::Arc;

use raddle_primitives::sync::MutexGuard;
use raddle_queue::{Batch, Injection, Owner, Pointer, Slot, Stealer, Stolen};
use static_assertions::{assert_impl_all, assert_not_impl_any};

type Shared = Box<u32>;
/// May move to another thread, but two threads may not share it.
type Sent = Box<Cell<u32>>;
/// Stays on its thread.
type Local = NonNull<u32>;
type LocalBox = Box<Rc<u32>>;
type LocalArc = Arc<Cell<u32>>;

// One thread at a time pushes and pops, whatever the items allow.
assert_impl_all!(Owner<Shared>: Send);
assert_impl_all!(Owner<Sent>: Send);
assert_impl_all!(Owner<&'static u32>: Send);
assert_impl_all!(Owner<Cell<u32>>: Send);
assert_impl_all!(Owner<(u64, String)>: Send);
assert_not_impl_any!(Owner<u32>: Sync, Clone);
assert_not_impl_any!(Owner<Shared>: Sync, Clone);
assert_not_impl_any!(Owner<Sent>: Sync);
assert_not_impl_any!(Owner<&'static u32>: Sync);

// Each item belongs to one thread at a time, so `Send` items suffice to share these.
assert_impl_all!(Stealer<Shared>: Send, Sync, Clone);
assert_impl_all!(Stealer<Sent>: Send, Sync);
assert_impl_all!(Stealer<Cell<u32>>: Send, Sync);
assert_impl_all!(Slot<Shared>: Send, Sync);
assert_impl_all!(Slot<Sent>: Send, Sync);
assert_impl_all!(Injection<Box<u32>>: Send, Sync);
assert_impl_all!(Injection<Box<Cell<u32>>>: Send, Sync);
assert_impl_all!(Batch<Box<Cell<u32>>>: Send);
assert_impl_all!(Stolen<Sent>: Send);

// An item that must stay on its thread keeps the queue there.
assert_not_impl_any!(Owner<Local>: Send, Sync);
assert_not_impl_any!(Owner<LocalBox>: Send, Sync);
assert_not_impl_any!(Owner<Rc<u32>>: Send, Sync);
assert_not_impl_any!(Owner<MutexGuard<'static, u32>>: Send, Sync);
assert_not_impl_any!(Owner<LocalArc>: Send, Sync);
assert_not_impl_any!(Owner<&'static Cell<u32>>: Send, Sync);
assert_not_impl_any!(Stealer<Local>: Send, Sync);
assert_not_impl_any!(Stealer<LocalBox>: Send, Sync);
assert_not_impl_any!(Stealer<Rc<u32>>: Send, Sync);
assert_not_impl_any!(Stealer<MutexGuard<'static, u32>>: Send, Sync);
assert_not_impl_any!(Stealer<LocalArc>: Send, Sync);
assert_not_impl_any!(Stealer<&'static Cell<u32>>: Send, Sync);
assert_not_impl_any!(Slot<Local>: Send, Sync);
assert_not_impl_any!(Slot<LocalBox>: Send, Sync);
assert_not_impl_any!(Injection<Box<Rc<u32>>>: Send, Sync);
assert_not_impl_any!(Batch<Box<Rc<u32>>>: Send, Sync);
assert_not_impl_any!(Stolen<LocalBox>: Send, Sync);

// A panic leaves no queue half changed.
assert_impl_all!(Owner<Cell<u32>>: UnwindSafe);
assert_impl_all!(Stealer<Cell<u32>>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(Slot<Sent>: UnwindSafe, RefUnwindSafe);

// The types that a slot can hold.
assert_impl_all!(Shared: Pointer);
assert_impl_all!(Arc<u32>: Pointer);
assert_impl_all!(Local: Pointer);
assert_impl_all!(&'static u32: Pointer);
assert_impl_all!(Box<u32>: Pointer);
