//! The sending half.

use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::task::{Context, Poll, ready};

use raddle_leaf::wait::{ChannelEnd, Resource, Role};

use super::shared::Handle;

/// Sends one value to the [`Receiver`](super::Receiver); from [`channel`](super::channel).
///
/// Dropping it without sending ends the receiver's wait with an error.
#[derive(Debug)]
pub struct Sender<T> {
    /// Present until `send` or the drop takes it.
    handle: ManuallyDrop<Handle<T>>,
    /// As the handle.
    end: ManuallyDrop<ChannelEnd>,
}

impl<T> Sender<T> {
    pub(super) fn new(handle: Handle<T>) -> Self {
        let end = ChannelEnd::new(handle.address(), Role::Sender);
        Self {
            handle: ManuallyDrop::new(handle),
            end: ManuallyDrop::new(end),
        }
    }

    /// Sends the value, without waiting.
    ///
    /// After `Ok` the value may still be dropped unreceived, with the receiver.
    ///
    /// # Errors
    ///
    /// Returns the value if the receiver was dropped or has closed the channel.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::oneshot;
    ///
    /// # fn main() {
    /// let (sender, mut receiver) = oneshot::channel();
    /// sender.send(3).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(3));
    ///
    /// let (sender, receiver) = oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send(4), Err(4));
    /// # }
    /// ```
    #[inline]
    pub fn send(self, value: T) -> Result<(), T> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the sender is forgotten, so its end is dropped once.
        unsafe { ManuallyDrop::drop(&mut this.end) };
        // SAFETY: the handle is taken once too.
        let handle = unsafe { ManuallyDrop::take(&mut this.handle) };
        handle.send(value).map_err(|(handle, value)| {
            handle.drop_sender();
            value
        })
    }

    /// Waits until the receiver is dropped or has closed the channel, so that the sender can stop
    /// working on a value that is no longer wanted.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the future changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::oneshot;
    ///
    /// # fn main() { raddle::run(async {
    /// let (mut sender, receiver) = oneshot::channel::<u32>();
    /// drop(receiver);
    /// sender.closed().await;
    /// # }) }
    /// ```
    #[track_caller]
    pub fn closed(&mut self) -> impl Future<Output = ()> {
        raddle_leaf::wait::located("oneshot::Sender::closed", Resource::Unknown, async move {
            poll_fn(|cx| self.poll_closed(cx)).await;
        })
    }

    /// Returns whether the receiver was dropped or has closed the channel, so that a
    /// [`send`](Self::send) would fail.
    pub fn is_closed(&self) -> bool {
        self.handle.state().is_closed()
    }

    /// The poll function of [`closed`](Self::closed). Only the waker of the last call is woken.
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        if !self.handle.state().is_closed() {
            ready!(self.handle.poll_closed(cx));
        }
        coop.made_progress();
        Poll::Ready(())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        // SAFETY: `send`, which also takes the end, forgets the sender.
        unsafe { ManuallyDrop::drop(&mut self.end) };
        // SAFETY: as above.
        unsafe { ManuallyDrop::take(&mut self.handle) }.drop_sender();
    }
}
