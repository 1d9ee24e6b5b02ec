//! Auto traits of channels and cells. The tests of the locks have their own.

use std::cell::Cell;
use std::error::Error;
use std::fmt::Debug;
use std::marker::PhantomPinned;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::rc::Rc;
use std::sync::Arc;

use raddle_sync::futures::{Notified, OwnedNotified};
use raddle_sync::{
    Mutex, MutexGuard, Notify, OnceCell, OwnedMutexGuard, OwnedRwLockMappedWriteGuard,
    OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard, RwLockReadGuard,
    RwLockWriteGuard, SetError, SetOnce, SetOnceError, broadcast, mpmc, mpsc, oneshot, watch,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

/// A type that is `Send` but not `Sync`.
type Sent = Cell<u8>;
/// A type that is neither `Send` nor `Sync`.
type Bound = Rc<u8>;

// A message moves to the thread of the receiver, and is not shared.
assert_impl_all!(mpsc::Sender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::Receiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::WeakSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::Permit<'static, Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::OwnedPermit<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::UnboundedSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::UnboundedReceiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::WeakUnboundedSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpmc::Sender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpmc::Receiver<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpmc::WeakSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpmc::WeakReceiver<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(oneshot::Sender<Sent>: Send, Sync, Unpin);
assert_impl_all!(oneshot::Receiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(broadcast::Sender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(broadcast::Receiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(broadcast::WeakSender<Sent>: Send, Sync, Unpin, Clone);
assert_not_impl_any!(mpsc::Sender<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::Permit<'static, Bound>: Send, Sync);
assert_not_impl_any!(mpsc::OwnedPermit<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::UnboundedSender<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::UnboundedReceiver<Bound>: Send, Sync);
assert_not_impl_any!(mpmc::Sender<Bound>: Send, Sync);
assert_not_impl_any!(mpmc::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(oneshot::Sender<Bound>: Send, Sync);
assert_not_impl_any!(oneshot::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(broadcast::Sender<Bound>: Send, Sync);
assert_not_impl_any!(broadcast::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::Receiver<u8>: Clone);
assert_not_impl_any!(oneshot::Sender<u8>: Clone);

// The ends are `Unpin` for any type of message.
assert_impl_all!(mpsc::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(mpmc::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(oneshot::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(broadcast::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(watch::Receiver<PhantomPinned>: Unpin);

// All receivers may borrow the value at the same time.
assert_impl_all!(watch::Sender<u8>: Send, Sync, Unpin, Clone);
assert_impl_all!(watch::Receiver<u8>: Send, Sync, Unpin, Clone);
assert_not_impl_any!(watch::Sender<Sent>: Send, Sync);
assert_not_impl_any!(watch::Receiver<Sent>: Send, Sync);
assert_not_impl_any!(watch::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(watch::Ref<'static, u8>: Send);

assert_impl_all!(OnceCell<u8>: Send, Sync, Unpin);
assert_impl_all!(OnceCell<Sent>: Send);
assert_not_impl_any!(OnceCell<Sent>: Sync);
assert_not_impl_any!(OnceCell<Bound>: Send, Sync);
assert_impl_all!(SetOnce<u8>: Send, Sync);
assert_impl_all!(SetOnce<Sent>: Send);
assert_not_impl_any!(SetOnce<Sent>: Sync);
assert_not_impl_any!(SetOnce<Bound>: Send, Sync);

assert_impl_all!(Notify: Send, Sync, Unpin);
assert_impl_all!(Notified<'static>: Send, Sync);
assert_impl_all!(OwnedNotified: Send, Sync);

// Both are pinned because they are in the list of waiters, as in Tokio.
assert_not_impl_any!(Notified<'static>: Unpin);
assert_not_impl_any!(OwnedNotified: Unpin);

// The ends are unwind safe for any type of message.
assert_impl_all!(mpsc::Sender<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::Receiver<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::WeakSender<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::Permit<'static, &'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::PermitIterator<'static, &'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::OwnedPermit<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::UnboundedSender<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::UnboundedReceiver<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpsc::WeakUnboundedSender<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpmc::Sender<&'static mut Sent>: UnwindSafe, RefUnwindSafe);
assert_impl_all!(mpmc::Receiver<&'static mut Sent>: UnwindSafe, RefUnwindSafe);

/// A type without any derived trait.
struct Bare;

assert_impl_all!(mpsc::Sender<Bare>: Debug, Clone);
assert_impl_all!(mpsc::Receiver<Bare>: Debug);
assert_impl_all!(mpsc::WeakSender<Bare>: Debug, Clone);
assert_impl_all!(mpsc::Permit<'static, Bare>: Debug);
assert_impl_all!(mpsc::PermitIterator<'static, Bare>: Debug);
assert_impl_all!(mpsc::OwnedPermit<Bare>: Debug);
assert_impl_all!(mpsc::UnboundedSender<Bare>: Debug, Clone);
assert_impl_all!(mpsc::UnboundedReceiver<Bare>: Debug);
assert_impl_all!(mpsc::WeakUnboundedSender<Bare>: Debug, Clone);
assert_impl_all!(mpmc::Sender<Bare>: Debug, Clone);
assert_impl_all!(mpmc::Receiver<Bare>: Debug, Clone);
assert_impl_all!(mpmc::WeakSender<Bare>: Debug, Clone);
assert_impl_all!(mpmc::WeakReceiver<Bare>: Debug, Clone);
assert_impl_all!(broadcast::Sender<Bare>: Debug, Clone);
assert_impl_all!(broadcast::Receiver<Bare>: Debug);
assert_impl_all!(watch::Sender<Bare>: Clone);
assert_impl_all!(watch::Receiver<Bare>: Clone);
assert_impl_all!(OnceCell<Bare>: Default);
assert_impl_all!(SetOnce<Bare>: Default);

// The value does not move with the guard.
assert_impl_all!(OwnedMutexGuard<PhantomPinned>: Unpin);

/// The future holds no value while it waits.
#[test]
fn the_futures_that_receive_are_sync() {
    fn check(_: impl Send + Sync) {}
    let (_sender, mut receiver) = broadcast::channel::<Sent>(1);
    check(receiver.recv());
    let (_sender, mut receiver) = mpsc::channel::<Sent>(1);
    check(receiver.recv());
    let (_sender, receiver) = mpmc::channel::<Sent>(1);
    check(receiver.recv());
    let (_sender, mut receiver) = mpsc::unbounded_channel::<Sent>();
    check(receiver.recv());
}

/// A program may name the type of the closure or of the part, in Tokio's order.
#[test]
fn the_parameters_of_mapping_guards_are_in_order() {
    let lock = Arc::new(RwLock::new([1, 2]));
    drop(RwLockReadGuard::map::<_, [u8]>(
        lock.try_read().unwrap(),
        |value| value,
    ));
    drop(RwLockReadGuard::try_map::<_, [u8]>(lock.try_read().unwrap(), |_| None).unwrap_err());
    let part = RwLockWriteGuard::map::<_, [u8]>(lock.try_write().unwrap(), |value| value);
    drop(RwLockMappedWriteGuard::map::<_, u8>(part, |value| {
        &mut value[0]
    }));
    let guard = lock.try_write().unwrap();
    let guard = RwLockWriteGuard::try_map::<_, [u8]>(guard, |_| None).unwrap_err();
    let guard = RwLockWriteGuard::try_downgrade_map::<_, [u8]>(guard, |_| None).unwrap_err();
    drop(RwLockWriteGuard::downgrade_map::<_, [u8]>(guard, |value| {
        value
    }));
    let owned = || lock.clone().try_write_owned().unwrap();
    let read = lock.clone().try_read_owned().unwrap();
    let read = OwnedRwLockReadGuard::map::<_, [u8]>(read, |value| value);
    drop(OwnedRwLockReadGuard::try_map::<_, u8>(read, |_| None).unwrap_err());
    let part = OwnedRwLockWriteGuard::map::<_, [u8]>(owned(), |value| value);
    let part = OwnedRwLockMappedWriteGuard::map::<_, u8>(part, |value| &mut value[0]);
    drop(OwnedRwLockMappedWriteGuard::try_map::<_, u8>(part, |_| None).unwrap_err());
    let guard = OwnedRwLockWriteGuard::try_map::<_, [u8]>(owned(), |_| None).unwrap_err();
    let guard = OwnedRwLockWriteGuard::try_downgrade_map::<_, [u8]>(guard, |_| None).unwrap_err();
    drop(OwnedRwLockWriteGuard::downgrade_map::<_, [u8]>(
        guard,
        |value| value,
    ));
    let mutex = Arc::new(Mutex::new([1, 2]));
    drop(MutexGuard::map::<[u8], _>(
        mutex.try_lock().unwrap(),
        |value| value,
    ));
    let owned = mutex.clone().try_lock_owned().unwrap();
    drop(OwnedMutexGuard::map::<[u8], _>(owned, |value| value));
}

#[allow(deprecated, reason = "programs that name it are the reason for it")]
mod deprecated {
    use super::{Error, assert_impl_all, mpsc};

    assert_impl_all!(mpsc::error::RecvError: Error, Clone, Send, Sync);
}

assert_impl_all!(mpsc::error::SendError<u8>: Send, Sync, Error);
assert_impl_all!(mpsc::error::TryRecvError: Send, Sync, Error);
assert_impl_all!(oneshot::error::RecvError: Send, Sync, Error);
assert_impl_all!(broadcast::error::RecvError: Send, Sync, Error);
assert_impl_all!(watch::error::RecvError: Send, Sync, Error);
assert_impl_all!(SetError<u8>: Send, Sync, Error);
assert_impl_all!(SetOnceError<u8>: Send, Sync, Error);

/// RUSTSEC-2020-0060, RUSTSEC-2020-0062, RUSTSEC-2025-0023: the assertions above are made by the
/// compiler.
#[test]
fn auto_traits_are_as_asserted_above() {}
