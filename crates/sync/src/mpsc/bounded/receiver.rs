//! The receiving half.

use crate::mpsc::chan::Limited;
use crate::mpsc::ends::receiver;
use crate::mpsc::error::TryRecvError;
use crate::mpsc::rx::Rx;

/// Receives the messages of the [`Sender`](crate::mpsc::Sender)s, in the order in which they were
/// sent; from [`channel`](crate::mpsc::channel).
///
/// Dropping it closes the channel and drops the messages in it.
pub struct Receiver<T> {
    pub(super) rx: Rx<T, Limited>,
}

receiver! {
    Receiver;

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
    recv,

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
    recv_many,

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
    try_recv,

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
    blocking_recv,

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
    close,
}

impl<T> Receiver<T> {
    /// Returns the number of free permits: the number of messages that can be sent without waiting.
    pub fn capacity(&self) -> usize {
        self.rx.chan().limit.free()
    }

    /// Returns the capacity that the channel was created with.
    pub fn max_capacity(&self) -> usize {
        self.rx.chan().limit.capacity
    }
}
