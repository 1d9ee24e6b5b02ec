//! The channel of limited capacity.

mod permit;
mod receiver;
mod sender;
#[cfg(feature = "time")]
mod timeout;
#[cfg(not(feature = "time"))]
mod timeout_off;

pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::Receiver;
pub use sender::{Sender, WeakSender};

use super::chan::{Chan, Limited, Tx};
use super::list::List;
use super::rx::Rx;
use crate::semaphore::Semaphore;
use crate::semaphore::core::Core;

/// Makes a channel that holds up to `buffer` messages. Senders wait while it is full.
///
/// # Panics
///
/// Panics if `buffer` is 0, or more than [`Semaphore::MAX_PERMITS`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpsc;
///
/// # fn main() { raddle::run(async {
/// let (sender, mut receiver) = mpsc::channel(8);
/// let second = sender.clone();
/// raddle::spawn(async move { sender.send(1).await });
/// raddle::spawn(async move { second.send(2).await });
/// let mut sum = 0;
/// while let Some(number) = receiver.recv().await {
///     sum += number;
/// }
/// assert_eq!(sum, 3);
/// # }) }
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    assert!(
        (1..=Semaphore::MAX_PERMITS).contains(&buffer),
        "the capacity of a bounded channel is {buffer}; use 1 to Semaphore::MAX_PERMITS"
    );
    let (list, head) = List::new();
    let limit = Limited {
        permits: Core::with_separate_word(buffer),
        capacity: buffer,
    };
    let chan = Chan::new(list, limit);
    let tx = Tx::counted(chan.clone());
    // SAFETY: the head was created with the list.
    let rx = unsafe { Rx::new(chan, head) };
    (Sender { tx }, Receiver { rx })
}
