//! The receiving half.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;
use raddle_leaf::wait::Caller;

use super::chan::Chan;
use super::ends::{End, WeakEnd};
use super::error::TryRecvError;
use super::state::{Receives, Waiting};
use crate::blocking::block_on;

/// Receives messages of the [`Sender`](super::Sender)s of a channel; from
/// [`channel`](super::channel) and [`unbounded_channel`](super::unbounded_channel).
///
/// Each message goes to one of the receivers. When all of them are dropped, the channel is closed
/// and its messages are dropped.
pub struct Receiver<T> {
    pub(super) rx: End<T, Receives>,
}

/// A [`Receiver`] that does not keep the channel open; from [`Receiver::downgrade`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpmc;
///
/// # fn main() {
/// let (sender, receiver) = mpmc::channel::<u32>(8);
/// let weak = receiver.downgrade();
/// assert!(weak.upgrade().is_some());
/// drop(receiver);
/// assert!(sender.is_closed() && weak.upgrade().is_none());
/// # }
/// ```
pub struct WeakReceiver<T> {
    weak: WeakEnd<T, Receives>,
}

pin_project! {
    struct Recv<'a, T> {
        chan: &'a Chan<T>,
        #[pin]
        node: Waiting,
    }

    impl<T> PinnedDrop for Recv<'_, T> {
        #[inline]
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            this.chan.abandon::<Receives>(this.node);
        }
    }
}

impl<T> Future for Recv<'_, T> {
    type Output = Option<T>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        this.chan.poll_recv(cx, this.node)
    }
}

impl<T> Receiver<T> {
    /// Receives the next message; `None` once the channel is closed and empty.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: if the future is dropped before it is ready, it has received nothing. A message
    /// for which it was woken goes to another receiver.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpmc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, receiver) = mpmc::channel(8);
    /// sender.send(1).await?;
    /// sender.send(2).await?;
    /// drop(sender);
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.clone().recv().await, Some(2));
    /// assert_eq!(receiver.recv().await, None);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn recv(&self) -> impl Future<Output = Option<T>> {
        self.rx.used(Some(Caller::here()));
        let chan = self.rx.chan();
        let recv = Recv {
            chan,
            node: Waiting::new(),
        };
        raddle_leaf::wait::located("mpmc::Receiver::recv", chan.messages(), recv)
    }

    /// Receives the next message, if there is one for which no waiting receiver was woken.
    ///
    /// # Errors
    ///
    /// Returns [`TryRecvError::Empty`] if there is no such message;
    /// [`TryRecvError::Disconnected`] if there is none and none will come.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpmc::{self, error::TryRecvError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = mpmc::channel(8);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.try_send(7)?;
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
    /// # Ok(())
    /// # }
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.rx.used(None);
        self.rx.chan().try_recv()
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
    /// use raddle::sync::mpmc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = mpmc::channel(8);
    /// let thread = std::thread::spawn(move || receiver.blocking_recv());
    /// sender.blocking_send(7)?;
    /// assert_eq!(thread.join().unwrap(), Some(7));
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn blocking_recv(&self) -> Option<T> {
        block_on(self.recv())
    }

    /// Returns a receiver that does not keep the channel open.
    #[must_use = "a weak receiver does nothing by itself"]
    pub fn downgrade(&self) -> WeakReceiver<T> {
        WeakReceiver {
            weak: self.rx.downgrade(),
        }
    }
}

/// The wait of a stream.
#[cfg(feature = "stream")]
pub(crate) struct RecvNode(Pin<Box<Waiting>>);

#[cfg(feature = "stream")]
impl RecvNode {
    pub(crate) fn new() -> Self {
        Self(Box::pin(Waiting::new()))
    }
}

#[cfg(feature = "stream")]
impl<T> Receiver<T> {
    /// Receives in `node`, which is only used with this channel. Call [`abandon`](Self::abandon)
    /// before the node is dropped.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>, node: &mut RecvNode) -> Poll<Option<T>> {
        self.rx.used(None);
        let chan = self.rx.chan();
        let poll = chan.poll_recv(cx, node.0.as_mut());
        if poll.is_pending() {
            raddle_leaf::wait::note(cx, "MpmcStream", None, chan.messages());
        }
        poll
    }

    /// Ends the wait of a stream.
    pub(crate) fn abandon(&self, node: &mut RecvNode) {
        self.rx.chan().abandon::<Receives>(node.0.as_mut());
    }
}

impl<T> WeakReceiver<T> {
    /// Returns a receiver, or `None` if the last one was dropped.
    pub fn upgrade(&self) -> Option<Receiver<T>> {
        self.weak.upgrade().map(|rx| Receiver { rx })
    }
}

super::ends::end!(Receiver, rx, WeakReceiver);
