//! The semaphore.

mod acquire;
pub(crate) mod core;
mod error;
mod permit;
pub(crate) mod returned;
mod state;

pub use error::{AcquireError, TryAcquireError};
pub use permit::{OwnedSemaphorePermit, SemaphorePermit};

use std::sync::Arc;

use self::core::Core;
use crate::blocking::block_on;

/// A number of permits, of which tasks take some and give them back.
///
/// It is fair: permits go to those who wait in the order of their first polls.
/// Who wants many is not overtaken by those who want few, and
/// [`try_acquire`](Self::try_acquire) overtakes nobody. While nobody waits,
/// taking and giving back is one atomic operation each.
///
/// # Examples
///
/// At most two at a time:
///
/// ```
/// # #[cfg(not(raddle_loom))]
/// # futures_lite::future::block_on(async {
/// use raddle_sync::Semaphore;
///
/// let semaphore = Semaphore::new(2);
/// let first = semaphore.acquire().await.unwrap();
/// let second = semaphore.acquire().await.unwrap();
/// assert!(semaphore.try_acquire().is_err());
/// drop(first);
/// assert!(semaphore.try_acquire().is_ok());
/// # drop(second);
/// # });
/// ```
#[derive(Debug)]
pub struct Semaphore {
    core: Core,
}

impl Semaphore {
    /// As many permits as a semaphore may have: `usize::MAX >> 3`.
    pub const MAX_PERMITS: usize = state::MAX_PERMITS;

    /// A semaphore with `permits`.
    ///
    /// # Panics
    ///
    /// If those are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self {
            core: Core::new(permits),
        }
    }

    /// As [`new`](Self::new), for statics.
    ///
    /// # Panics
    ///
    /// If `permits` are more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Self {
            core: Core::new(permits),
        }
    }

    /// How many permits can be had now. While somebody waits it is none: what
    /// there is is set aside for the first in line.
    pub fn available_permits(&self) -> usize {
        self.core.available()
    }

    /// Adds `n` permits, for good.
    ///
    /// # Panics
    ///
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.core.release(n);
    }

    /// Takes up to `n` of the available permits out of circulation, and returns
    /// how many those were.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.core.forget(n)
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it has taken nothing. It gives up
    /// its place in line.
    #[inline]
    pub async fn acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.acquire_many(1).await
    }

    /// Waits for `n` permits at once.
    ///
    /// # Errors
    ///
    /// [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it has taken nothing. It gives up
    /// its place in line.
    #[inline]
    pub async fn acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        self.core.acquire(n as usize).await?;
        Ok(SemaphorePermit::new(self, n))
    }

    /// Blocks the thread until it has a permit.
    ///
    /// For threads without an executor; those who wait asynchronously and those
    /// who block stand in the same line.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Inside the poll of a task, which must not block: there, await
    /// [`acquire`](Self::acquire).
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Blocks the thread until it has `n` permits.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// As [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// Takes a permit, if there is one and nobody waits.
    ///
    /// # Errors
    ///
    /// [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if one would have to wait.
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `n` permits, if there are as many and nobody waits.
    ///
    /// # Errors
    ///
    /// [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if one would have to wait.
    #[inline]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.core.try_acquire(n as usize)?;
        Ok(SemaphorePermit::new(self, n))
    }

    /// As [`acquire`](Self::acquire), with a permit that keeps the semaphore
    /// alive, and can go to another task.
    ///
    /// # Errors
    ///
    /// [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it has taken nothing. It gives up
    /// its place in line.
    #[inline]
    pub async fn acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.acquire_many_owned(1).await
    }

    /// As [`acquire_many`](Self::acquire_many), with permits that keep the
    /// semaphore alive, and can go to another task.
    ///
    /// # Errors
    ///
    /// [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: dropped before completion, it has taken nothing. It gives up
    /// its place in line.
    #[inline]
    pub async fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        self.core.acquire(n as usize).await?;
        Ok(OwnedSemaphorePermit::new(self, n))
    }

    /// As [`blocking_acquire`](Self::blocking_acquire), with a permit that keeps
    /// the semaphore alive.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// As [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// As [`blocking_acquire_many`](Self::blocking_acquire_many), with permits
    /// that keep the semaphore alive.
    ///
    /// # Errors
    ///
    /// As [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// As [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// As [`try_acquire`](Self::try_acquire), with a permit that keeps the
    /// semaphore alive, and can go to another task.
    ///
    /// # Errors
    ///
    /// [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if one would have to wait.
    #[inline]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// As [`try_acquire_many`](Self::try_acquire_many), with permits that keep
    /// the semaphore alive, and can go to another task.
    ///
    /// # Errors
    ///
    /// [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if one would have to wait.
    #[inline]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.core.try_acquire(n as usize)?;
        Ok(OwnedSemaphorePermit::new(self, n))
    }

    /// Closes the semaphore: those who wait, and those who come later, get an
    /// error. A future that was not ready before is refused also if its turn had
    /// come. Who has a permit keeps it, and can give it back.
    pub fn close(&self) {
        self.core.close();
    }

    /// Whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }
}
