//! The errors of a broadcast channel.

use std::error::Error;
use std::fmt;

/// The error of [`send`](super::Sender::send): there is no receiver. It contains the value that was
/// not sent.
#[derive(Debug)]
pub struct SendError<T>(pub T);

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl<T: fmt::Debug> Error for SendError<T> {}

/// The error of [`recv`](super::Receiver::recv): why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecvError {
    /// There is no sender any more, and every value has been received.
    Closed,

    /// The receiver was so slow that this many values were overwritten before it received them. It
    /// continues with the oldest value that is left.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("channel closed"),
            Self::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for RecvError {}

/// The error of [`try_recv`](super::Receiver::try_recv): why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TryRecvError {
    /// Every value has been received; there are senders, so more may come.
    Empty,

    /// There is no sender any more, and every value has been received.
    Closed,

    /// The receiver was so slow that this many values were overwritten before it received them. It
    /// continues with the oldest value that is left.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("channel empty"),
            Self::Closed => f.write_str("channel closed"),
            Self::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl Error for TryRecvError {}
