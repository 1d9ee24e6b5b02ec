//! The receiving half.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use raddle_leaf::wait::{Caller, Resource, ResourceSpan};

use super::error::{RecvError, TryRecvError};
use super::shared::Handle;
use crate::blocking::block_on;

/// The name of the wait in task dumps.
const OPERATION: &str = "oneshot::Receiver";

const POLLED_AGAIN: &str = "a oneshot receiver was polled after it had returned its value; \
                            await it once, or give its branch of select! a condition";

/// The receiving half of a [`channel`](super::channel): a future that returns the value.
///
/// Returns [`RecvError`] if the sender was dropped without sending, or if the receiver has closed
/// the channel before a value was sent.
///
/// # Panics
///
/// Panics if it is polled again after it was ready.
///
/// # Cancel safety
///
/// Cancel safe if it is awaited as `&mut receiver`, for instance in a `select!`. The receiver
/// itself is the future: dropping it drops a value that was sent.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::oneshot;
///
/// # fn main() { raddle::run(async {
/// let (sender, receiver) = oneshot::channel();
/// raddle::spawn(async move { sender.send(7) });
/// match receiver.await {
///     Ok(value) => assert_eq!(value, 7),
///     Err(_) => println!("the sender was dropped"),
/// }
/// # }) }
/// ```
#[derive(Debug)]
pub struct Receiver<T> {
    /// `None` once the value or the error was returned.
    handle: Option<Handle<T>>,
    /// The call that made the channel.
    caller: Caller,
    /// The span that tokio-console shows.
    _span: ResourceSpan,
}

impl<T> Receiver<T> {
    #[track_caller]
    pub(super) fn new(handle: Handle<T>) -> Self {
        Self {
            handle: Some(handle),
            caller: Caller::here(),
            _span: ResourceSpan::new("Sender|Receiver", "Sync"),
        }
    }

    /// Closes the channel: a later send fails, and the sender's wait in
    /// [`closed`](super::Sender::closed) ends.
    ///
    /// A value that was sent before can still be received, so no value whose `send` succeeded is
    /// lost by the call.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::oneshot;
    ///
    /// # fn main() {
    /// let (sender, mut receiver) = oneshot::channel();
    /// receiver.close();
    /// assert!(sender.is_closed());
    /// assert_eq!(sender.send(1), Err(1));
    /// assert!(receiver.try_recv().is_err());
    /// # }
    /// ```
    pub fn close(&mut self) {
        if let Some(handle) = &mut self.handle {
            handle.close();
        }
    }

    /// Returns whether the value or the error was returned, by an await or by
    /// [`try_recv`](Self::try_recv).
    pub fn is_terminated(&self) -> bool {
        self.handle.is_none()
    }

    /// Returns whether there is no value to receive now. One may be sent at any time.
    pub fn is_empty(&self) -> bool {
        self.handle
            .as_ref()
            .is_none_or(|handle| !handle.state().is_sent())
    }

    /// Receives the value if it has been sent.
    ///
    /// # Errors
    ///
    /// Returns [`TryRecvError::Empty`] if the value may still come; [`TryRecvError::Closed`] if it
    /// will not, or was received before.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::oneshot;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let (sender, mut receiver) = oneshot::channel();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(7).unwrap();
    /// assert_eq!(receiver.try_recv()?, 7);
    /// # Ok(())
    /// # }
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        let Some(handle) = &self.handle else {
            return Err(TryRecvError::Closed);
        };
        let state = handle.state();
        if !state.is_done() && !state.is_closed() {
            return Err(TryRecvError::Empty);
        }
        self.handle
            .take()
            .and_then(|handle| handle.receive(state))
            .ok_or(TryRecvError::Closed)
    }

    /// Blocks the thread until the value is sent, and receives it.
    ///
    /// # Errors
    ///
    /// Returns the same errors as awaiting the receiver.
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        assert!(self.handle.is_some(), "{POLLED_AGAIN}");
        block_on(self)
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    #[inline]
    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let coop = ready!(raddle_leaf::coop::poll_proceed(cx));
        let caller = self.caller;
        let handle = self.handle.as_mut().expect(POLLED_AGAIN);
        let mut state = handle.state();
        if !state.is_done() && !state.is_closed() {
            if handle.poll_done(cx).is_pending() {
                let messages = Resource::Messages(handle.address());
                raddle_leaf::wait::note(cx, OPERATION, Some(caller), messages);
                return Poll::Pending;
            }
            state = handle.state();
        }
        coop.made_progress();
        let value = self.handle.take().and_then(|handle| handle.receive(state));
        Poll::Ready(value.ok_or(RecvError(())))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(handle) = self.handle.take() {
            raddle_leaf::wait::withdraw(OPERATION, Resource::Messages(handle.address()));
            drop(handle.drop_receiver());
        }
    }
}
