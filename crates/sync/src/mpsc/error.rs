//! The errors of a channel.

use std::error::Error;
use std::fmt;

/// The channel is closed. Contains the message that was not sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T> Error for SendError<T> {}

/// The error of `try_send`: why the message was not sent at once. Contains the message.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TrySendError<T> {
    /// The channel is full, or other senders wait for room.
    Full(T),
    /// The receiver has closed the channel, or was dropped.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(message) | Self::Closed(message) => message,
        }
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "no available capacity",
            Self::Closed(_) => "channel closed",
        })
    }
}

impl<T> Error for TrySendError<T> {}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Closed(error.0)
    }
}

/// The error of `send_timeout`: why the message was not sent in time. Contains the message.
///
/// Returned by `Sender::send_timeout`, which needs the feature `time`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum SendTimeoutError<T> {
    /// The channel had no room within the time limit.
    Timeout(T),
    /// The receiver has closed the channel, or was dropped.
    Closed(T),
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(message) | Self::Closed(message) => message,
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "timed out waiting on send operation",
            Self::Closed(_) => "channel closed",
        })
    }
}

impl<T> Error for SendTimeoutError<T> {}

/// No function returns this type. It exists for programs that name Tokio's.
#[derive(Clone, Debug)]
#[doc(hidden)]
#[deprecated(note = "receiving returns an Option")]
pub struct RecvError(());

#[allow(deprecated, reason = "the type itself is")]
impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

#[allow(deprecated, reason = "the type itself is")]
impl Error for RecvError {}

/// The error of `try_recv`: why there is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// There is no message now.
    Empty,
    /// There is no message, and none will come.
    Disconnected,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "receiving on an empty channel",
            Self::Disconnected => "receiving on a closed channel",
        })
    }
}

impl Error for TryRecvError {}
