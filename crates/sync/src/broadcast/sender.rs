//! The half that sends.

use std::fmt;

use raddle_std::CachePadded;
use raddle_std::sync::atomic::{AtomicUsize, Ordering};
use raddle_std::sync::{Arc, Mutex, Rank};

use super::error::SendError;
use super::ring::Ring;
use super::{Receiver, Shared};
use crate::Notify;
use crate::sequence::Sequence;

/// Sends values to all receivers of a channel. Clones send to the same ones.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

/// A sender that does not keep the channel open, and has to become a [`Sender`]
/// to send.
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// Makes a channel that keeps `capacity` values, rounded up to a power of
    /// two, and has no receiver yet.
    ///
    /// # Panics
    ///
    /// If `capacity` is 0 or more than half of `usize::MAX`.
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                ring: Ring::new(capacity),
                sent: Sequence::new(),
                receivers: CachePadded::new(Mutex::ranked(
                    Rank::leaf("receivers of a broadcast"),
                    0,
                )),
                senders: AtomicUsize::new(1),
                weak_senders: AtomicUsize::new(0),
                deserted: Notify::new(),
            }),
        }
    }

    /// Sends a value to all receivers there are, and returns their number. Not
    /// all of them need get it: some may be dropped before, or lag.
    ///
    /// The value whose place it takes is dropped here, if a receiver has not
    /// received it.
    ///
    /// # Errors
    ///
    /// If there is no receiver. A later send may succeed, if there is one by
    /// then.
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        let receivers = self.shared.receivers.lock();
        if *receivers == 0 {
            drop(receivers);
            return Err(SendError(value));
        }
        let count = *receivers;
        let position = self.shared.sent.now().count;
        let former = self.shared.ring.put(position, count, value);
        let waiting = self.shared.sent.advance();
        drop(receivers);
        self.shared.sent.wake(waiting);
        drop(former);
        Ok(count)
    }

    /// Makes a receiver of the values that are sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// Makes a sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.shared.clone())
    }

    /// How many values there are that some receiver has yet to receive.
    pub fn len(&self) -> usize {
        // Nothing is sent meanwhile.
        let _receivers = self.shared.receivers.lock();
        let end = self.shared.sent.now().count;
        let start = end.saturating_sub(self.shared.ring.capacity());
        // Whoever has received a value has received all before it: those that
        // are wanted are the last ones.
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.shared.ring.is_wanted(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        // At most the capacity.
        (end - low) as usize
    }

    /// Whether every receiver has received every value.
    pub fn is_empty(&self) -> bool {
        let _receivers = self.shared.receivers.lock();
        let end = self.shared.sent.now().count;
        end == 0 || !self.shared.ring.is_wanted(end - 1)
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        *self.shared.receivers.lock()
    }

    /// Waits until there is no receiver.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing.
    pub async fn closed(&self) {
        raddle_coop::cooperative(async {
            loop {
                // Before the look: a drop that comes between the two counts.
                let deserted = self.shared.deserted.notified();
                if self.receiver_count() == 0 {
                    return;
                }
                deserted.await;
            }
        })
        .await;
    }

    /// Whether both send on the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// How many senders there are, weak ones not counted.
    pub fn strong_count(&self) -> usize {
        self.shared.strong_count()
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }
}

impl<T> Shared<T> {
    pub(super) fn strong_count(&self) -> usize {
        // ORDERING: a tally.
        self.senders.load(Ordering::Relaxed)
    }

    pub(super) fn weak_count(&self) -> usize {
        // ORDERING: a tally.
        self.weak_senders.load(Ordering::Relaxed)
    }
}

impl<T> WeakSender<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        // ORDERING: a tally.
        shared.weak_senders.fetch_add(1, Ordering::Relaxed);
        Self { shared }
    }

    /// Makes a sender, unless the channel is closed because there is none.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        // ORDERING: Relaxed: who is counted before the last one goes keeps the
        // channel open; nothing else follows from the number.
        let counted =
            self.shared
                .senders
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                    (count > 0).then(|| count + 1)
                });
        counted.ok().map(|_| Sender {
            shared: self.shared.clone(),
        })
    }

    /// How many senders there are, weak ones not counted.
    pub fn strong_count(&self) -> usize {
        self.shared.strong_count()
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        // ORDERING: nothing follows from the number while it grows; the sender
        // that is cloned keeps it from falling to zero.
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // ORDERING: AcqRel pairs with the drops of the other senders: the last
        // closes the channel after what each of them sent.
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waiting = self.shared.sent.close();
            self.shared.sent.wake(waiting);
        }
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        // ORDERING: a tally.
        self.shared.weak_senders.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Sender")
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::WeakSender")
    }
}
