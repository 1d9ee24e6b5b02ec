//! The reason why a lock was not available at once.

use std::error::Error;
use std::fmt;

use crate::semaphore::core::Refused;

/// The lock is held, or a task waits for it.
///
/// Comes from the `try_` methods of [`Mutex`](crate::Mutex) and [`RwLock`](crate::RwLock).
#[derive(Debug)]
pub struct TryLockError(());

impl From<Refused> for TryLockError {
    fn from(_: Refused) -> Self {
        Self(())
    }
}

impl fmt::Display for TryLockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the lock is held or awaited by another; await it")
    }
}

impl Error for TryLockError {}
