//! Receivers as streams: the trait `Stream` of the crate `futures-core`. Only with the feature
//! `stream`.
//!
//! The receivers of [`mpsc`](crate::mpsc) are streams themselves. Those of the channels with many
//! receivers need memory for their waits, and have a wrapper here. `Interval` of `raddle-timer` is a
//! stream too, with its feature `stream`. The wrappers of the crate `tokio-stream` work as well.
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use futures_lite::StreamExt;
//! use raddle::sync::mpsc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! let (sender, receiver) = mpsc::channel(8);
//! raddle::spawn(async move {
//!     for number in 1..=4 {
//!         sender.send(number).await?;
//!     }
//!     Ok::<_, mpsc::error::SendError<u32>>(())
//! });
//! let squares: Vec<u32> = receiver.map(|number| number * number).collect().await;
//! assert_eq!(squares, [1, 4, 9, 16]);
//! # Ok(())
//! # }) }
//! ```

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use raddle_leaf::coop::poll_proceed;
use raddle_leaf::wait::{Resource, note};

use crate::broadcast::error::{RecvError, TryRecvError};
use crate::mpmc::RecvNode;
use crate::{broadcast, mpmc, watch};

/// The wait of a stream, allocated when it waits for the first time.
type Wait = Option<Pin<Box<dyn Future<Output = ()> + Send + Sync>>>;

/// The messages that one receiver of an [`mpmc`] channel gets.
///
/// After a poll that was pending, the stream is in line for a message: poll it until it is ready,
/// or drop it, so that the message goes to another receiver.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use futures_lite::StreamExt;
/// use raddle::sync::mpmc;
/// use raddle::sync::stream::MpmcStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, receiver) = mpmc::channel(8);
/// let mut messages = MpmcStream::new(receiver);
/// sender.send(7).await?;
/// drop(sender);
/// assert_eq!(messages.next().await, Some(7));
/// assert_eq!(messages.next().await, None);
/// # Ok(())
/// # }) }
/// ```
pub struct MpmcStream<T> {
    receiver: mpmc::Receiver<T>,
    node: RecvNode,
}

impl<T> MpmcStream<T> {
    /// Makes a stream of the messages.
    pub fn new(receiver: mpmc::Receiver<T>) -> Self {
        Self {
            receiver,
            node: RecvNode::new(),
        }
    }
}

impl<T> Stream for MpmcStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        this.receiver.poll_next(cx, &mut this.node)
    }
}

impl<T> Drop for MpmcStream<T> {
    fn drop(&mut self) {
        self.receiver.abandon(&mut self.node);
    }
}

/// The values of a [`broadcast`] channel.
///
/// An item is [`RecvError::Lagged`] if values were overwritten before they were received. The
/// stream ends where a receive returns [`RecvError::Closed`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use futures_lite::StreamExt;
/// use raddle::sync::broadcast::{self, error::RecvError};
/// use raddle::sync::stream::BroadcastStream;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, receiver) = broadcast::channel(2);
/// for number in 0..3 {
///     sender.send(number)?;
/// }
/// drop(sender);
/// let values: Vec<_> = BroadcastStream::new(receiver).collect().await;
/// assert_eq!(values, [Err(RecvError::Lagged(1)), Ok(1), Ok(2)]);
/// # Ok(())
/// # }) }
/// ```
pub struct BroadcastStream<T> {
    receiver: broadcast::Receiver<T>,
    wait: Wait,
}

impl<T> BroadcastStream<T> {
    /// Makes a stream of the values that the receiver has not received.
    pub fn new(receiver: broadcast::Receiver<T>) -> Self {
        Self {
            receiver,
            wait: None,
        }
    }
}

impl<T: Clone + Send + 'static> Stream for BroadcastStream<T> {
    type Item = Result<T, RecvError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let coop = ready!(poll_proceed(cx));
        let item = loop {
            ready!(poll_wait(cx, &mut this.wait, "BroadcastStream", || this
                .receiver
                .messages()));
            match this.receiver.try_recv() {
                Ok(value) => break Some(Ok(value)),
                Err(TryRecvError::Lagged(lost)) => break Some(Err(RecvError::Lagged(lost))),
                Err(TryRecvError::Closed) => break None,
                Err(TryRecvError::Empty) => this.wait = Some(Box::pin(this.receiver.wait())),
            }
        };
        coop.made_progress();
        Poll::Ready(item)
    }
}

/// The value of a [`watch`] channel, and then each later one that the stream sees in time.
///
/// The stream ends when there is no sender any more and the last value was seen. A value is cloned
/// while it is locked.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use futures_lite::StreamExt;
/// use raddle::sync::stream::WatchStream;
/// use raddle::sync::watch;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, receiver) = watch::channel(0);
/// let mut values = WatchStream::new(receiver);
/// assert_eq!(values.next().await, Some(0));
/// sender.send(1)?;
/// sender.send(2)?;
/// assert_eq!(values.next().await, Some(2));
/// drop(sender);
/// assert_eq!(values.next().await, None);
/// # Ok(())
/// # }) }
/// ```
pub struct WatchStream<T> {
    receiver: watch::Receiver<T>,
    wait: Wait,
}

impl<T> WatchStream<T> {
    /// Makes a stream of the current value and later ones.
    pub fn new(mut receiver: watch::Receiver<T>) -> Self {
        receiver.mark_changed();
        Self::from_changes(receiver)
    }

    /// Makes a stream of the values that the receiver has not seen.
    pub fn from_changes(receiver: watch::Receiver<T>) -> Self {
        Self {
            receiver,
            wait: None,
        }
    }
}

impl<T: Clone + Send + Sync + 'static> Stream for WatchStream<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        let coop = ready!(poll_proceed(cx));
        let item = loop {
            ready!(poll_wait(cx, &mut this.wait, "WatchStream", || this
                .receiver
                .messages()));
            // Loaded first: the last value comes before the close.
            let is_closed = this.receiver.is_closed();
            match this.receiver.next_value() {
                None if !is_closed => this.wait = Some(Box::pin(this.receiver.wait())),
                value => break value,
            }
        };
        coop.made_progress();
        Poll::Ready(item)
    }
}

/// Polls the wait, if there is one, and ends it when it is ready.
fn poll_wait(
    cx: &mut Context<'_>,
    wait: &mut Wait,
    operation: &'static str,
    resource: impl FnOnce() -> Resource,
) -> Poll<()> {
    if let Some(waiting) = wait {
        if waiting.as_mut().poll(cx).is_pending() {
            note(cx, operation, None, resource());
            return Poll::Pending;
        }
        *wait = None;
    }
    Poll::Ready(())
}

macro_rules! wrapper {
    ($Stream:ident, $channel:ident) => {
        impl<T> From<$channel::Receiver<T>> for $Stream<T> {
            fn from(receiver: $channel::Receiver<T>) -> Self {
                Self::new(receiver)
            }
        }

        impl<T> fmt::Debug for $Stream<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Stream)).finish_non_exhaustive()
            }
        }
    };
}

wrapper!(MpmcStream, mpmc);
wrapper!(BroadcastStream, broadcast);
wrapper!(WatchStream, watch);
