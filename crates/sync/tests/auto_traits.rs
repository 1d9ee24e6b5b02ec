//! Which threads may hold and share what: channels and cells. Locks have theirs in
//! their own tests.
#![cfg(not(raddle_loom))]

use std::cell::Cell;
use std::error::Error;
use std::marker::PhantomPinned;
use std::rc::Rc;

use raddle_sync::futures::{Notified, OwnedNotified};
use raddle_sync::{
    Notify, OnceCell, SetError, SetOnce, SetOnceError, broadcast, mpsc, oneshot, watch,
};
use static_assertions::{assert_impl_all, assert_not_impl_any};

/// May go to another thread, and not be shared.
type Sent = Cell<u8>;
/// May do neither.
type Bound = Rc<u8>;

// A message goes to the thread of the receiver, and is shared by nobody.
assert_impl_all!(mpsc::Sender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::Receiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::WeakSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::Permit<'static, Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::OwnedPermit<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::UnboundedSender<Sent>: Send, Sync, Unpin, Clone);
assert_impl_all!(mpsc::UnboundedReceiver<Sent>: Send, Sync, Unpin);
assert_impl_all!(mpsc::WeakUnboundedSender<Sent>: Send, Sync, Unpin, Clone);
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
assert_not_impl_any!(oneshot::Sender<Bound>: Send, Sync);
assert_not_impl_any!(oneshot::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(broadcast::Sender<Bound>: Send, Sync);
assert_not_impl_any!(broadcast::Receiver<Bound>: Send, Sync);
assert_not_impl_any!(mpsc::Receiver<u8>: Clone);
assert_not_impl_any!(oneshot::Sender<u8>: Clone);

// Whatever the messages are, the ends may be moved.
assert_impl_all!(mpsc::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(oneshot::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(broadcast::Receiver<PhantomPinned>: Unpin);
assert_impl_all!(watch::Receiver<PhantomPinned>: Unpin);

// The value is borrowed by all receivers at once.
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

assert_impl_all!(mpsc::error::SendError<u8>: Send, Sync, Error);
assert_impl_all!(mpsc::error::TryRecvError: Send, Sync, Error);
assert_impl_all!(oneshot::error::RecvError: Send, Sync, Error);
assert_impl_all!(broadcast::error::RecvError: Send, Sync, Error);
assert_impl_all!(watch::error::RecvError: Send, Sync, Error);
assert_impl_all!(SetError<u8>: Send, Sync, Error);
assert_impl_all!(SetOnceError<u8>: Send, Sync, Error);

/// RUSTSEC-2020-0060, RUSTSEC-2020-0062, RUSTSEC-2025-0023: the assertions above
/// are made by the compiler.
#[test]
fn compiled() {}
