//! The sending half.

use std::mem;

use raddle_leaf::wait::Caller;

use super::permit::{OwnedPermit, Permit, PermitIterator};
use crate::blocking::block_on;
use crate::mpsc::chan::{Chan, Limited, Tx, WeakTx};
use crate::mpsc::ends::senders;
use crate::mpsc::error::{SendError, TrySendError};
use crate::semaphore::core::Refused;

/// Sends to a [`Receiver`](crate::mpsc::Receiver); from [`channel`](crate::mpsc::channel).
///
/// Senders that wait for room are served in the order in which they began to wait. When all senders
/// are dropped, the receiver gets `None` after the last message.
pub struct Sender<T> {
    pub(super) tx: Tx<T, Limited>,
}

/// A [`Sender`] that does not keep the channel open; from [`Sender::downgrade`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::mpsc;
///
/// # fn main() {
/// let (sender, receiver) = mpsc::channel::<u32>(8);
/// let weak = sender.downgrade();
/// assert!(weak.upgrade().is_some());
/// // A weak sender does not keep the channel open.
/// drop(sender);
/// assert!(receiver.is_closed() && weak.upgrade().is_none());
/// # }
/// ```
pub struct WeakSender<T> {
    weak: WeakTx<T, Limited>,
}

impl<T> Sender<T> {
    /// Waits for room for a message, and sends it.
    ///
    /// # Errors
    ///
    /// Returns the message if the receiver has closed the channel or was dropped. After `Ok` the
    /// message may still be dropped unreceived, together with the receiver.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: a future that is dropped before it is ready drops the message without
    /// sending it, and loses its place in the queue. To keep the message,
    /// [`reserve`](Self::reserve) first.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// sender.send(7).await?;
    /// assert_eq!(receiver.recv().await, Some(7));
    ///
    /// drop(receiver);
    /// let error = sender.send(8).await.unwrap_err();
    /// assert_eq!(error.0, 8);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn send(&self, message: T) -> impl Future<Output = Result<(), SendError<T>>> {
        self.tx.used(Some(Caller::here()));
        raddle_leaf::wait::located("mpsc::Sender::send", self.tx.chan().room(), async move {
            let chan = self.tx.chan();
            match acquire(chan, 1).await {
                Ok(()) => {
                    Permit::new(chan).send(message);
                    Ok(())
                }
                Err(_) => Err(SendError(message)),
            }
        })
    }

    /// Sends a message if there is room and no sender waits for room.
    ///
    /// # Errors
    ///
    /// Returns [`TrySendError::Full`] with the message if there is no room,
    /// [`TrySendError::Closed`] with the message if the receiver has closed the channel or was
    /// dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc::{self, error::TrySendError};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, receiver) = mpsc::channel(1);
    /// sender.try_send(1)?;
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
    /// drop(receiver);
    /// assert_eq!(sender.try_send(2), Err(TrySendError::Closed(2)));
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match self.try_reserve() {
            Ok(permit) => {
                permit.send(message);
                Ok(())
            }
            Err(TrySendError::Full(())) => Err(TrySendError::Full(message)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(message)),
        }
    }

    /// Like [`send`](Self::send), but blocks the thread until it is ready.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`send`](Self::send).
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        block_on(self.send(message))
    }

    /// Waits for room for one message, and reserves it.
    ///
    /// # Errors
    ///
    /// Returns an error if the receiver has closed the channel or was dropped.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before it is ready has reserved nothing. The task
    /// loses its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(1);
    /// let permit = sender.reserve().await?;
    /// assert!(sender.try_send(1).is_err());
    /// // Does not wait.
    /// permit.send(2);
    /// assert_eq!(receiver.recv().await, Some(2));
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn reserve(&self) -> impl Future<Output = Result<Permit<'_, T>, SendError<()>>> {
        self.tx.used(Some(Caller::here()));
        raddle_leaf::wait::located("mpsc::Sender::reserve", self.tx.chan().room(), async move {
            let chan = self.tx.chan();
            acquire(chan, 1).await?;
            Ok(Permit::new(chan))
        })
    }

    /// Waits for room for `n` messages, and reserves it.
    ///
    /// # Errors
    ///
    /// Returns an error if the receiver has closed the channel or was dropped, or if `n` is more
    /// than [`max_capacity`](Self::max_capacity).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`reserve`](Self::reserve).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// for permit in sender.reserve_many(2).await? {
    ///     permit.send("hello");
    /// }
    /// assert_eq!(receiver.recv().await, Some("hello"));
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn reserve_many(
        &self,
        n: usize,
    ) -> impl Future<Output = Result<PermitIterator<'_, T>, SendError<()>>> {
        self.tx.used(Some(Caller::here()));
        raddle_leaf::wait::located(
            "mpsc::Sender::reserve_many",
            self.tx.chan().room(),
            async move {
                let chan = self.tx.chan();
                acquire(chan, n).await?;
                Ok(PermitIterator::new(chan, n))
            },
        )
    }

    /// Like [`reserve`](Self::reserve), but consumes the sender; the permit returns it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`reserve`](Self::reserve).
    ///
    /// # Cancel safety
    ///
    /// The same as for [`reserve`](Self::reserve); the sender is dropped with it.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let (sender, mut receiver) = mpsc::channel(8);
    /// let permit = sender.reserve_owned().await?;
    /// raddle::spawn(async move {
    ///     let sender = permit.send(1);
    ///     sender.send(2).await
    /// });
    /// assert_eq!(receiver.recv().await, Some(1));
    /// assert_eq!(receiver.recv().await, Some(2));
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    pub fn reserve_owned(self) -> impl Future<Output = Result<OwnedPermit<T>, SendError<()>>> {
        self.tx.used(Some(Caller::here()));
        raddle_leaf::wait::located(
            "mpsc::Sender::reserve_owned",
            self.tx.chan().room(),
            async move {
                acquire(self.tx.chan(), 1).await?;
                Ok(OwnedPermit::new(self))
            },
        )
    }

    /// Reserves room for one message, if there is room and no sender waits for it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_send`](Self::try_send).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, _receiver) = mpsc::channel(1);
    /// let permit = sender.try_reserve()?;
    /// assert!(sender.try_reserve().is_err());
    /// permit.send(7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.tx.used(None);
        let chan = self.tx.chan();
        try_acquire(chan, 1)?;
        Ok(Permit::new(chan))
    }

    /// Reserves room for `n` messages, if there is enough room and no sender waits for it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_send`](Self::try_send); [`TrySendError::Full`] if `n` is
    /// more than [`max_capacity`](Self::max_capacity).
    pub fn try_reserve_many(&self, n: usize) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        self.tx.used(None);
        let chan = self.tx.chan();
        try_acquire(chan, n)?;
        Ok(PermitIterator::new(chan, n))
    }

    /// Like [`try_reserve`](Self::try_reserve), but consumes the sender; the permit returns it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`try_send`](Self::try_send), with the sender.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() {
    /// let (sender, _receiver) = mpsc::channel(1);
    /// let permit = sender.clone().try_reserve_owned().unwrap();
    /// // The error contains the sender.
    /// let sender = sender.try_reserve_owned().unwrap_err().into_inner();
    /// permit.send(7);
    /// assert_eq!(sender.capacity(), 0);
    /// # }
    /// ```
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        self.tx.used(None);
        match try_acquire(self.tx.chan(), 1) {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(TrySendError::Full(())) => Err(TrySendError::Full(self)),
            Err(TrySendError::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    /// Returns the number of free permits: the number of messages that can be sent without waiting.
    pub fn capacity(&self) -> usize {
        self.tx.chan().limit.free()
    }

    /// Returns the capacity that the channel was created with.
    pub fn max_capacity(&self) -> usize {
        self.tx.chan().limit.capacity
    }
}

senders! {
    Sender, WeakSender;

    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc;
    ///
    /// # fn main() { raddle::run(async {
    /// let (sender, receiver) = mpsc::channel::<u32>(8);
    /// raddle::spawn(async move { drop(receiver) });
    /// // A task whose only work is for the receiver can stop here.
    /// sender.closed().await;
    /// # }) }
    /// ```
    closed,

    /// Returns the number of senders, including those in [`OwnedPermit`]s.
    strong_count,
}

/// A wait for permits. If it was given permits before the close and is dropped or refused
/// afterwards, it may release the last permits that the receiver waits for.
struct Acquiring<'a, T>(&'a Chan<T, Limited>);

impl<T> Drop for Acquiring<'_, T> {
    fn drop(&mut self) {
        self.0.end_if_idle();
    }
}

async fn acquire<T>(chan: &Chan<T, Limited>, n: usize) -> Result<(), SendError<()>> {
    if n > chan.limit.capacity {
        raddle_leaf::coop::consume_budget().await;
        return Err(SendError(()));
    }
    let acquiring = Acquiring(chan);
    if chan.limit.permits.acquire(n).await.is_err() {
        return Err(SendError(()));
    }
    mem::forget(acquiring);
    Ok(())
}

#[inline]
fn try_acquire<T>(chan: &Chan<T, Limited>, n: usize) -> Result<(), TrySendError<()>> {
    if n > chan.limit.capacity {
        return Err(TrySendError::Full(()));
    }
    chan.limit
        .permits
        .try_acquire(n)
        .map_err(|refused| match refused {
            Refused::NoPermits => TrySendError::Full(()),
            Refused::Closed => TrySendError::Closed(()),
        })
}
