//! The word that sender and receiver share.

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

/// Set when a value is sent, together with `DONE`; never after `CLOSED`; never cleared. From then
/// on the receiver owns the value.
const SENT: usize = 1;

/// Set when the sender has sent or was dropped; never cleared. It ends the receiver's wait.
const DONE: usize = SENT << 1;

/// Set when the sender has left: it does not access the memory any more; never cleared.
const SENDER_LEFT: usize = DONE << 1;

/// Set when the receiver accepts no value any more; never cleared. It ends the sender's wait.
const CLOSED: usize = SENDER_LEFT << 1;

/// Set when the receiver has left: it does not access the memory any more; never cleared.
const RECEIVER_LEFT: usize = CLOSED << 1;

/// Set while a waker of the receiver is registered; never set after `DONE`; cleared by the
/// receiver, and not after `DONE`.
const RECEIVER_WAITS: usize = RECEIVER_LEFT << 1;

/// Set while a waker of the sender is registered; never set after `CLOSED`; cleared by the sender,
/// and not after `CLOSED`.
const SENDER_WAITS: usize = RECEIVER_WAITS << 1;

/// The bits of one of the two waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    registered: usize,
    over: usize,
}

/// The receiver waits for a value, or for the sender to be dropped.
pub(super) const RECEIVER: Wait = Wait {
    registered: RECEIVER_WAITS,
    over: DONE,
};

/// The sender waits for the receiver to close.
pub(super) const SENDER: Wait = Wait {
    registered: SENDER_WAITS,
    over: CLOSED,
};

/// A snapshot of the word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot(usize);

impl Snapshot {
    #[inline]
    pub(super) fn is_sent(self) -> bool {
        self.0 & SENT != 0
    }

    #[inline]
    pub(super) fn is_done(self) -> bool {
        self.0 & DONE != 0
    }

    #[inline]
    pub(super) fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    #[inline]
    pub(super) fn has_sender_left(self) -> bool {
        self.0 & SENDER_LEFT != 0
    }

    /// Returns whether the waiter has a waker registered and the other party has not taken it over.
    #[inline]
    pub(super) fn waits(self, wait: Wait) -> bool {
        self.0 & (wait.registered | wait.over) == wait.registered
    }

    /// Returns whether the wait is over.
    #[inline]
    pub(super) fn is_over(self, wait: Wait) -> bool {
        self.0 & wait.over != 0
    }

    fn has_receiver_left(self) -> bool {
        self.0 & RECEIVER_LEFT != 0
    }
}

/// The duty of a party that has dropped its end.
#[must_use]
#[derive(Debug)]
pub(super) enum Leave {
    /// Nothing: the party has left, and the other one frees the memory.
    Left,
    /// Free the memory: the other party has left.
    Free,
    /// Take the other party's waker, leave, and wake it.
    Wake,
}

/// The duty of a sender that has written its value.
#[must_use]
#[derive(Debug)]
pub(super) enum ToSent {
    /// The receiver owns the value; the sender still has this duty.
    Sent(Leave),
    /// The channel is closed; the sender still owns the value.
    Closed,
}

#[derive(Debug)]
pub(super) struct State(AtomicUsize);

impl State {
    pub(super) fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    #[inline]
    pub(super) fn load(&self) -> Snapshot {
        // ORDERING: Acquire pairs with `transition_to_sent`, so that the value is seen, and with
        // the other party's leave, so that its accesses are over.
        Snapshot(self.0.load(Ordering::Acquire))
    }

    /// Passes the value to the receiver. If the receiver does not wait, the sender also leaves.
    #[inline]
    pub(super) fn transition_to_sent(&self) -> ToSent {
        let mut current = self.load().0;
        while current & CLOSED == 0 {
            let wakes = Snapshot(current).waits(RECEIVER);
            let leave = if wakes { 0 } else { SENDER_LEFT };
            // ORDERING: Release pairs with `load`: the value has been written. Acquire pairs with
            // `register`: the waker has been written. Relaxed on failure: a sender that finds the
            // channel closed still leaves, which loads.
            match self.0.compare_exchange_weak(
                current,
                current | SENT | DONE | leave,
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                Ok(_) if wakes => return ToSent::Sent(Leave::Wake),
                Ok(_) => return ToSent::Sent(Leave::Left),
                Err(actual) => current = actual,
            }
        }
        ToSent::Closed
    }

    /// The sender leaves without having sent.
    pub(super) fn transition_to_done(&self) -> Leave {
        self.end(RECEIVER, SENDER_LEFT, RECEIVER_LEFT)
            .unwrap_or(Leave::Free)
    }

    /// The receiver leaves without having received. `None` if the sender is done: the caller must
    /// first take the value.
    pub(super) fn transition_to_dropped(&self) -> Option<Leave> {
        self.end(SENDER, RECEIVER_LEFT, DONE)
    }

    /// Ends the other party's `wait`. Sets the bit `leave` too, unless a waker is to be taken out
    /// first. Returns `None`, and changes nothing, once one of `stop` is set.
    fn end(&self, wait: Wait, leave: usize, stop: usize) -> Option<Leave> {
        let mut current = self.load().0;
        loop {
            if current & stop != 0 {
                return None;
            }
            let wakes = Snapshot(current).waits(wait);
            let next = current | wait.over | if wakes { 0 } else { leave };
            // ORDERING: Release pairs with `load`: a party that sees that this one has left sees
            // its earlier writes. Acquire pairs with `register`. Relaxed on failure: the caller
            // then loads before it takes the value or frees the memory.
            match self
                .0
                .compare_exchange_weak(current, next, Ordering::AcqRel, Ordering::Relaxed)
            {
                Ok(_) if wakes => return Some(Leave::Wake),
                Ok(_) => return Some(Leave::Left),
                Err(actual) => current = actual,
            }
        }
    }

    /// Closes the channel for the receiver, which stays. Returns whether the caller now owns the
    /// sender's waker.
    pub(super) fn close(&self) -> bool {
        // ORDERING: Release pairs with `load`: a sender that sees the close sees the writes before
        // it. Acquire pairs with `register`: the waker has been written.
        let before = self.0.fetch_or(CLOSED, Ordering::AcqRel);
        Snapshot(before).waits(SENDER)
    }

    /// The sender leaves, after it woke the receiver. Returns whether it has to free the memory.
    #[inline]
    pub(super) fn sender_leaves(&self) -> bool {
        self.leaves(SENDER_LEFT).has_receiver_left()
    }

    /// The receiver leaves. Returns whether it has to free the memory.
    pub(super) fn receiver_leaves(&self) -> bool {
        self.leaves(RECEIVER_LEFT).has_sender_left()
    }

    #[inline]
    fn leaves(&self, party: usize) -> Snapshot {
        // ORDERING: Release pairs with the `load` of the second party, which frees the memory: it
        // sees the accesses of the first.
        Snapshot(self.0.fetch_or(party, Ordering::Release))
    }

    /// Announces that a waker is in the cell. Returns `false` if the wait is over: the waiter still
    /// owns the waker.
    #[inline]
    #[must_use]
    pub(super) fn register(&self, wait: Wait) -> bool {
        self.change(wait, |current| current | wait.registered)
    }

    /// Takes the cell back. Returns `false` if the wait is over: the other party owns the waker.
    #[must_use]
    pub(super) fn unregister(&self, wait: Wait) -> bool {
        self.change(wait, |current| current & !wait.registered)
    }

    #[inline]
    fn change(&self, wait: Wait, change: impl Fn(usize) -> usize) -> bool {
        let mut current = self.load().0;
        while current & wait.over == 0 {
            // ORDERING: Release pairs with the party that ends the wait: the waker has been
            // written. The caller wrote a waker that is taken back. On failure as `load`.
            match self.0.compare_exchange_weak(
                current,
                change(current),
                Ordering::Release,
                Ordering::Acquire,
            ) {
                Ok(_) => return true,
                Err(actual) => current = actual,
            }
        }
        false
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests {
    use super::*;

    #[test]
    fn bits_are_disjoint() {
        let bits = [
            SENT,
            DONE,
            SENDER_LEFT,
            CLOSED,
            RECEIVER_LEFT,
            RECEIVER_WAITS,
            SENDER_WAITS,
        ];
        assert_eq!(bits.iter().fold(0, |all, bit| all | bit), bits.iter().sum());
    }
}
