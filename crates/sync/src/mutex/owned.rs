//! The guards that keep a mutex alive.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::{Mutex, unlock};

/// The permit of a mutex, which a guard passes on to a guard of a part; released on drop.
struct Locked<T: ?Sized>(Arc<Mutex<T>>);

impl<T: ?Sized> Drop for Locked<T> {
    #[inline]
    fn drop(&mut self) {
        unlock(&self.0.core);
    }
}

/// The lock of a [`Mutex`] that the guard keeps alive, released on drop.
///
/// Returned by [`Mutex::lock_owned`], [`Mutex::try_lock_owned`] and [`Mutex::blocking_lock_owned`].
#[clippy::has_significant_drop]
pub struct OwnedMutexGuard<T: ?Sized> {
    locked: Locked<T>,
    /// Makes the guard `Sync` only if the value is. The value does not move with the guard.
    marker: PhantomData<Box<T>>,
}

impl<T: ?Sized> OwnedMutexGuard<T> {
    #[inline]
    pub(super) fn new(mutex: Arc<Mutex<T>>) -> Self {
        Self {
            locked: Locked(mutex),
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    #[inline]
    pub fn map<U, F>(mut this: Self, part: F) -> OwnedMappedMutexGuard<T, U>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> &mut U,
    {
        let part = NonNull::from(part(&mut *this));
        OwnedMappedMutexGuard::new(this.locked, part)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<U, F>(mut this: Self, part: F) -> Result<OwnedMappedMutexGuard<T, U>, Self>
    where
        U: ?Sized,
        F: FnOnce(&mut T) -> Option<&mut U>,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(OwnedMappedMutexGuard::new(this.locked, part)),
            None => Err(this),
        }
    }

    /// Returns the mutex of this guard.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn mutex(this: &Self) -> &Arc<Mutex<T>> {
        &this.locked.0
    }
}

impl<T: ?Sized> Deref for OwnedMutexGuard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.locked.0.value.with(|value| {
            // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
            // reference lives.
            unsafe { &*value }
        })
    }
}

impl<T: ?Sized> DerefMut for OwnedMutexGuard<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.locked.0.value.with_mut(|value| {
            // SAFETY: this guard has the permit and is borrowed exclusively, so there is no other
            // reference while this one lives.
            unsafe { &mut *value }
        })
    }
}

/// The lock of a [`Mutex`] that the guard keeps alive, narrowed to a part of its value; released on
/// drop.
///
/// Comes from [`OwnedMutexGuard::map`].
#[must_use = "dropping it releases the lock at once"]
#[clippy::has_significant_drop]
pub struct OwnedMappedMutexGuard<T: ?Sized, U: ?Sized = T> {
    /// A pointer to the part, derived from the guard that this guard replaces.
    part: NonNull<U>,
    locked: Locked<T>,
    marker: PhantomData<*mut U>,
}

// SAFETY: the guard acts as an exclusive reference to the part, and as a share of the mutex, which
// is `Send` and `Sync` if `T` is `Send`.
unsafe impl<T: ?Sized + Send, U: ?Sized + Send> Send for OwnedMappedMutexGuard<T, U> {}
// SAFETY: a reference to the guard only gives access to a reference to the part. `T: Sync` is not
// needed; it is required as for the guard of the whole value.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedMappedMutexGuard<T, U> {}

impl<T: ?Sized, U: ?Sized> OwnedMappedMutexGuard<T, U> {
    #[inline]
    fn new(locked: Locked<T>, part: NonNull<U>) -> Self {
        Self {
            part,
            locked,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of its part.
    #[inline]
    pub fn map<S, F>(mut this: Self, part: F) -> OwnedMappedMutexGuard<T, S>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> &mut S,
    {
        let part = NonNull::from(part(&mut *this));
        OwnedMappedMutexGuard::new(this.locked, part)
    }

    /// Narrows the guard to a part of its part, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<S, F>(mut this: Self, part: F) -> Result<OwnedMappedMutexGuard<T, S>, Self>
    where
        S: ?Sized,
        F: FnOnce(&mut U) -> Option<&mut S>,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(OwnedMappedMutexGuard::new(this.locked, part)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized, U: ?Sized> Deref for OwnedMappedMutexGuard<T, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.part.as_ref() }
    }
}

impl<T: ?Sized, U: ?Sized> DerefMut for OwnedMappedMutexGuard<T, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: this guard has the permit and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.part.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for OwnedMutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for OwnedMutexGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Debug> fmt::Debug for OwnedMappedMutexGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Display> fmt::Display for OwnedMappedMutexGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
