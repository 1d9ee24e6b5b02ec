//! The sending half.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::chan::Chan;
use super::ends::{End, WeakEnd};
use super::error::{SendError, TrySendError};
use super::state::{Sends, Waiting};
use crate::blocking::block_on;

/// Sends to the [`Receiver`](super::Receiver)s of a channel; from [`channel`](super::channel) and
/// [`unbounded_channel`](super::unbounded_channel).
///
/// When all senders are dropped, the receivers get `None` after the last message.
pub struct Sender<T> {
    pub(super) tx: End<T, Sends>,
}

/// A [`Sender`] that does not keep the channel open; from [`Sender::downgrade`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpmc;
///
/// # fn main() {
/// let (sender, receiver) = mpmc::channel::<u32>(8);
/// let weak = sender.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(sender);
/// assert!(receiver.is_closed() && weak.upgrade().is_none());
/// # }
/// ```
pub struct WeakSender<T> {
    weak: WeakEnd<T, Sends>,
}

pin_project! {
    struct Send<'a, T> {
        chan: &'a Chan<T>,
        // `None` once the future was ready.
        message: Option<T>,
        #[pin]
        node: Waiting,
    }

    impl<T> PinnedDrop for Send<'_, T> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            this.chan.abandon::<Sends>(this.node);
        }
    }
}

impl<T> Future for Send<'_, T> {
    type Output = Result<(), SendError<T>>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.chan.poll_send(cx, this.message, this.node)
    }
}

impl<T> Sender<T> {
    /// Waits for room for a message, and sends it.
    ///
    /// # Errors
    ///
    /// Returns the message if the channel is closed. After `Ok` the message may still be dropped
    /// unreceived, together with the last receiver.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: a future that is dropped before it is ready drops the message without
    /// sending it, and loses its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpmc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = mpmc::channel(8);
    /// sender.send(7).await?;
    /// assert_eq!(receiver.recv().await, Some(7));
    ///
    /// drop(receiver);
    /// assert_eq!(sender.send(8).await.unwrap_err().0, 8);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        self.tx.used(Some(Caller::here()));
        let chan = self.tx.chan();
        let send = Send {
            chan,
            message: Some(message),
            node: Waiting::new(),
        };
        raddle_leaf::wait::located("mpmc::Sender::send", chan.room(), send)
    }

    /// Sends a message if there is room and no sender waits for room.
    ///
    /// # Errors
    ///
    /// Returns [`TrySendError::Full`] with the message if there is no room,
    /// [`TrySendError::Closed`] with the message if the channel is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpmc::{self, error::TrySendError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = mpmc::channel(1);
    /// sender.try_send(1)?;
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Closed(2)));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.tx.used(None);
        self.tx.chan().try_send(message)
    }

    /// Like [`send`](Self::send), but blocks the thread until it is ready.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send`](Self::send).
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        block_on(self.send(message))
    }

    /// Returns a sender that does not keep the channel open.
    #[must_use = "a weak sender does nothing by itself"]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender {
            weak: self.tx.downgrade(),
        }
    }
}

impl<T> WeakSender<T> {
    /// Returns a sender, or `None` if the last one was dropped.
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.weak.upgrade().map(|tx| Sender { tx })
    }
}

super::ends::end!(Sender, tx, WeakSender);
