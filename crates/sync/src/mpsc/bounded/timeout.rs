//! Sending with a timeout.

use std::time::Duration;

use raddle_leaf::misuse::{Misuse, at_caller};
use raddle_leaf::wait::Caller;
use raddle_timer::Handle;

use super::Sender;
use crate::mpsc::error::SendTimeoutError;

impl<T> Sender<T> {
    /// Like [`send`](Self::send), but waits no longer than `limit`. Only with the feature `time`.
    ///
    /// # Errors
    ///
    /// Returns [`SendTimeoutError::Timeout`] with the message if there was no room within `limit`,
    /// [`SendTimeoutError::Closed`] with the message if the receiver has closed the channel or was
    /// dropped.
    ///
    /// # Panics
    ///
    /// Panics if the thread has no timers of `raddle-timer`. A runtime of Raddle has them if it was
    /// built with `enable_time`.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: a future that is dropped before it is ready drops the message without
    /// sending it, and loses its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::mpsc::{self, error::SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// /// Gives a message up after a second.
    /// async fn offer(sender: &mpsc::Sender<u32>, message: u32) -> bool {
    ///     match sender.send_timeout(message, Duration::from_secs(1)).await {
    ///         Ok(()) => true,
    ///         Err(SendTimeoutError::Timeout(_) | SendTimeoutError::Closed(_)) => false,
    ///     }
    /// }
    /// # fn main() {}
    /// ```
    #[track_caller]
    pub fn send_timeout(
        &self,
        message: T,
        limit: Duration,
    ) -> impl Future<Output = Result<(), SendTimeoutError<T>>> {
        self.tx.used(Some(Caller::here()));
        let send = async move {
            let Some(timers) = Handle::try_current() else {
                return Err(Misuse::new(
                    "send_timeout needs timers; call it inside a runtime that was built with \
                     enable_time",
                ));
            };
            Ok(match timers.timeout(limit, self.reserve()).await {
                Ok(Ok(permit)) => {
                    permit.send(message);
                    Ok(())
                }
                Ok(Err(_)) => Err(SendTimeoutError::Closed(message)),
                Err(_) => Err(SendTimeoutError::Timeout(message)),
            })
        };
        let (operation, room) = ("mpsc::Sender::send_timeout", self.tx.chan().room());
        let send = raddle_leaf::wait::located(operation, room, send);
        at_caller(send, |sent| sent)
    }
}
