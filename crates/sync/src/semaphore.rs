//! The semaphore.

mod acquire;
pub(crate) mod core;
mod error;
mod permit;
pub(crate) mod release_word;
mod state;

pub use error::{AcquireError, TryAcquireError};
pub use permit::{OwnedSemaphorePermit, SemaphorePermit};

use std::ptr;
use std::sync::Arc;

use raddle_leaf::wait::{Caller, GuardKind, Holding, Resource, ResourceSpan};

use self::core::Core;
use crate::blocking::block_on;

/// A counting semaphore: tasks acquire permits and release them.
///
/// It is fair: waiting tasks get permits in the order of their first polls. Tasks that ask for few
/// permits do not overtake a task that asks for many, and [`try_acquire`](Self::try_acquire) does
/// not overtake waiting tasks. While no task waits, acquiring and releasing permits is one atomic
/// operation each.
///
/// # Examples
///
/// At most two at a time:
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::Semaphore;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
/// let semaphore = Semaphore::new(2);
/// let first = semaphore.acquire().await?;
/// let _second = semaphore.acquire().await?;
/// assert!(semaphore.try_acquire().is_err());
/// drop(first);
/// assert!(semaphore.try_acquire().is_ok());
/// # Ok(())
/// # }) }
/// ```
#[derive(Debug)]
pub struct Semaphore {
    core: Core,
    /// The span that tokio-console shows.
    _span: ResourceSpan,
}

impl Semaphore {
    /// The maximum number of permits of a semaphore: `usize::MAX >> 3`.
    pub const MAX_PERMITS: usize = state::MAX_PERMITS;

    /// Makes a semaphore with `permits` permits.
    ///
    /// # Panics
    ///
    /// Panics if `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn new(permits: usize) -> Self {
        Self {
            core: Core::new(permits),
            _span: ResourceSpan::new("Semaphore", "Sync"),
        }
    }

    /// Like [`new`](Self::new), but `const`, for statics.
    ///
    /// # Panics
    ///
    /// Panics if `permits` is more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[cfg(not(raddle_loom))]
    #[track_caller]
    pub const fn const_new(permits: usize) -> Self {
        Self {
            core: Core::new(permits),
            _span: ResourceSpan::none(),
        }
    }

    /// Returns the number of free permits. While a task waits it is zero: free permits are reserved
    /// for the first waiter.
    pub fn available_permits(&self) -> usize {
        self.core.available()
    }

    /// Adds `n` permits permanently.
    ///
    /// # Panics
    ///
    /// Panics if there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() {
    /// let semaphore = Semaphore::new(2);
    /// semaphore.add_permits(3);
    /// assert_eq!(semaphore.available_permits(), 5);
    /// # }
    /// ```
    #[track_caller]
    pub fn add_permits(&self, n: usize) {
        self.core.release(n);
    }

    /// Removes up to `n` of the available permits permanently, and returns the number of removed
    /// permits.
    pub fn forget_permits(&self, n: usize) -> usize {
        self.core.forget(n)
    }

    /// Waits for a permit.
    ///
    /// # Errors
    ///
    /// Returns [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion has taken no permit. The task loses
    /// its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let semaphore = Semaphore::new(2);
    /// {
    ///     let _permit = semaphore.acquire().await?;
    ///     // At most two tasks are here at a time.
    /// }
    /// assert_eq!(semaphore.available_permits(), 2);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn acquire(&self) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("Semaphore::acquire", self.resource(), async move {
            self.core.acquire(1).await?;
            Ok(self.permit(1, caller))
        })
    }

    /// Waits for `n` permits at once.
    ///
    /// # Errors
    ///
    /// Returns [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion has taken no permit. The task loses
    /// its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let semaphore = Semaphore::new(2);
    /// let _permits = semaphore.acquire_many(2).await?;
    /// assert_eq!(semaphore.available_permits(), 0);
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn acquire_many(
        &self,
        n: u32,
    ) -> impl Future<Output = Result<SemaphorePermit<'_>, AcquireError>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("Semaphore::acquire_many", self.resource(), async move {
            self.core.acquire(n as usize).await?;
            Ok(self.permit(n, caller))
        })
    }

    // The permits below are those that the caller has taken.

    #[inline]
    fn permit(&self, n: u32, caller: Caller) -> SemaphorePermit<'_> {
        let holding = Holding::new(self.address(), n as usize, caller, GuardKind::BORROWED);
        SemaphorePermit::new(self, n, holding)
    }

    #[inline]
    fn owned_permit(self: Arc<Self>, n: u32, caller: Caller) -> OwnedSemaphorePermit {
        let holding = Holding::new(self.address(), n as usize, caller, GuardKind::OWNED);
        OwnedSemaphorePermit::new(self, n, holding)
    }

    fn resource(&self) -> Resource {
        Resource::Semaphore(self.address())
    }

    /// The address by which a task dump knows the semaphore.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(&self.core).addr()
    }

    /// Blocks the thread until it has a permit.
    ///
    /// For threads outside of async code. Tasks and blocked threads wait in the same queue.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Panics inside the poll of a task, which must not block: there, await
    /// [`acquire`](Self::acquire).
    #[track_caller]
    pub fn blocking_acquire(&self) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire())
    }

    /// Blocks the thread until it has `n` permits.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, AcquireError> {
        block_on(self.acquire_many(n))
    }

    /// Takes a permit if one is free and no task waits.
    ///
    /// # Errors
    ///
    /// Returns [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_acquire(&self) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.try_acquire_many(1)
    }

    /// Takes `n` permits if as many are free and no task waits.
    ///
    /// # Errors
    ///
    /// Returns [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_acquire_many(&self, n: u32) -> Result<SemaphorePermit<'_>, TryAcquireError> {
        self.core.try_acquire(n as usize)?;
        Ok(self.permit(n, Caller::here()))
    }

    /// Like [`acquire`](Self::acquire), but the permit keeps the semaphore alive, and can be moved
    /// to another task.
    ///
    /// # Errors
    ///
    /// Returns [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion has taken no permit. The task loses
    /// its place in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    /// use std::sync::Arc;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> { raddle::run(async {
    /// let semaphore = Arc::new(Semaphore::new(2));
    /// for _ in 0..10 {
    ///     let permit = Arc::clone(&semaphore).acquire_owned().await?;
    ///     raddle::spawn(async move {
    ///         // At most two of these tasks run at a time.
    ///         drop(permit);
    ///     });
    /// }
    /// # Ok(())
    /// # }) }
    /// ```
    #[track_caller]
    #[inline]
    pub fn acquire_owned(
        self: Arc<Self>,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let caller = Caller::here();
        raddle_leaf::wait::located("Semaphore::acquire_owned", self.resource(), async move {
            self.core.acquire(1).await?;
            Ok(self.owned_permit(1, caller))
        })
    }

    /// Like [`acquire_many`](Self::acquire_many), but the permits keep the semaphore alive, and can
    /// be moved to another task.
    ///
    /// # Errors
    ///
    /// Returns [`AcquireError`] if the semaphore is closed, or closed while waiting.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: a future that is dropped before completion has taken no permit. The task loses
    /// its place in the queue.
    #[track_caller]
    #[inline]
    pub fn acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> impl Future<Output = Result<OwnedSemaphorePermit, AcquireError>> {
        let caller = Caller::here();
        raddle_leaf::wait::located(
            "Semaphore::acquire_many_owned",
            self.resource(),
            async move {
                self.core.acquire(n as usize).await?;
                Ok(self.owned_permit(n, caller))
            },
        )
    }

    /// Like [`blocking_acquire`](Self::blocking_acquire), but the permit keeps the semaphore alive.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_owned())
    }

    /// Like [`blocking_acquire_many`](Self::blocking_acquire_many), but the permits keep the
    /// semaphore alive.
    ///
    /// # Errors
    ///
    /// Returns the same errors as [`acquire`](Self::acquire).
    ///
    /// # Panics
    ///
    /// Panics in the same cases as [`blocking_acquire`](Self::blocking_acquire).
    #[track_caller]
    pub fn blocking_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, AcquireError> {
        block_on(self.acquire_many_owned(n))
    }

    /// Like [`try_acquire`](Self::try_acquire), but the permit keeps the semaphore alive, and can
    /// be moved to another task.
    ///
    /// # Errors
    ///
    /// Returns [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_acquire_owned(self: Arc<Self>) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.try_acquire_many_owned(1)
    }

    /// Like [`try_acquire_many`](Self::try_acquire_many), but the permits keep the semaphore alive,
    /// and can be moved to another task.
    ///
    /// # Errors
    ///
    /// Returns [`TryAcquireError::Closed`] if the semaphore is closed,
    /// [`TryAcquireError::NoPermits`] if the caller would have to wait.
    #[track_caller]
    #[inline]
    pub fn try_acquire_many_owned(
        self: Arc<Self>,
        n: u32,
    ) -> Result<OwnedSemaphorePermit, TryAcquireError> {
        self.core.try_acquire(n as usize)?;
        Ok(self.owned_permit(n, Caller::here()))
    }

    /// Closes the semaphore: waiting and later calls return an error. A future that was not ready
    /// before fails even if permits had been reserved for it. Permits that are held stay valid.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() { raddle::run(async {
    /// let semaphore = Semaphore::new(2);
    /// semaphore.close();
    /// assert!(semaphore.acquire().await.is_err());
    /// # }) }
    /// ```
    pub fn close(&self) {
        self.core.close();
    }

    /// Returns whether [`close`](Self::close) was called.
    pub fn is_closed(&self) -> bool {
        self.core.is_closed()
    }
}
