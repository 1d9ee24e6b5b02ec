//! Permits that are released on drop.

use std::fmt;
use std::mem;

use std::sync::Arc;

use super::Semaphore;

/// Permits of a [`Semaphore`], released on drop.
///
/// Returned by [`Semaphore::acquire`], [`Semaphore::acquire_many`] and their `try_` and `blocking_`
/// forms.
#[must_use = "dropping it gives the permits back at once"]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
}

impl<'a> SemaphorePermit<'a> {
    #[inline]
    pub(super) fn new(semaphore: &'a Semaphore, permits: u32) -> Self {
        Self {
            semaphore,
            permits: permits as usize,
        }
    }

    /// Removes the permits from the semaphore: it has fewer from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let semaphore = Semaphore::new(2);
    /// semaphore.try_acquire()?.forget();
    /// assert_eq!(semaphore.available_permits(), 1);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forget(mut self) {
        self.semaphore.note_released(self.permits);
        self.permits = 0;
    }

    /// Adds the permits of `other` to these.
    ///
    /// # Panics
    ///
    /// Panics if `other` comes from another semaphore.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let semaphore = Semaphore::new(2);
    /// let mut permit = semaphore.try_acquire()?;
    /// permit.merge(semaphore.try_acquire()?);
    /// assert_eq!(permit.num_permits(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(
            std::ptr::eq(self.semaphore, other.semaphore),
            "the permits belong to different semaphores; merge permits of the same one"
        );
        self.permits += mem::take(&mut other.permits);
    }

    /// Splits off `n` of the permits, or returns `None` if there are fewer.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::Semaphore;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let semaphore = Semaphore::new(2);
    /// let mut permits = semaphore.try_acquire_many(2)?;
    /// let one = permits.split(1).unwrap();
    /// assert_eq!((permits.num_permits(), one.num_permits()), (1, 1));
    /// assert!(permits.split(2).is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn split(&mut self, n: usize) -> Option<Self> {
        self.permits = self.permits.checked_sub(n)?;
        Some(Self {
            semaphore: self.semaphore,
            permits: n,
        })
    }

    /// Returns the semaphore of these permits.
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
    }

    /// Returns the number of permits.
    pub fn num_permits(&self) -> usize {
        self.permits
    }
}

impl Drop for SemaphorePermit<'_> {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.note_released(self.permits);
        self.semaphore.core.release(self.permits);
    }
}

impl fmt::Debug for SemaphorePermit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SemaphorePermit")
            .field("permits", &self.permits)
            .finish_non_exhaustive()
    }
}

/// Permits of a [`Semaphore`] that they keep alive, released on drop.
///
/// Returned by [`Semaphore::acquire_owned`], [`Semaphore::acquire_many_owned`] and their `try_` and
/// `blocking_` forms.
#[must_use = "dropping it gives the permits back at once"]
#[clippy::has_significant_drop]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
}

impl OwnedSemaphorePermit {
    #[inline]
    pub(super) fn new(semaphore: Arc<Semaphore>, permits: u32) -> Self {
        Self {
            semaphore,
            permits: permits as usize,
        }
    }

    /// Removes the permits from the semaphore: it has fewer from now on.
    pub fn forget(mut self) {
        self.semaphore.note_released(self.permits);
        self.permits = 0;
    }

    /// Adds the permits of `other` to these.
    ///
    /// # Panics
    ///
    /// Panics if `other` comes from another semaphore.
    #[track_caller]
    pub fn merge(&mut self, mut other: Self) {
        assert!(
            Arc::ptr_eq(&self.semaphore, &other.semaphore),
            "the permits belong to different semaphores; merge permits of the same one"
        );
        self.permits += mem::take(&mut other.permits);
    }

    /// Splits off `n` of the permits, or returns `None` if there are fewer.
    pub fn split(&mut self, n: usize) -> Option<Self> {
        self.permits = self.permits.checked_sub(n)?;
        Some(Self {
            semaphore: self.semaphore.clone(),
            permits: n,
        })
    }

    /// Returns the semaphore of these permits.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }

    /// Returns the number of permits.
    pub fn num_permits(&self) -> usize {
        self.permits
    }
}

impl Drop for OwnedSemaphorePermit {
    #[inline]
    fn drop(&mut self) {
        self.semaphore.note_released(self.permits);
        self.semaphore.core.release(self.permits);
    }
}

impl fmt::Debug for OwnedSemaphorePermit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedSemaphorePermit")
            .field("permits", &self.permits)
            .finish_non_exhaustive()
    }
}
