//! The state that the ends of a channel share, and the count of senders.

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr;

use raddle_leaf::wait::{Caller, ChannelEnd, Resource, Role};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

use super::list::List;
use crate::Notify;
use crate::semaphore::core::Core;
use crate::semaphore::release_word::SeparateWord;

/// The number of messages that a channel takes before senders have to wait.
pub(super) trait Limit {
    /// Refuses new messages, if it is the limit that refuses them rather than the list.
    fn close(&self);

    /// Returns whether [`close`](Self::close) was called.
    fn is_closed(&self) -> bool;

    /// Returns whether no sender and no message has a permit. Called after
    /// [`is_closed`](Self::is_closed).
    fn is_idle(&self) -> bool;

    /// Releases the permits of messages that were received or not sent.
    fn release(&self, permits: usize);
}

/// No limit: closing the channel closes the list instead.
#[derive(Debug)]
pub(super) struct Unlimited;

impl Limit for Unlimited {
    fn close(&self) {}

    fn is_closed(&self) -> bool {
        false
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn release(&self, _permits: usize) {}
}

/// A permit for each message. A sender with a permit can send even after the close, so the list is
/// closed when the last permit has been returned.
///
/// The capacity comes first, because it is read at each send, and the permits end with the word
/// that the receiver writes.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Limited {
    pub(super) capacity: usize,
    pub(super) permits: Core<SeparateWord>,
}

impl Limit for Limited {
    fn close(&self) {
        self.permits.close();
    }

    fn is_closed(&self) -> bool {
        self.permits.is_closed()
    }

    fn is_idle(&self) -> bool {
        self.permits.available() == self.capacity
    }

    #[inline]
    fn release(&self, permits: usize) {
        self.permits.give_back(permits);
    }
}

impl Limited {
    /// Returns the number of free permits.
    pub(super) fn free(&self) -> usize {
        self.permits.available().min(self.capacity)
    }
}

/// A channel: its messages, its limit and its senders.
///
/// In this order the tail of the list, the permits, and the word to which the receiver returns them
/// are on three cache lines.
#[repr(C)]
pub(super) struct Chan<T, L> {
    pub(super) list: List<T>,
    pub(super) limit: L,
    /// Notifies the tasks that wait for the receiver to close.
    pub(super) closed: Notify,
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
}

// The tail and the permits come first in their types. Bytes that are 64 apart share no line.
#[cfg(all(target_pointer_width = "64", not(raddle_loom)))]
const _: () = {
    let tail = std::mem::offset_of!(Chan<(), Limited>, list);
    let permits = std::mem::offset_of!(Chan<(), Limited>, limit.permits);
    assert!(permits - tail >= size_of::<usize>() + 63);
};

/// A panic in the drop of a message or in a waker leaves the channel usable.
impl<T, L> UnwindSafe for Chan<T, L> {}
impl<T, L> RefUnwindSafe for Chan<T, L> {}

impl<T, L: fmt::Debug> fmt::Debug for Chan<T, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chan")
            .field("list", &self.list)
            .field("limit", &self.limit)
            .field("senders", &self.senders)
            .finish_non_exhaustive()
    }
}

impl<T, L: Limit> Chan<T, L> {
    pub(super) fn new(list: List<T>, limit: L) -> Arc<Self> {
        Arc::new(Self {
            list,
            limit,
            closed: Notify::new(),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
        })
    }

    /// Returns the resource that a receiving task waits for.
    pub(super) fn messages(&self) -> Resource {
        Resource::Messages(self.address())
    }

    /// Returns the resource that a sending task waits for.
    pub(super) fn room(&self) -> Resource {
        Resource::Room(self.address())
    }

    /// Returns the resource of a task that waits for the receiver to close.
    pub(super) fn closing(&self) -> Resource {
        Resource::Notification(ptr::from_ref(&self.closed).addr())
    }

    #[inline]
    pub(super) fn address(&self) -> usize {
        ptr::from_ref(&self.list).addr()
    }

    /// Returns whether the receiver has closed the channel, or all senders have gone.
    pub(super) fn is_closed(&self) -> bool {
        self.limit.is_closed() || self.list.tail().is_closed()
    }

    /// Releases permits of messages that were not sent. The last one to be released after the close
    /// ends the list, which wakes the receiver.
    pub(super) fn give_back(&self, permits: usize) {
        self.limit.release(permits);
        self.end_if_idle();
    }

    /// If the channel is closed and no permit is in use, ends the list, so that the receiver knows
    /// that no message follows.
    pub(super) fn end_if_idle(&self) {
        if self.limit.is_closed() && self.limit.is_idle() {
            self.list.end();
        }
    }

    pub(super) fn strong_count(&self) -> usize {
        // ORDERING: the count may change at any time; no other data depends on it.
        self.senders.load(Ordering::Relaxed)
    }

    pub(super) fn weak_count(&self) -> usize {
        // ORDERING: as above.
        self.weak_senders.load(Ordering::Relaxed)
    }
}

/// A sender that is counted.
pub(super) struct Tx<T, L: Limit>(Arc<Chan<T, L>>, ChannelEnd);

impl<T, L: Limit> Tx<T, L> {
    /// Makes a sender that the channel has already counted.
    pub(super) fn counted(chan: Arc<Chan<T, L>>) -> Self {
        let end = ChannelEnd::new(chan.address(), Role::Sender);
        Self(chan, end)
    }

    /// Records that the running task sends.
    #[inline]
    pub(super) fn used(&self, caller: Option<Caller>) {
        self.1.used(caller);
    }

    #[inline]
    pub(super) fn chan(&self) -> &Chan<T, L> {
        &self.0
    }

    pub(super) fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(super) fn downgrade(&self) -> WeakTx<T, L> {
        WeakTx::count(self.0.clone())
    }

    /// Waits until the receiver has closed the channel.
    pub(super) async fn closed(&self) {
        let chan = self.chan();
        // Created before the check, so that a close between the two notifies it.
        let closed = chan.closed.notified();
        if chan.is_closed() {
            raddle_leaf::coop::consume_budget().await;
        } else {
            closed.await;
        }
    }
}

impl<T, L: Limit> Clone for Tx<T, L> {
    fn clone(&self) -> Self {
        // ORDERING: the caller's own sender keeps the count above zero.
        self.0.senders.fetch_add(1, Ordering::Relaxed);
        Self::counted(self.0.clone())
    }
}

impl<T, L: Limit> Drop for Tx<T, L> {
    fn drop(&mut self) {
        // ORDERING: Release and Acquire pair with each other: the positions that other senders
        // reserved come before the end.
        if self.0.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.list.end();
        }
    }
}

/// A sender that does not keep the channel open. Its end is never used: while it exists, any code
/// may get a sender.
pub(super) struct WeakTx<T, L: Limit> {
    chan: Arc<Chan<T, L>>,
    _end: ChannelEnd,
}

impl<T, L: Limit> WeakTx<T, L> {
    fn count(chan: Arc<Chan<T, L>>) -> Self {
        // ORDERING: as in `weak_count`.
        chan.weak_senders.fetch_add(1, Ordering::Relaxed);
        let end = ChannelEnd::new(chan.address(), Role::Sender);
        Self { chan, _end: end }
    }

    pub(super) fn chan(&self) -> &Chan<T, L> {
        &self.chan
    }

    /// Returns a sender, unless the last one was dropped.
    pub(super) fn upgrade(&self) -> Option<Tx<T, L>> {
        let counted = |senders| (senders != 0).then_some(senders + 1);
        // ORDERING: as in `clone`: an existing sender keeps the list open.
        let counted = self
            .chan
            .senders
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted);
        counted.ok().map(|_| Tx::counted(self.chan.clone()))
    }
}

impl<T, L: Limit> Clone for WeakTx<T, L> {
    fn clone(&self) -> Self {
        Self::count(self.chan.clone())
    }
}

impl<T, L: Limit> Drop for WeakTx<T, L> {
    fn drop(&mut self) {
        // ORDERING: as in `weak_count`.
        self.chan.weak_senders.fetch_sub(1, Ordering::Relaxed);
    }
}
