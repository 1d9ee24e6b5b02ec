//! The receiving half.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::Arc;

use super::Shared;
use super::error::{RecvError, TryRecvError};
use super::ring::SlotContent;

/// Receives all values that are sent after the receiver was made.
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The position of the next value to receive.
    next: u64,
    /// The number of values sent when the receiver last checked: those from `next` on are in the
    /// ring, or overwritten.
    known: u64,
    /// Selects the shard in which the receiver waits: receivers are assigned to shards round-robin.
    shard: usize,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        let mut receivers = shared.receivers.lock();
        let shard = *receivers;
        *receivers += 1;
        // Read under the lock: a value is for the receivers that are counted when it is sent, so
        // this receiver gets all values from here on.
        let next = shared.sent.now().count;
        drop(receivers);
        Self {
            shared,
            next,
            known: next,
            shard,
        }
    }

    /// Returns the number of values that were sent and not received yet: more than the channel
    /// keeps, if the receiver lags.
    pub fn len(&self) -> usize {
        (self.shared.sent.now().count - self.next) as usize
    }

    /// Returns whether the receiver has received all values that were sent.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether both receive from the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Returns the number of senders, without the weak ones.
    pub fn sender_strong_count(&self) -> usize {
        self.shared.strong_count()
    }

    /// Returns the number of weak senders.
    pub fn sender_weak_count(&self) -> usize {
        self.shared.weak_count()
    }

    /// Returns whether there is no sender any more. Values may still be left to receive.
    pub fn is_closed(&self) -> bool {
        self.shared.sent.now().closed
    }

    /// Makes another receiver, for values that are sent from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = broadcast::channel(16);
    /// sender.send(1)?;
    /// let mut second = receiver.resubscribe();
    /// sender.send(2)?;
    /// assert_eq!(receiver.recv().await?, 1);
    /// // Starts with what is sent from then on.
    /// assert_eq!(second.recv().await?, 2);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn resubscribe(&self) -> Self {
        Self::new(self.shared.clone())
    }
}

#[cfg(feature = "stream")]
impl<T> Receiver<T> {
    /// Waits until a value is sent after those that the receiver knows of, or until the close. The
    /// future borrows nothing.
    pub(crate) fn wait(&self) -> impl Future<Output = ()> + use<T> {
        let (shared, next, shard) = (self.shared.clone(), self.next, self.shard);
        async move {
            shared.sent.changed(next, shard).await;
        }
    }

    /// Returns the resource that a receiving task waits for.
    pub(crate) fn messages(&self) -> Resource {
        Resource::Messages(self.shared.address())
    }
}

impl<T: Clone> Receiver<T> {
    /// Receives the next value; waits for it if necessary.
    ///
    /// # Errors
    ///
    /// Returns [`RecvError::Closed`] if there is no sender any more and all values are received;
    /// [`RecvError::Lagged`] if the next ones are overwritten.
    ///
    /// # Panics
    ///
    /// Panics if the `clone` of the value does. The value counts as received then.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready has received nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::broadcast::{self, error::RecvError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = broadcast::channel(2);
    /// for number in 0..3 {
    ///     sender.send(number)?;
    /// }
    /// drop(sender);
    /// let mut received = Vec::new();
    /// loop {
    ///     match receiver.recv().await {
    ///         Ok(number) => received.push(number),
    ///         Err(RecvError::Lagged(lost)) => println!("{lost} values are lost"),
    ///         Err(RecvError::Closed) => break,
    ///     }
    /// }
    /// assert_eq!(received, [1, 2]);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Result<T, RecvError>> {
        let messages = Resource::Messages(self.shared.address());
        raddle_leaf::wait::located("broadcast::Receiver::recv", messages, async move {
            raddle_leaf::coop::cooperative(async {
                loop {
                    match self.try_recv() {
                        Ok(value) => return Ok(value),
                        Err(TryRecvError::Closed) => return Err(RecvError::Closed),
                        Err(TryRecvError::Lagged(missed)) => {
                            return Err(RecvError::Lagged(missed));
                        }
                        Err(TryRecvError::Empty) => {}
                    }
                    // Outside the match, so that the future holds no value while it waits, and is
                    // `Sync`.
                    let changed = self.shared.sent.changed(self.next, self.shard);
                    self.known = changed.await.count;
                }
            })
            .await
        })
    }

    /// Receives the next value if there is one.
    ///
    /// # Errors
    ///
    /// Returns [`TryRecvError::Empty`] if there is none yet; otherwise as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`recv`](Self::recv).
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if self.next == self.known {
            let now = self.shared.sent.now();
            if now.count == self.next {
                return Err(match now.closed {
                    true => TryRecvError::Closed,
                    false => TryRecvError::Empty,
                });
            }
            self.known = now.count;
        }
        let position = self.next;
        // The value counts as received even if the clone panics.
        self.next += 1;
        match self.shared.ring.get(position) {
            SlotContent::Value(value) => Ok(value),
            SlotContent::Overwritten(by) => {
                self.known = self.shared.sent.now().count;
                // The sender of the newer value may not have advanced `sent` yet.
                self.next = self.known.max(by + 1) - self.shared.ring.capacity();
                Err(TryRecvError::Lagged(self.next - position))
            }
        }
    }

    /// Like [`recv`](Self::recv), but blocks the thread, which must not be inside an executor.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`recv`](Self::recv).
    ///
    /// # Panics
    ///
    /// Panics if the thread has a poll budget: it is inside a poll then, and must not block;
    /// otherwise as [`recv`](Self::recv).
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        crate::blocking::block_on(self.recv())
    }
}

impl<T> Drop for Receiver<T> {
    /// Drops the values that no other receiver still has to receive. A panic in one drop does not
    /// prevent the others.
    fn drop(&mut self) {
        let (is_last, end) = {
            let mut receivers = self.shared.receivers.lock();
            *receivers -= 1;
            (*receivers == 0, self.shared.sent.now().count)
        };
        let mut panic = None;
        let oldest = end.saturating_sub(self.shared.ring.capacity());
        for position in self.next.max(oldest)..end {
            let value = self.shared.ring.skip(position);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
                panic.get_or_insert(payload);
            }
        }
        if is_last {
            self.shared.deserted.notify_waiters();
        }
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broadcast::Receiver")
    }
}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
