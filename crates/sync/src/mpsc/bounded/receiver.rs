//! The receiving half.

use std::fmt;
use std::task::{Context, Poll};

use crate::blocking::block_on;
use crate::mpsc::chan::Limited;
use crate::mpsc::error::TryRecvError;
use crate::mpsc::rx::Rx;

/// Receives the messages of the [`Sender`](crate::mpsc::Sender)s, in the order in which they were
/// sent; from [`channel`](crate::mpsc::channel).
///
/// Dropping it closes the channel and drops the messages in it.
pub struct Receiver<T> {
    pub(super) rx: Rx<T, Limited>,
}

impl<T> Receiver<T> {
    /// Receives the next message; `None` once the channel is closed and empty.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before it is ready, it has received nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// sender.send(1).await?;
    /// sender.send(2).await?;
    /// drop(sender);
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.recv().await, Some(2));
    /// assert_eq!(receiver.recv().await, None);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        self.rx.recv("mpsc::Receiver::recv")
    }

    /// Waits for at least one message, receives the messages that have arrived, up to `limit`, and
    /// appends them to `buffer`. Returns their number; 0 once the channel is closed and empty, or
    /// if `limit` is 0.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before it is ready, it has received nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// sender.send(1).await?;
    /// sender.send(2).await?;
    /// let mut numbers = Vec::new();
    /// assert_eq!(receiver.recv_many(&mut numbers, 16).await, 2);
    /// assert_eq!(numbers, [1, 2]);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        self.rx
            .recv_many("mpsc::Receiver::recv_many", buffer, limit)
    }

    /// Receives the next message if one has been sent.
    ///
    /// If a sender is just writing the message, the thread yields its processor until the message
    /// is written.
    ///
    /// # Errors
    ///
    /// Returns [`TryRecvError::Empty`] if there is no message; [`TryRecvError::Disconnected`] if
    /// there is none and none will come.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc::{self, error::TryRecvError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.try_send(7)?;
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// Like [`recv`](Self::recv), but blocks the thread until it is ready.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// let thread = std::thread::spawn(move || receiver.blocking_recv());
    /// sender.try_send(7)?;
    /// assert_eq!(thread.join().unwrap(), Some(7));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Like [`recv_many`](Self::recv_many), but blocks the thread until it is ready.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// Closes the channel: new messages are refused, including those of waiting senders. Messages
    /// that were sent before can still be received: call [`recv`](Self::recv) until it returns
    /// `None`, which it does after the last permit was used or dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// sender.send(1).await?;
    /// receiver.close();
    /// assert!(sender.send(2).await.is_err());
    /// // What was sent before is still there.
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.recv().await, None);
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn close(&mut self) {
        self.rx.close();
    }

    /// Returns whether the channel was closed, or all senders were dropped. Messages may still be
    /// left to receive.
    pub fn is_closed(&self) -> bool {
        self.rx.chan().is_closed()
    }

    /// Returns whether there is no message now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of messages in the channel.
    pub fn len(&self) -> usize {
        self.rx.len()
    }

    /// Returns the number of free permits: the number of messages that can be sent without waiting.
    pub fn capacity(&self) -> usize {
        self.rx.chan().limit.free()
    }

    /// Returns the capacity that the channel was created with.
    pub fn max_capacity(&self) -> usize {
        self.rx.chan().limit.capacity
    }

    /// The poll function of [`recv`](Self::recv). Only the waker of the last call is woken.
    #[inline]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx)
    }

    /// The poll function of [`recv_many`](Self::recv_many). Only the waker of the last call is
    /// woken.
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        self.rx.poll_recv_many(cx, buffer, limit)
    }

    /// Returns the number of senders.
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan().strong_count()
    }

    /// Returns the number of weak senders.
    pub fn sender_weak_count(&self) -> usize {
        self.rx.chan().weak_count()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("chan", self.rx.chan())
            .finish()
    }
}
