//! The count of the ends of a channel.

use std::marker::PhantomData;

use raddle_leaf::wait::{Caller, ChannelEnd, Role};
use raddle_primitives::sync::Arc;
use raddle_primitives::sync::atomic::{AtomicUsize, Ordering};

use super::chan::Chan;
use super::state::{Receives, Sends};

/// The number of ends on one side of a channel.
pub(super) struct Count(AtomicUsize);

impl Count {
    pub(super) fn one() -> Self {
        Self(AtomicUsize::new(1))
    }

    pub(super) fn get(&self) -> usize {
        // ORDERING: the count may change at any time; no other data depends on it.
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self) {
        // ORDERING: the caller's own end keeps the count above zero.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts another end, unless the last one was dropped.
    fn add_unless_zero(&self) -> bool {
        let counted = |ends| (ends != 0).then_some(ends + 1);
        // ORDERING: as in `add`.
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, counted)
            .is_ok()
    }

    /// Returns whether the end was the last one.
    fn remove(&self) -> bool {
        // ORDERING: Release and Acquire pair with each other: what the other ends did comes before
        // the close.
        self.0.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

/// The side of an end.
pub(super) trait EndSide {
    const ROLE: Role;

    fn count<T>(chan: &Chan<T>) -> &Count;

    /// Closes the channel when the last end of this side is dropped.
    fn close<T>(chan: &Chan<T>);
}

impl EndSide for Sends {
    const ROLE: Role = Role::Sender;

    fn count<T>(chan: &Chan<T>) -> &Count {
        &chan.senders
    }

    fn close<T>(chan: &Chan<T>) {
        chan.close();
    }
}

impl EndSide for Receives {
    const ROLE: Role = Role::Receiver;

    fn count<T>(chan: &Chan<T>) -> &Count {
        &chan.receivers
    }

    fn close<T>(chan: &Chan<T>) {
        chan.close_and_drain();
    }
}

/// An end that is counted.
pub(super) struct End<T, S: EndSide> {
    chan: Arc<Chan<T>>,
    end: ChannelEnd,
    side: PhantomData<S>,
}

impl<T, S: EndSide> End<T, S> {
    /// Makes an end that the channel has already counted.
    pub(super) fn counted(chan: Arc<Chan<T>>) -> Self {
        let end = ChannelEnd::new(chan.address(), S::ROLE);
        Self {
            chan,
            end,
            side: PhantomData,
        }
    }

    /// Records that the running task uses the end.
    #[inline]
    pub(super) fn used(&self, caller: Option<Caller>) {
        self.end.used(caller);
    }

    #[inline]
    pub(super) fn chan(&self) -> &Chan<T> {
        &self.chan
    }

    pub(super) fn same_channel(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.chan, &other.chan)
    }

    pub(super) fn downgrade(&self) -> WeakEnd<T, S> {
        WeakEnd::new(self.chan.clone())
    }
}

impl<T, S: EndSide> Clone for End<T, S> {
    fn clone(&self) -> Self {
        S::count(&self.chan).add();
        Self::counted(self.chan.clone())
    }
}

impl<T, S: EndSide> Drop for End<T, S> {
    fn drop(&mut self) {
        if S::count(&self.chan).remove() {
            S::close(&self.chan);
        }
    }
}

/// An end that does not keep the channel open. It is never used: while it exists, any code may get
/// an end.
pub(super) struct WeakEnd<T, S: EndSide> {
    chan: Arc<Chan<T>>,
    _end: ChannelEnd,
    side: PhantomData<S>,
}

impl<T, S: EndSide> WeakEnd<T, S> {
    fn new(chan: Arc<Chan<T>>) -> Self {
        let end = ChannelEnd::new(chan.address(), S::ROLE);
        Self {
            chan,
            _end: end,
            side: PhantomData,
        }
    }

    pub(super) fn chan(&self) -> &Chan<T> {
        &self.chan
    }

    /// Returns an end, unless the last one was dropped.
    pub(super) fn upgrade(&self) -> Option<End<T, S>> {
        S::count(&self.chan)
            .add_unless_zero()
            .then(|| End::counted(self.chan.clone()))
    }
}

impl<T, S: EndSide> Clone for WeakEnd<T, S> {
    fn clone(&self) -> Self {
        Self::new(self.chan.clone())
    }
}

/// Writes the methods and traits that both ends have.
macro_rules! end {
    ($End:ident, $end:ident, $WeakEnd:ident) => {
        impl<T> $End<T> {
            /// Closes the channel: new messages are refused, including those of waiting senders.
            /// Messages that were sent before can still be received. Returns whether the channel
            /// was open.
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
            /// assert!(receiver.close());
            /// assert!(!sender.close(), "it was closed before");
            /// assert!(sender.send(2).await.is_err());
            /// assert_eq!(receiver.recv().await, Some(1));
            /// assert_eq!(receiver.recv().await, None);
            /// # Ok(())
            /// # }) }
            /// ```
            pub fn close(&self) -> bool {
                self.$end.chan().close()
            }

            /// Returns whether the channel is closed. Messages may still be left to receive.
            pub fn is_closed(&self) -> bool {
                self.$end.chan().is_closed()
            }

            /// Returns the number of messages in the channel.
            pub fn len(&self) -> usize {
                self.$end.chan().len()
            }

            /// Returns whether there is no message now.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Returns whether the channel holds as many messages as it can.
            pub fn is_full(&self) -> bool {
                self.capacity().is_some_and(|limit| self.len() >= limit)
            }

            /// Returns the capacity that the channel was created with; `None` for a channel without
            /// a limit.
            pub fn capacity(&self) -> Option<usize> {
                self.$end.chan().capacity()
            }

            /// Returns the number of senders.
            pub fn sender_count(&self) -> usize {
                self.$end.chan().senders.get()
            }

            /// Returns the number of receivers.
            pub fn receiver_count(&self) -> usize {
                self.$end.chan().receivers.get()
            }

            /// Returns whether both belong to the same channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                self.$end.same_channel(&other.$end)
            }
        }

        impl<T> Clone for $End<T> {
            fn clone(&self) -> Self {
                Self {
                    $end: self.$end.clone(),
                }
            }
        }

        impl<T> fmt::Debug for $End<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($End))
                    .field("chan", self.$end.chan())
                    .finish()
            }
        }

        impl<T> Clone for $WeakEnd<T> {
            fn clone(&self) -> Self {
                Self {
                    weak: self.weak.clone(),
                }
            }
        }

        impl<T> fmt::Debug for $WeakEnd<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($WeakEnd))
                    .field("chan", self.weak.chan())
                    .finish()
            }
        }
    };
}

pub(super) use end;
