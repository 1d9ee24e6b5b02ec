//! Permits to send.

use std::fmt;
use std::iter::FusedIterator;
use std::mem;

use super::sender::Sender;
use crate::mpsc::chan::{Chan, Limited};

/// A permit to send one message; from [`Sender::reserve`] and [`Sender::try_reserve`].
///
/// It stays valid after the receiver has closed the channel. Dropping it releases the permit.
pub struct Permit<'a, T> {
    chan: &'a Chan<T, Limited>,
}

/// An iterator over the reserved [`Permit`]s, one for each message; from [`Sender::reserve_many`]
/// and [`Sender::try_reserve_many`].
///
/// Dropping it releases the unused permits.
pub struct PermitIterator<'a, T> {
    chan: &'a Chan<T, Limited>,
    remaining: usize,
}

/// A permit to send one message, together with the sender; from [`Sender::reserve_owned`] and
/// [`Sender::try_reserve_owned`].
///
/// Dropping it releases the permit.
pub struct OwnedPermit<T> {
    /// `None` once the permit was used or released.
    sender: Option<Sender<T>>,
}

impl<'a, T> Permit<'a, T> {
    /// Makes the guard of a permit that the caller has acquired.
    pub(super) fn new(chan: &'a Chan<T, Limited>) -> Self {
        Self { chan }
    }

    /// Sends a message, without waiting. If the receiver was dropped, the message is dropped.
    #[inline]
    pub fn send(self, message: T) {
        let chan = self.chan;
        mem::forget(self);
        push(chan, message);
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        self.chan.give_back(1);
    }
}

impl<'a, T> PermitIterator<'a, T> {
    /// Makes the guard of `remaining` permits that the caller has acquired.
    pub(super) fn new(chan: &'a Chan<T, Limited>, remaining: usize) -> Self {
        Self { chan, remaining }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Permit<'a, T>> {
        self.remaining = self.remaining.checked_sub(1)?;
        Some(Permit::new(self.chan))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}

impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.remaining != 0 {
            self.chan.give_back(self.remaining);
        }
    }
}

impl<T> OwnedPermit<T> {
    /// Makes the guard of a permit that the caller has acquired.
    pub(super) fn new(sender: Sender<T>) -> Self {
        Self {
            sender: Some(sender),
        }
    }

    /// Sends a message, without waiting, and returns the sender. If the receiver was dropped, the
    /// message is dropped.
    pub fn send(mut self, message: T) -> Sender<T> {
        let sender = self.take();
        push(sender.tx.chan(), message);
        sender
    }

    /// Releases the permit, and returns the sender.
    pub fn release(mut self) -> Sender<T> {
        let sender = self.take();
        sender.tx.chan().give_back(1);
        sender
    }

    /// Returns whether both permits are for the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        other
            .sender
            .as_ref()
            .is_some_and(|other| self.same_channel_as_sender(other))
    }

    /// Returns whether the permit is for the channel of `sender`.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender
            .as_ref()
            .is_some_and(|own| own.same_channel(sender))
    }

    fn take(&mut self) -> Sender<T> {
        self.sender
            .take()
            .expect("a permit has its sender until it is used")
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = self.sender.take() {
            sender.tx.chan().give_back(1);
        }
    }
}

/// Sends with a permit, which belongs to the message from now on.
#[inline]
fn push<T>(chan: &Chan<T, Limited>, message: T) {
    // The list is closed only when no permit is left, so the push is not refused.
    let refused = chan.list.push(message);
    debug_assert!(refused.is_ok(), "the list is open while there is a permit");
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator")
            .field("remaining", &self.remaining)
            .finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
