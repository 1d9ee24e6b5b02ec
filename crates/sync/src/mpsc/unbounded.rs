//! The channel without a limit.

use raddle_leaf::wait::Caller;

use super::chan::{Chan, Tx, Unlimited, WeakTx};
use super::ends::{receiver, senders};
use super::error::{SendError, TryRecvError};
use super::list::List;
use super::rx::Rx;

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
    let tx = Tx::counted(chan.clone());
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
}

senders! {
    UnboundedSender, WeakUnboundedSender;

    closed,

    /// Returns the number of senders.
    strong_count,
}

receiver! {
    UnboundedReceiver;

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
    recv,

    recv_many,
    try_recv,
    blocking_recv,

    /// Closes the channel: new messages are refused. Messages that were sent before can still be
    /// received: call [`recv`](Self::recv) until it returns `None`.
    close,
}
