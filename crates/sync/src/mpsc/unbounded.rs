//! The channel without a limit.

use std::fmt;
use std::task::{Context, Poll};

use super::chan::{Chan, Tx, Unlimited, WeakTx};
use super::error::{SendError, TryRecvError};
use super::list::List;
use super::rx::Rx;
use crate::blocking::block_on;

/// Makes a channel that takes messages without limit, so that sending never waits.
///
/// A sender that is faster than the receiver fills the memory: use
/// [`channel`](super::channel) unless something else limits it.
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (list, head) = List::new();
    let chan = Chan::new(list, Unlimited);
    let tx = Tx::first(chan.clone());
    // SAFETY: the head came with the list.
    let rx = unsafe { Rx::new(chan, head) };
    (UnboundedSender { tx }, UnboundedReceiver { rx })
}

/// Sends to an [`UnboundedReceiver`]; from [`unbounded_channel`].
///
/// The channel is closed for the receiver when all of them were dropped.
pub struct UnboundedSender<T> {
    tx: Tx<T, Unlimited>,
}

/// An [`UnboundedSender`] that does not keep the channel open; from
/// [`UnboundedSender::downgrade`].
pub struct WeakUnboundedSender<T> {
    weak: WeakTx<T, Unlimited>,
}

/// Receives what [`UnboundedSender`]s send, in the order in which the messages
/// were sent; from [`unbounded_channel`].
///
/// Dropped, it closes the channel and drops what is in it.
pub struct UnboundedReceiver<T> {
    rx: Rx<T, Unlimited>,
}

impl<T> UnboundedSender<T> {
    /// Sends a message, without waiting.
    ///
    /// # Errors
    ///
    /// Gives the message back if the receiver has closed the channel or was
    /// dropped. Without an error it may still be dropped unreceived, with the receiver.
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.tx.chan().list.push(message).map_err(SendError)
    }

    /// Waits until the receiver has closed the channel or was dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it only looks.
    pub async fn closed(&self) {
        self.tx.closed().await;
    }

    /// Whether the receiver has closed the channel or was dropped.
    pub fn is_closed(&self) -> bool {
        self.tx.chan().is_closed()
    }

    /// Whether both send to the same receiver.
    pub fn same_channel(&self, other: &Self) -> bool {
        self.tx.same_channel(&other.tx)
    }

    /// A sender that does not keep the channel open.
    #[must_use = "a weak sender does nothing by itself"]
    pub fn downgrade(&self) -> WeakUnboundedSender<T> {
        WeakUnboundedSender {
            weak: self.tx.downgrade(),
        }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.tx.chan().strong_count()
    }

    /// How many weak senders there are.
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
    /// A sender, unless the last one was dropped.
    pub fn upgrade(&self) -> Option<UnboundedSender<T>> {
        self.weak.upgrade().map(|tx| UnboundedSender { tx })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        self.weak.chan().strong_count()
    }

    /// How many weak senders there are.
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
    /// Cancel safe: dropped before it is ready, it has received nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(not(raddle_loom))]
    /// # futures_lite::future::block_on(async {
    /// use raddle_sync::mpsc;
    ///
    /// let (sender, mut receiver) = mpsc::unbounded_channel();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.recv().await, Some(2));
    /// assert_eq!(receiver.recv().await, None);
    /// # });
    /// ```
    pub async fn recv(&mut self) -> Option<T> {
        self.rx.recv().await
    }

    /// Receives what is there, at least one and up to `limit` messages, and appends them
    /// to `buffer`. Returns how many; 0 once the channel is closed and empty, or if `limit` is 0.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before it is ready, it has received nothing.
    pub async fn recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        self.rx.recv_many(buffer, limit).await
    }

    /// Receives the next message if it was sent already.
    ///
    /// For a message that a sender is just writing it gives up the processor
    /// until it is written.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Empty`] if there is none, [`TryRecvError::Disconnected`] if none will come either.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.rx.try_recv()
    }

    /// As [`recv`](Self::recv), with the thread asleep until it is ready.
    ///
    /// # Panics
    ///
    /// Inside a task, where the thread must not block.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// As [`recv_many`](Self::recv_many), with the thread asleep until it is ready.
    ///
    /// # Panics
    ///
    /// Inside a task, where the thread must not block.
    #[track_caller]
    pub fn blocking_recv_many(&mut self, buffer: &mut Vec<T>, limit: usize) -> usize {
        block_on(self.recv_many(buffer, limit))
    }

    /// Refuses new messages. Those that were sent can still be received, and
    /// should be, until there is `None`.
    pub fn close(&mut self) {
        self.rx.close();
    }

    /// Whether the channel was closed, or all senders were dropped. There may
    /// be messages still.
    pub fn is_closed(&self) -> bool {
        self.rx.chan().is_closed()
    }

    /// Whether there is no message now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages there are now.
    pub fn len(&self) -> usize {
        self.rx.len()
    }

    /// As [`recv`](Self::recv), by poll. Only the last waker is woken.
    #[inline]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        self.rx.poll_recv(cx)
    }

    /// As [`recv_many`](Self::recv_many), by poll. Only the last waker is woken.
    pub fn poll_recv_many(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut Vec<T>,
        limit: usize,
    ) -> Poll<usize> {
        self.rx.poll_recv_many(cx, buffer, limit)
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        self.rx.chan().strong_count()
    }

    /// How many weak senders there are.
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
