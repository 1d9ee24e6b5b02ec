//! The sending half.

use std::mem;

use raddle_leaf::wait::{ChannelEnd, Resource, Role};
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};
use raddle_primitives::sync::{Arc, RwLock};

use super::error::SendError;
use super::{Receiver, Ref, Shared};
use crate::Notify;
use crate::sequence::Sequence;

/// Sets the value of a channel. Its clones send to the same channel.
#[derive(Debug)]
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
    end: ChannelEnd,
}

impl<T> Sender<T> {
    /// Makes a channel that holds `init` and has no receiver yet.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let sender = watch::Sender::new(0);
    /// let receiver = sender.subscribe();
    /// sender.send(1)?;
    /// assert_eq!(*receiver.borrow(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(init: T) -> Self {
        Self::counted(Arc::new(Shared {
            value: RwLock::new(init),
            senders: AtomicUsize::new(1),
            receivers: AtomicUsize::new(0),
            unwatched: Notify::new(),
            _line: [0; 10],
            versions: Sequence::new(),
        }))
    }

    /// Makes a sender that the channel has already counted.
    fn counted(shared: Arc<Shared<T>>) -> Self {
        let end = ChannelEnd::new(shared.address(), Role::Sender);
        Self { shared, end }
    }

    /// Replaces the value and wakes the waiting receivers. The former value is dropped after the
    /// channel is unlocked.
    ///
    /// # Errors
    ///
    /// Returns [`SendError`] with the value if there is no receiver; the channel's value stays as
    /// it was. To set a value for [`borrow`](Self::borrow) or for later receivers, use
    /// [`send_replace`](Self::send_replace).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = watch::channel(0);
    /// sender.send(1)?;
    /// assert_eq!(*receiver.borrow(), 1);
    /// drop(receiver);
    /// assert!(sender.send(2).is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.shared.receiver_count() == 0 {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Changes the value in place and wakes the waiting receivers, if there are any.
    ///
    /// # Panics
    ///
    /// Panics if `modify` does. The value stays as `modify` left it, no receiver is notified, and
    /// the channel stays usable.
    ///
    /// The channel is locked while `modify` runs: `modify` must not use the channel.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() {
    /// let (sender, receiver) = watch::channel(0);
    /// sender.send_modify(|value| *value += 1);
    /// assert_eq!(*receiver.borrow(), 1);
    /// # }
    /// ```
    pub fn send_modify<F>(&self, modify: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Like [`send_modify`](Self::send_modify), but notifies the receivers only if `modify` returns
    /// true. Returns what `modify` has returned.
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`send_modify`](Self::send_modify).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = watch::channel(5);
    /// let set = |value: &mut u32, new| std::mem::replace(value, new) != new;
    /// assert!(!sender.send_if_modified(|value| set(value, 5)));
    /// assert!(!receiver.has_changed()?);
    /// assert!(sender.send_if_modified(|value| set(value, 6)));
    /// assert!(receiver.has_changed()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send_if_modified<F>(&self, modify: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        self.end.used(None);
        let waiting = {
            let mut value = self.shared.value.write();
            if !modify(&mut value) {
                return false;
            }
            // Advanced under the lock, so that readers know the version of the value that they
            // read.
            self.shared.versions.advance()
        };
        self.shared.versions.wake(waiting);
        true
    }

    /// Replaces the value, even if there is no receiver, wakes the waiting receivers, and returns
    /// the former value.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() {
    /// let (sender, receiver) = watch::channel(0);
    /// assert_eq!(sender.send_replace(1), 0);
    /// assert_eq!(*receiver.borrow(), 1);
    /// # }
    /// ```
    pub fn send_replace(&self, mut value: T) -> T {
        self.send_modify(|old| mem::swap(old, &mut value));
        value
    }

    /// Borrows the value. See [the module](super#borrowing) on what that locks.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref {
            value: self.shared.value.read(),
            has_changed: false,
        }
    }

    /// Returns whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropping the future loses nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() { raddle::run(async {
    /// let (sender, receiver) = watch::channel(0);
    /// raddle::spawn(async move { drop(receiver) });
    /// sender.closed().await;
    /// # }) }
    /// ```
    #[track_caller]
    pub fn closed(&self) -> impl Future<Output = ()> {
        let is_closed = || self.is_closed().then_some(());
        let unwatched = self.shared.unwatched.wait_for(is_closed);
        raddle_leaf::wait::located("watch::Sender::closed", Resource::Unknown, unwatched)
    }

    /// Makes a receiver that has seen the current value.
    pub fn subscribe(&self) -> Receiver<T> {
        let seen = self.shared.versions.now().count;
        Receiver::new(self.shared.clone(), seen)
    }

    /// Returns the number of receivers.
    pub fn receiver_count(&self) -> usize {
        self.shared.receiver_count()
    }

    /// Returns the number of senders.
    pub fn sender_count(&self) -> usize {
        // ORDERING: a count on which no other data depends.
        self.shared.senders.load(Ordering::Relaxed)
    }

    /// Returns whether both send to the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        // ORDERING: no other data depends on the count while it grows; the sender that is cloned
        // keeps it above zero.
        self.shared.senders.fetch_add(1, Ordering::Relaxed);
        Self::counted(self.shared.clone())
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // ORDERING: AcqRel pairs with the drops of the other senders: the last sender closes the
        // channel after all their sends.
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            let waiting = self.shared.versions.close();
            self.shared.versions.wake(waiting);
        }
    }
}
