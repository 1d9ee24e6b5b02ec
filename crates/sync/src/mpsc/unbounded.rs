//! The channel without a limit.

use std::fmt;
use std::task::{Context, Poll};

use raddle_leaf::wait::Caller;

use super::chan::{Chan, Tx, Unlimited, WeakTx};
use super::error::{SendError, TryRecvError};
use super::list::List;
use super::rx::Rx;
use crate::blocking::block_on;

/// Makes a channel without a limit on the number of messages, so that sending never waits.
///
/// If senders are faster than the receiver, the memory grows without bound: use
/// [`channel`](super::channel) unless something else limits it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpsc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, mut receiver) = mpsc::unbounded_channel();
/// for number in 0..1000 {
///     // Never waits.
///     sender.send(number)?;
/// }
/// assert_eq!(receiver.recv().await, Some(0));
/// # Ok(())
/// # }) }
/// ```
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (list, head) = List::new();
    let chan = Chan::new(list, Unlimited);
    let tx = Tx::first(chan.clone());
    // SAFETY: the head was created with the list.
    let rx = unsafe { Rx::new(chan, head) };
    (UnboundedSender { tx }, UnboundedReceiver { rx })
}

/// Sends to an [`UnboundedReceiver`]; from [`unbounded_channel`].
///
/// When all senders are dropped, the receiver gets `None` after the last message.
pub struct UnboundedSender<T> {
    tx: Tx<T, Unlimited>,
}

/// An [`UnboundedSender`] that does not keep the channel open; from [`UnboundedSender::downgrade`].
pub struct WeakUnboundedSender<T> {
    weak: WeakTx<T, Unlimited>,
}

/// Receives the messages of the [`UnboundedSender`]s, in the order in which they were sent; from
/// [`unbounded_channel`].
///
/// Dropping it closes the channel and drops the messages in it.
pub struct UnboundedReceiver<T> {
    rx: Rx<T, Unlimited>,
}

impl<T> UnboundedSender<T> {
    /// Sends a message, without waiting.
    ///
    /// # Errors
    ///
    /// Returns the message if the receiver has closed the channel or was dropped. After `Ok` the
    /// message may still be dropped unreceived, together with the receiver.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::unbounded_channel();
    /// assert!(sender.send(7).is_ok());
    /// assert_eq!(receiver.recv().await, Some(7));
    ///
    /// drop(receiver);
    /// assert_eq!(sender.send(8).unwrap_err().0, 8);
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.tx.used(Some(Caller::here()));
        self.tx.chan().list.push(message).map_err(SendError)
    }

    /// Waits until the receiver has closed the channel or was dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the future changes nothing.
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        raddle_leaf::wait::located(
            "mpsc::UnboundedSender::closed",
            self.tx.chan().closing(),
            async move {
                self.tx.closed().await;
            },
        )
    }

    /// Returns whether the receiver has closed the channel or was dropped.
    pub fn is_closed(&self) -> bool {
        self.tx.chan().is_closed()
    }

    /// Returns whether both send to the same receiver.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.same_channel(&other.tx)
    }

    /// Returns a sender that does not keep the channel open.
    #[must_use = "a weak sender does nothing by itself"]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender {
            weak: self.tx.downgrade(),
        }
    }

    /// Returns the number of senders.
    pub fn strong_count(&self) -> usize {
        self.tx.chan().strong_count()
    }

    /// Returns the number of weak senders.
    pub fn weak_count(&self) -> usize {
        self.tx.chan().weak_count()
    }
}

impl<T> Clone for UnboundedSender<T> {
    fn clone(&self) -> Self {
        Self {
            tx: self.tx.clone(),
        }
    }
}

impl<T> WeakUnboundedSender<T> {
    /// Returns a sender, or `None` if the last one was dropped.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        self.weak.upgrade().map(|tx| UnboundedSender { tx })
    }

    /// Returns the number of senders.
    pub fn strong_count(&self) -> usize {
        self.weak.chan().strong_count()
    }

    /// Returns the number of weak senders.
    pub fn weak_count(&self) -> usize {
        self.weak.chan().weak_count()
    }
}

impl<T> Clone for WeakUnboundedSender<T> {
    fn clone(&self) -> Self {
        Self {
            weak: self.weak.clone(),
        }
    }
}

impl<T> UnboundedReceiver<T> {
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
    /// let (sender, mut receiver) = mpsc::unbounded_channel();
    /// sender.send(1)?;
    /// drop(sender);
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.recv().await, None);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<T>> {
        self.rx.recv("mpsc::UnboundedReceiver::recv")
    }

    /// Waits for at least one message, receives the messages that have arrived, up to `limit`, and
    /// appends them to `buffer`. Returns their number; 0 once the channel is closed and empty, or
    /// if `limit` is 0.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before it is ready, it has received nothing.
    #[track_caller]
    pub fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> impl Future<Output = usize> {
        self.rx
            .recv_many("mpsc::UnboundedReceiver::recv_many", buffer, limit)
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
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// Like [`recv`](Self::recv), but blocks the thread until it is ready.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
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

    /// Closes the channel: new messages are refused. Messages that were sent before can still be
    /// received: call [`recv`](Self::recv) until it returns `None`.
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

impl<T> fmt::Debug for UnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedSender")
            .field("chan", self.tx.chan())
            .finish()
    }
}

impl<T> fmt::Debug for WeakUnboundedSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakUnboundedSender")
            .field("chan", self.weak.chan())
            .finish()
    }
}

impl<T> fmt::Debug for UnboundedReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UnboundedReceiver")
            .field("chan", self.rx.chan())
            .finish()
    }
}
