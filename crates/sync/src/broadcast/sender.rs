//! The sending half.

use std::fmt;

use raddle_leaf::wait::{ChannelEnd, Resource, Role};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, Mutex, Rank};

use super::error::SendError;
use super::ring::Ring;
use super::{Receiver, Shared};
use crate::Notify;
use crate::sequence::Sequence;

/// Sends values to all receivers of a channel. Its clones send to the same channel.
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    end: ChannelEnd,
}

/// A sender that does not keep the channel open. To send, [`upgrade`](Self::upgrade) it to a
/// [`Sender`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::broadcast;
///
/// # fn main() {
/// let (sender, receiver) = broadcast::channel::<u32>(16);
/// let weak = sender.downgrade();
/// assert!(weak.upgrade().is_some());
/// // A weak sender does not keep the channel open.
/// drop(sender);
/// assert!(receiver.is_closed() && weak.upgrade().is_none());
/// # }
/// ```
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
    /// Never used: while it exists, any code may get a sender.
    _end: ChannelEnd,
}

impl<T> Sender<T> {
    /// Makes a channel that keeps `capacity` values, rounded up to a power of two, and has no
    /// receiver yet.
    ///
    /// # Panics
    ///
    /// Panics if `capacity` is 0, or if so many slots would exceed `isize::MAX` bytes.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let sender = broadcast::Sender::new(16);
    /// let mut receiver = sender.subscribe();
    /// sender.send(7)?;
    /// assert_eq!(receiver.recv().await?, 7);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self::counted(Arc::new(Shared {
            ring: Ring::new(capacity),
            senders: AtomicUsize::new(1),
            weak_senders: AtomicUsize::new(0),
            deserted: Notify::new(),
            _line: [0; 2],
            receivers: Mutex::ranked(Rank::leaf("receivers of a broadcast"), 0),
            sent: Sequence::new(),
        }))
    }

    /// Makes a sender that the channel has already counted.
    fn counted(shared: Arc<Shared<T>>) -> Self {
        let end = ChannelEnd::new(shared.address(), Role::Sender);
        Self { shared, end }
    }

    /// Sends a value to all current receivers, and returns their number. Some of them may not
    /// receive it, because they are dropped first or lag.
    ///
    /// If the channel is full, the oldest value is dropped by this call.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no receiver. A later send succeeds if there is a receiver by
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast;
    ///
    /// # fn main() {
    /// let (sender, receiver) = broadcast::channel(16);
    /// // The number of receivers.
    /// assert_eq!(sender.send(7).unwrap(), 1);
    ///
    /// drop(receiver);
    /// // The error contains the value.
    /// assert_eq!(sender.send(8).unwrap_err().0, 8);
    /// # }
    /// ```
    pub fn send(&self, value: T) -> Result<usize, SendError<T>> {
        self.end.used(None);
        let receivers = self.shared.receivers.lock();
        if *receivers == 0 {
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

    /// Makes a receiver for values that are sent from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, _receiver) = broadcast::channel(16);
    /// sender.send(1)?;
    /// let mut late = sender.subscribe();
    /// sender.send(2)?;
    /// assert_eq!(late.recv().await?, 2);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(self.shared.clone())
    }

    /// Makes a sender that does not keep the channel open.
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender::new(self.shared.clone())
    }

    /// Returns the number of values that at least one receiver has not received yet.
    pub fn len(&self) -> usize {
        // The lock prevents further values.
        let _receivers = self.shared.receivers.lock();
        let end = self.shared.sent.now().count;
        let start = end.saturating_sub(self.shared.ring.capacity());
        // A receiver that has received a value has received all values before it, so the values
        // that are still wanted are the last ones.
        let (mut low, mut high) = (start, end);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.shared.ring.is_wanted(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        // The difference is at most the capacity.
        (end - low) as usize
    }

    /// Returns whether every receiver has received every value.
    pub fn is_empty(&self) -> bool {
        let _receivers = self.shared.receivers.lock();
        let end = self.shared.sent.now().count;
        end == 0 || !self.shared.ring.is_wanted(end - 1)
    }

    /// Returns the number of receivers.
    pub fn receiver_count(&self) -> usize {
        *self.shared.receivers.lock()
    }

    /// Waits until there is no receiver.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast;
    ///
    /// # fn main() { raddle::run(async {
    /// let (sender, receiver) = broadcast::channel::<u32>(16);
    /// raddle::spawn(async move { drop(receiver) });
    /// sender.closed().await;
    /// # }) }
    /// ```
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let has_no_receiver = || (self.receiver_count() == 0).then_some(());
        let deserted = self.shared.deserted.wait_for(has_no_receiver);
        raddle_leaf::wait::located("broadcast::Sender::closed", Resource::Unknown, deserted)
    }

    /// Returns whether both send on the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the number of senders, without the weak ones.
    pub fn strong_count(&self) -> usize {
        self.shared.strong_count()
    }

    /// Returns the number of weak senders.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }
}

impl<T> Shared<T> {
    pub(super) fn strong_count(&self) -> usize {
        // ORDERING: a count on which no other data depends.
        self.senders.load(Ordering::Relaxed)
    }

    pub(super) fn weak_count(&self) -> usize {
        // ORDERING: a count on which no other data depends.
        self.weak_senders.load(Ordering::Relaxed)
    }
}

impl<T> WeakSender<T> {
    fn new(shared: Arc<Shared<T>>) -> Self {
        // ORDERING: a count on which no other data depends.
        shared.weak_senders.fetch_add(1, Ordering::Relaxed);
        let end = ChannelEnd::new(shared.address(), Role::Sender);
        Self { shared, _end: end }
    }

    /// Returns a sender, or `None` if the last sender is gone and the channel is closed.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        // ORDERING: Relaxed: a sender that is counted before the last one is dropped keeps the
        // channel open; no other data depends on the count.
        let counted =
            self.shared
                .senders
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                    (count > 0).then(|| count + 1)
                });
        counted.ok().map(|_| Sender::counted(self.shared.clone()))
    }

    /// Returns the number of senders, without the weak ones.
    pub fn strong_count(&self) -> usize {
        self.shared.strong_count()
    }

    /// Returns the number of weak senders.
    pub fn weak_count(&self) -> usize {
        self.shared.weak_count()
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        // ORDERING: no other data depends on the count while it grows; the sender that is cloned
        // keeps it above zero.
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Self::counted(self.shared.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // ORDERING: AcqRel pairs with the drops of the other senders: the last sender closes the
        // channel after all their sends.
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
        // ORDERING: a count on which no other data depends.
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
