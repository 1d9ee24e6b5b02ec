//! The errors of a oneshot channel.

use std::error::Error;
use std::fmt;

/// The sender was dropped without sending, or the receiver had closed the channel before anything
/// was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RecvError(pub(super) ());

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl Error for RecvError {}

/// The error of [`Receiver::try_recv`](super::Receiver::try_recv): why there is no value.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TryRecvError {
    /// No value has been sent yet.
    Empty,
    /// No value will be sent, or the value has already been received.
    Closed,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "channel empty",
            Self::Closed => "channel closed",
        })
    }
}

impl Error for TryRecvError {}
