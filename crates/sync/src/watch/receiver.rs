//! The receiving half.

use raddle_leaf::wait::Resource;
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::Ordering;

use super::error::RecvError;
use super::{Ref, Shared};
use crate::sequence::Now;

/// Reads the value of a channel and waits for new ones. A clone has seen the same values as the
/// original.
#[derive(Debug)]
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The newest version that the receiver has seen.
    seen: u64,
    /// Selects the shard in which the receiver waits: receivers are assigned to shards round-robin.
    shard: usize,
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, seen: u64) -> Self {
        // ORDERING: no other data depends on the count while it grows.
        let shard = shared.receivers.fetch_add(1, Ordering::Relaxed);
        Self {
            shared,
            seen,
            shard,
        }
    }

    /// Borrows the value without marking it as seen. See [the module](super#borrowing) on what that
    /// locks.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(self.seen).0
    }

    /// Borrows the value and marks it as seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut receiver) = watch::channel(0);
    /// sender.send(1)?;
    /// assert_eq!(*receiver.borrow_and_update(), 1);
    /// assert!(!receiver.has_changed()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let (value, version) = self.shared.borrow(self.seen);
        self.seen = version;
        value
    }

    /// Returns whether there is a value that the receiver has not seen.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no sender any more, even if the last value has not been seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = watch::channel(0);
    /// assert!(!receiver.has_changed()?);
    /// sender.send(1)?;
    /// assert!(receiver.has_changed()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        match self.shared.versions.now() {
            Now { closed: true, .. } => Err(RecvError(())),
            Now { count, .. } => Ok(count != self.seen),
        }
    }

    /// Returns whether there is no sender any more.
    pub fn is_closed(&self) -> bool {
        self.shared.versions.now().closed
    }

    /// Marks the current value as not seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (_sender, mut receiver) = watch::channel(0);
    /// receiver.mark_changed();
    /// // Ready at once, with the value as it is.
    /// receiver.changed().await?;
    /// # Ok(())
    /// # }) }
    /// ```
    pub fn mark_changed(&mut self) {
        // The current version is `seen` or a later one, so it differs from `seen - 1`.
        self.seen = self.seen.wrapping_sub(1);
    }

    /// Marks the current value as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.versions.now().count;
    }

    /// Waits until there is a value that the receiver has not seen, and marks it as seen.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no sender any more, and the last value has been seen.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready has marked no value as seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() { raddle::run(async {
    /// let (sender, mut receiver) = watch::channel(0);
    /// raddle::spawn(async move { sender.send(1) });
    /// while receiver.changed().await.is_ok() {
    ///     println!("{}", *receiver.borrow_and_update());
    /// }
    /// # }) }
    /// ```
    #[track_caller]
    pub fn changed(&mut self) -> impl Future<Output = Result<(), RecvError>> {
        raddle_leaf::wait::located(
            "watch::Receiver::changed",
            Resource::Messages(self.shared.address()),
            async move { raddle_leaf::coop::cooperative(self.changed_uncharged()).await },
        )
    }

    async fn changed_uncharged(&mut self) -> Result<(), RecvError> {
        let now = self.shared.versions.changed(self.seen, self.shard).await;
        if now.count == self.seen {
            return Err(RecvError(()));
        }
        self.seen = now.count;
        Ok(())
    }

    /// Calls `f` with the current value and then with each new one, until `f` returns true; then
    /// borrows that value. Every value that `f` was called with is marked as seen.
    ///
    /// The value is locked while `f` runs: `f` must not send.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no sender any more, and `f` does not accept the last value.
    ///
    /// # Panics
    ///
    /// Panics if `f` does. The channel stays usable.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, but values for which `f` has returned false stay marked as seen.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::watch;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = watch::channel(0);
    /// raddle::spawn(async move {
    ///     sender.send(1)?;
    ///     sender.send(7)
    /// });
    /// assert_eq!(*receiver.wait_for(|value| *value > 5).await?, 7);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn wait_for(
        &mut self,
        f: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> {
        raddle_leaf::wait::located(
            "watch::Receiver::wait_for",
            Resource::Messages(self.shared.address()),
            async move { raddle_leaf::coop::cooperative(self.wait_for_uncharged(f)).await },
        )
    }

    async fn wait_for_uncharged(
        &mut self,
        mut f: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        loop {
            // The block ends the borrow, so that no lock is held across the await below.
            {
                let (value, version) = self.shared.borrow(self.seen);
                self.seen = version;
                if f(&value) {
                    return Ok(value);
                }
            }
            let now = self.shared.versions.changed(self.seen, self.shard).await;
            if now.count == self.seen {
                return Err(RecvError(()));
            }
        }
    }

    /// Returns whether both read the same channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }
}

#[cfg(feature = "stream")]
impl<T> Receiver<T> {
    /// Waits until there is a value that the receiver has not seen, or until the close. The future
    /// borrows nothing.
    pub(crate) fn wait(&self) -> impl Future<Output = ()> + use<T> {
        let (shared, seen, shard) = (self.shared.clone(), self.seen, self.shard);
        async move {
            shared.versions.changed(seen, shard).await;
        }
    }

    /// Returns the resource that a receiving task waits for.
    pub(crate) fn messages(&self) -> Resource {
        Resource::Messages(self.shared.address())
    }

    /// Returns a clone of the value, and marks it as seen, if the receiver has not seen it.
    pub(crate) fn next_value(&mut self) -> Option<T>
    where
        T: Clone,
    {
        (self.shared.versions.now().count != self.seen).then(|| self.borrow_and_update().clone())
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.clone(), self.seen)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        // ORDERING: Release pairs with `Shared::receiver_count`.
        if self.shared.receivers.fetch_sub(1, Ordering::Release) == 1 {
            self.shared.unwatched.notify_waiters();
        }
    }
}
