//! Permits that are released on drop.

use std::fmt;
use std::mem;
use std::ptr;
use std::sync::Arc;

use raddle_leaf::wait::Holding;

use super::Semaphore;

/// Writes the methods and traits of permits, a struct with the fields `semaphore`, a pointer, and
/// `permits`. The caller writes the examples.
macro_rules! permits {
    (
        $Permit:ident $(<$a:lifetime>)?, $Semaphore:ty;
        $(#[$forget:meta])* forget,
        $(#[$merge:meta])* merge,
        $(#[$split:meta])* split,
    ) => {
        impl $(<$a>)? $Permit $(<$a>)? {
            #[inline]
            pub(super) fn new(semaphore: $Semaphore, permits: u32, holding: Holding) -> Self {
                Self {
                    semaphore,
                    permits: permits as usize,
                    holding,
                }
            }

            /// Removes the permits from the semaphore: it has fewer from now on.
            ///
            $(#[$forget])*
            pub fn forget(mut self) {
                self.holding.release();
                self.permits = 0;
            }

            /// Adds the permits of `other` to these.
            ///
            /// # Panics
            ///
            /// Panics if `other` comes from another semaphore.
            ///
            $(#[$merge])*
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    ptr::eq::<Semaphore>(&*self.semaphore, &*other.semaphore),
                    "the permits belong to different semaphores; merge permits of the same one"
                );
                self.permits += mem::take(&mut other.permits);
                self.holding.merge(&mut other.holding);
            }

            /// Splits off `n` of the permits, or returns `None` if there are fewer.
            ///
            $(#[$split])*
            pub fn split(&mut self, n: usize) -> Option<Self> {
                self.permits = self.permits.checked_sub(n)?;
                Some(Self {
                    semaphore: <$Semaphore>::clone(&self.semaphore),
                    permits: n,
                    holding: self.holding.split(n),
                })
            }

            /// Returns the number of permits.
            pub fn num_permits(&self) -> usize {
                self.permits
            }
        }

        impl $(<$a>)? Drop for $Permit $(<$a>)? {
            #[inline]
            fn drop(&mut self) {
                self.holding.release();
                self.semaphore.core.release(self.permits);
            }
        }

        impl $(<$a>)? fmt::Debug for $Permit $(<$a>)? {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Permit))
                    .field("permits", &self.permits)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// Permits of a [`Semaphore`], released on drop.
///
/// Returned by [`Semaphore::acquire`], [`Semaphore::acquire_many`] and their `try_` and `blocking_`
/// forms.
#[must_use = "dropping it gives the permits back at once"]
#[clippy::has_significant_drop]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    holding: Holding,
}

permits! {
    SemaphorePermit<'a>, &'a Semaphore;

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
    forget,

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
    merge,

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
    split,
}

impl SemaphorePermit<'_> {
    /// Returns the semaphore of these permits.
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
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
    holding: Holding,
}

permits! {
    OwnedSemaphorePermit, Arc<Semaphore>;
    forget,
    merge,
    split,
}

impl OwnedSemaphorePermit {
    /// Returns the semaphore of these permits.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}
