//! A channel on which every receiver gets every value.
//!
//! A ring keeps each value until all receivers that existed when it was sent have received it, or
//! until a newer value needs its place. [`Sender::send`] never waits: a receiver that lags by more
//! than the ring's capacity loses the oldest values, gets [their number](error::RecvError::Lagged)
//! as an error, and continues with the oldest value that is left.
//!
//! A value is cloned for each receiver but the last, which gets the original. The clone is made
//! under the lock of the value's slot, so two threads never clone it at once, and `T` need not be
//! `Sync`. `T::clone` must not use the channel.
//!
//! # Closing
//!
//! When the last receiver is gone, sending fails, until [`Sender::subscribe`] makes a new one. When
//! the last sender is gone, receivers get the remaining values and then
//! [`RecvError::Closed`](error::RecvError::Closed). A [`WeakSender`] does not count.
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::broadcast::{self, error::RecvError};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! let (sender, mut receiver) = broadcast::channel(2);
//! let mut slow = sender.subscribe();
//! for number in 1..=2 {
//!     sender.send(number)?;
//!     assert_eq!(receiver.recv().await, Ok(number));
//! }
//! sender.send(3)?;
//! assert_eq!(slow.recv().await, Err(RecvError::Lagged(1)));
//! assert_eq!(slow.recv().await, Ok(2));
//! # Ok(())
//! # }) }
//! ```

pub mod error;
mod receiver;
mod ring;
mod sender;

use std::ptr;

use raddle_primitives::sync::Mutex;
use raddle_primitives::sync::atomic::AtomicUsize;

use self::ring::Ring;
use crate::Notify;
use crate::sequence::Sequence;

pub use self::receiver::Receiver;
pub use self::sender::{Sender, WeakSender};

/// Makes a channel that keeps `capacity` values, rounded up to a power of two. The slots are
/// allocated here.
///
/// # Panics
///
/// Panics if `capacity` is 0, or if so many slots would exceed `isize::MAX` bytes.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::broadcast;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, mut first) = broadcast::channel(16);
/// let mut second = sender.subscribe();
/// sender.send(7)?;
/// assert_eq!((first.recv().await?, second.recv().await?), (7, 7));
/// # Ok(())
/// # }) }
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(capacity);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The state that senders and receivers share.
///
/// In this order the lock of `receivers` and the word of `sent`, which senders write, are on other
/// cache lines than the ring's pointer, which receivers read.
#[repr(C)]
struct Shared<T> {
    ring: Ring<T>,
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
    /// Notified when the last receiver is dropped.
    deserted: Notify,
    _line: [u64; 2],
    /// The number of receivers, which is also the number of those that will receive the next value.
    receivers: Mutex<usize>,
    /// The number of values that were sent, which is the position of the next value. It advances
    /// under the lock of `receivers`, once the value is in the ring; the last sender closes it.
    sent: Sequence,
}

impl<T> Shared<T> {
    /// The address by which a task dump knows the channel.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

// Bytes that are 64 apart share no line.
#[cfg(all(target_pointer_width = "64", not(raddle_loom)))]
const _: () = assert!(std::mem::offset_of!(Shared<()>, receivers) >= size_of::<Ring<()>>() + 63);
