//! Errors of this crate.

use std::{fmt, io};

/// The error of a [`Timeout`](crate::Timeout): its deadline has passed before its future was ready.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::time::{Duration, timeout};
/// use std::io;
///
/// # fn main() { raddle::run(async {
/// let never = std::future::pending::<()>();
/// let elapsed = timeout(Duration::from_millis(1), never).await.unwrap_err();
/// assert_eq!(io::Error::from(elapsed).kind(), io::ErrorKind::TimedOut);
/// # }) }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(pub(crate) ());

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(io::ErrorKind::TimedOut, elapsed)
    }
}

/// The reason why a timer could not be used.
///
/// No function of Raddle returns it: the number of timers is not limited, a duration that is too
/// long for the clock never ends, and a sleep whose runtime has shut down panics. It exists for
/// code that names Tokio's type.
#[derive(Clone, Copy, Debug)]
pub struct Error(Reason);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The runtime of the timer has been shut down.
    pub fn shutdown() -> Self {
        Self(Reason::Shutdown)
    }

    /// Returns whether the runtime of the timer has been shut down.
    pub fn is_shutdown(&self) -> bool {
        self.0 == Reason::Shutdown
    }

    /// The number of timers has reached its limit.
    pub fn at_capacity() -> Self {
        Self(Reason::AtCapacity)
    }

    /// Returns whether the number of timers has reached its limit.
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Reason::AtCapacity
    }

    /// The duration is too long.
    pub fn invalid() -> Self {
        Self(Reason::Invalid)
    }

    /// Returns whether the duration is too long.
    pub fn is_invalid(&self) -> bool {
        self.0 == Reason::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Reason::Shutdown => {
                "the runtime of the timer has been shut down; keep it alive while timers are used"
            }
            Reason::AtCapacity => "there are as many timers as there may be; drop some first",
            Reason::Invalid => "the duration is too long for a timer; use a shorter one",
        })
    }
}

impl std::error::Error for Error {}

#[cfg(all(test, not(raddle_loom)))]
mod tests;
