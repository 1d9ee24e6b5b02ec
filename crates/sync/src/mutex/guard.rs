//! The guards that borrow a mutex.

use std::fmt;
use std::marker::PhantomData;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::{Mutex, unlock};
use crate::semaphore::core::Core;

/// The lock of a [`Mutex`], released on drop.
///
/// Returned by [`Mutex::lock`], [`Mutex::try_lock`] and [`Mutex::blocking_lock`]. It may be held
/// across an `.await`, and dropped on another thread.
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct MutexGuard<'a, T: ?Sized> {
    /// The guard owns the permit of this mutex.
    mutex: &'a Mutex<T>,
    /// Makes the guard `Sync` only if the value is, because a reference to the guard gives access
    /// to the value.
    marker: PhantomData<&'a mut T>,
}

impl<'a, T: ?Sized> MutexGuard<'a, T> {
    #[inline]
    pub(super) fn new(mutex: &'a Mutex<T>) -> Self {
        Self {
            mutex,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{Mutex, MutexGuard};
    ///
    /// # fn main() { raddle::run(async {
    /// let mutex = Mutex::new((1, 2));
    /// let guard = mutex.lock().await;
    /// let mut first = MutexGuard::map(guard, |pair| &mut pair.0);
    /// *first += 10;
    /// drop(first);
    /// assert_eq!(*mutex.lock().await, (11, 2));
    /// # }) }
    /// ```
    #[inline]
    pub fn map<U, F>(mut this: Self, part: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(part(&mut *this));
        this.mapped(part)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{Mutex, MutexGuard};
    ///
    /// # fn main() { raddle::run(async {
    /// let mutex = Mutex::new(vec![1, 2]);
    /// let guard = mutex.lock().await;
    /// match MutexGuard::try_map(guard, |numbers| numbers.first_mut()) {
    ///     Ok(mut first) => *first += 10,
    ///     Err(guard) => assert!(guard.is_empty()),
    /// }
    /// assert_eq!(*mutex.lock().await, [11, 2]);
    /// # }) }
    /// ```
    #[inline]
    pub fn try_map<U, F>(mut this: Self, part: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(this.mapped(part)),
            None => Err(this),
        }
    }

    /// Moves the permit to a guard of a part of the value.
    fn mapped<U: ?Sized>(self, part: NonNull<U>) -> MappedMutexGuard<'a, U> {
        let core = &self.mutex.core;
        mem::forget(self);
        MappedMutexGuard {
            core,
            part,
            marker: PhantomData,
        }
    }

    /// Returns the mutex of this guard.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn mutex(this: &Self) -> &'a Mutex<T> {
        this.mutex
    }
}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.mutex.value.with(|value| {
            // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
            // reference lives.
            unsafe { &*value }
        })
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.mutex.value.with_mut(|value| {
            // SAFETY: this guard has the permit and is borrowed exclusively, so there is no other
            // reference while this one lives.
            unsafe { &mut *value }
        })
    }
}

impl<T: ?Sized> Drop for MutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unlock(&self.mutex.core);
    }
}

/// The lock of a [`Mutex`], narrowed to a part of its value; released on drop.
///
/// Comes from [`MutexGuard::map`].
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::{MappedMutexGuard, Mutex, MutexGuard};
///
/// async fn first(pair: &Mutex<(u32, u32)>) -> MappedMutexGuard<'_, u32> {
///     MutexGuard::map(pair.lock().await, |pair| &mut pair.0)
/// }
///
/// # fn main() {
/// # raddle::run(async {
/// let mutex = Mutex::new((1, 2));
/// *first(&mutex).await += 10;
/// assert_eq!(*mutex.lock().await, (11, 2));
/// # });
/// # }
/// ```
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct MappedMutexGuard<'a, T: ?Sized> {
    /// The guard owns the permit of this mutex.
    core: &'a Core,
    /// A pointer to the part, derived from the guard that this guard replaces.
    part: NonNull<T>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: the guard acts as an exclusive reference to the part, and the permit can be released from
// any thread.
unsafe impl<T: ?Sized + Send> Send for MappedMutexGuard<'_, T> {}
// SAFETY: a reference to the guard only gives access to a reference to the part.
unsafe impl<T: ?Sized + Sync> Sync for MappedMutexGuard<'_, T> {}

impl<'a, T: ?Sized> MappedMutexGuard<'a, T> {
    /// Narrows the guard to a part of its part.
    #[inline]
    pub fn map<U, F>(mut this: Self, part: F) -> MappedMutexGuard<'a, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(part(&mut *this));
        this.mapped(part)
    }

    /// Narrows the guard to a part of its part, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<U, F>(mut this: Self, part: F) -> Result<MappedMutexGuard<'a, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(this.mapped(part)),
            None => Err(this),
        }
    }

    fn mapped<U: ?Sized>(self, part: NonNull<U>) -> MappedMutexGuard<'a, U> {
        let core = self.core;
        mem::forget(self);
        MappedMutexGuard {
            core,
            part,
            marker: PhantomData,
        }
    }
}

impl<T: ?Sized> Deref for MappedMutexGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.part.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for MappedMutexGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has the permit and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.part.as_mut() }
    }
}

impl<T: ?Sized> Drop for MappedMutexGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        unlock(self.core);
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for MappedMutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
