//! A channel from many senders to many receivers. Each message goes to one of the receivers.
//!
//! [`channel`] makes a channel of limited capacity, whose senders wait for room.
//! [`unbounded_channel`] makes a channel without a limit. Both have the same [`Sender`] and
//! [`Receiver`], which can be cloned. Use it to spread work over several tasks; with one receiver,
//! [`mpsc`](crate::mpsc) is faster.
//!
//! Messages are taken out of the channel in the order in which they were sent, and waiting tasks
//! are served in the order in which they began to wait.
//!
//! | future | dropped before it was ready |
//! |---|---|
//! | [`Receiver::recv`] | nothing is received, nothing is lost: another receiver gets the message |
//! | [`Sender::send`] | the message is not sent, and dropped; its turn is lost |
//!
//! # Closing
//!
//! The channel is closed when all senders or all receivers are dropped, or by
//! [`Sender::close`] or [`Receiver::close`]. New sends then fail, also those that wait. Receivers
//! get the remaining messages, and then `None`. When the last receiver is dropped, the remaining
//! messages are dropped too.
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::mpmc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! let (sender, receiver) = mpmc::channel(8);
//! let workers: Vec<_> = (0..3)
//!     .map(|_| {
//!         let receiver = receiver.clone();
//!         raddle::spawn(async move {
//!             let mut sum = 0;
//!             while let Some(number) = receiver.recv().await {
//!                 sum += number;
//!             }
//!             sum
//!         })
//!     })
//!     .collect();
//! for number in 1..=10 {
//!     sender.send(number).await?;
//! }
//! drop(sender);
//!
//! let mut sum = 0;
//! for worker in workers {
//!     sum += worker.await?;
//! }
//! assert_eq!(sum, 55);
//! # Ok(())
//! # }) }
//! ```

mod chan;
mod ends;
mod receiver;
mod sender;
mod state;

#[cfg(all(test, not(raddle_loom)))]
mod tests;

/// The errors of a channel, which are those of [`mpsc`](crate::mpsc).
pub mod error {
    pub use crate::mpsc::error::{SendError, TryRecvError, TrySendError};
}

#[cfg(feature = "stream")]
pub(crate) use receiver::RecvNode;
pub use receiver::{Receiver, WeakReceiver};
pub use sender::{Sender, WeakSender};

use chan::Chan;
use ends::End;

/// Makes a channel that holds up to `capacity` messages. Senders wait while it is full.
///
/// # Panics
///
/// Panics if `capacity` is 0.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpmc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, receiver) = mpmc::channel(1);
/// let other = receiver.clone();
/// sender.send(1).await?;
/// assert!(sender.try_send(2).is_err());
/// assert_eq!(other.recv().await, Some(1));
/// assert!(receiver.try_recv().is_err());
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn channel<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        capacity != 0,
        "the capacity of a bounded channel is 0; use at least 1"
    );
    ends(Some(capacity))
}

/// Makes a channel without a limit on the number of messages, so that sending never waits.
///
/// If senders are faster than the receivers, the memory grows without bound: use [`channel`] unless
/// something else limits it.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpmc;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, receiver) = mpmc::unbounded_channel();
/// for number in 0..1000 {
///     // Without a limit there is always room.
///     sender.try_send(number)?;
/// }
/// assert_eq!(receiver.recv().await, Some(0));
/// # Ok(())
/// # }) }
/// ```
pub fn unbounded_channel<T>() -> (Sender<T>, Receiver<T>) {
    ends(None)
}

fn ends<T>(capacity: Option<usize>) -> (Sender<T>, Receiver<T>) {
    let chan = Chan::new(capacity);
    let (tx, rx) = (End::counted(chan.clone()), End::counted(chan));
    (Sender { tx }, Receiver { rx })
}
