//! A channel that keeps its newest value, for any number of readers.
//!
//! [`Sender`]s replace the value; each [`Receiver`] can read it at any time, and can wait for a
//! value that it has not seen. Values in between are not kept. So use it for configuration,
//! progress or a shutdown signal, not for a stream of messages.
//!
//! # What is seen
//!
//! A new receiver has seen the current value. It marks a newer value as seen with
//! [`borrow_and_update`](Receiver::borrow_and_update), [`changed`](Receiver::changed),
//! [`wait_for`](Receiver::wait_for) or [`mark_unchanged`](Receiver::mark_unchanged);
//! [`borrow`](Receiver::borrow) does not. Values are not compared: each sent value is new.
//!
//! # Closing
//!
//! When the last receiver is gone, [`send`](Sender::send) fails and [`closed`](Sender::closed) is
//! ready, until [`subscribe`](Sender::subscribe) makes a new one. When the last sender is gone,
//! receivers can still read the last value; `changed` fails once it has been seen.
//!
//! # Borrowing
//!
//! A [`Ref`] holds a lock on the value: several readers may hold one at the same time, and a sender
//! blocks its thread until they are dropped. Hold it briefly and not across an `.await`. A thread
//! that sends while it holds one, or borrows again while a sender waits, deadlocks.
//!
//! # Examples
//!
//! ```
//! # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
//! use raddle::sync::watch;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
//! let (sender, mut receiver) = watch::channel("starting");
//! std::thread::spawn(move || sender.send("ready"));
//! receiver.changed().await?;
//! assert_eq!(*receiver.borrow(), "ready");
//! # Ok(())
//! # }) }
//! ```

pub mod error;
mod receiver;
mod sender;

use std::fmt;
use std::ops::Deref;
use std::ptr;

use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{RwLock, RwLockReadGuard};

use crate::Notify;
use crate::sequence::Sequence;

pub use self::receiver::Receiver;
pub use self::sender::Sender;

/// Makes a channel that holds `init`, which its receiver has seen.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::watch;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let (sender, mut receiver) = watch::channel(0);
/// sender.send(1)?;
/// receiver.changed().await?;
/// assert_eq!(*receiver.borrow_and_update(), 1);
/// # Ok(())
/// # }) }
/// ```
pub fn channel<T>(init: T) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::new(init);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The state that senders and receivers share.
///
/// In this order the word of `versions`, which receivers load, is on another cache line than the
/// lock of the value, which each access to the value writes.
#[repr(C)]
struct Shared<T> {
    value: RwLock<T>,
    senders: AtomicUsize,
    receivers: AtomicUsize,
    /// Notified when the last receiver is dropped.
    unwatched: Notify,
    _line: [u64; 10],
    /// Advances with each new value, while the value is locked for writing; closed by the last
    /// sender.
    versions: Sequence,
}

impl<T> Shared<T> {
    /// The address by which a task dump knows the channel.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }

    /// Borrows the value for a receiver that has seen the version `seen`. Returns the current
    /// version too.
    fn borrow(&self, seen: u64) -> (Ref<'_, T>, u64) {
        let value = self.value.read();
        // Read under the lock, so that this is the version of the value.
        let version = self.versions.now().count;
        let has_changed = version != seen;
        (Ref { value, has_changed }, version)
    }

    fn receiver_count(&self) -> usize {
        // ORDERING: Acquire pairs with the drops of the receivers: a thread that finds no receiver
        // sees their writes.
        self.receivers.load(Ordering::Acquire)
    }
}

impl<T: fmt::Debug> fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let now = self.versions.now();
        f.debug_struct("Shared")
            .field("value", &self.value)
            .field("version", &now.count)
            .field("closed", &now.closed)
            .finish_non_exhaustive()
    }
}

/// The borrowed value of a channel, which is locked as long as this exists.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::watch;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let (sender, receiver) = watch::channel(0);
/// {
///     // Holds a lock: do not keep it across an `.await`.
///     let value = receiver.borrow();
///     assert_eq!(*value, 0);
/// }
/// sender.send(1)?;
/// # Ok(())
/// # }
/// ```
pub struct Ref<'a, T> {
    value: RwLockReadGuard<'a, T>,
    has_changed: bool,
}

impl<T> Ref<'_, T> {
    /// Returns whether the value is new to the receiver that borrowed it. False if it was borrowed
    /// from a sender.
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }
}

impl<T> Deref for Ref<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ref")
            .field("value", &**self)
            .field("has_changed", &self.has_changed)
            .finish()
    }
}
