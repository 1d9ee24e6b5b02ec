//! The errors of a semaphore.

use std::error::Error;
use std::fmt;

use super::core::{Closed, Refused};

/// The semaphore is closed: there will be no permit.
#[derive(Debug)]
pub struct AcquireError(());

impl From<Closed> for AcquireError {
    fn from(_: Closed) -> Self {
        Self(())
    }
}

impl fmt::Display for AcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the semaphore is closed")
    }
}

impl Error for AcquireError {}

/// The reason why a permit was not available at once.
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::{Semaphore, TryAcquireError};
///
/// # fn main() {
/// let semaphore = Semaphore::new(0);
/// assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::NoPermits)));
/// semaphore.close();
/// assert!(matches!(semaphore.try_acquire(), Err(TryAcquireError::Closed)));
/// # }
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum TryAcquireError {
    /// The semaphore is closed.
    Closed,
    /// There are too few permits, or other tasks wait for them already.
    NoPermits,
}

impl From<Refused> for TryAcquireError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Closed => Self::Closed,
            Refused::NoPermits => Self::NoPermits,
        }
    }
}

impl fmt::Display for TryAcquireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the semaphore is closed",
            Self::NoPermits => "too few permits are available; await acquire",
        })
    }
}

impl Error for TryAcquireError {}
