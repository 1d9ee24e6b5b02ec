//! The guard of a reader that keeps the lock alive.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::RwLock;
use super::held::HeldOwned;

/// A read lock on an [`RwLock`] that the guard keeps alive, released on drop.
///
/// Returned by [`RwLock::read_owned`], [`RwLock::try_read_owned`] and
/// [`OwnedRwLockWriteGuard::downgrade`](crate::OwnedRwLockWriteGuard::downgrade). `U` is the part
/// of the value that it is narrowed to.
#[clippy::has_significant_drop]
pub struct OwnedRwLockReadGuard<T: ?Sized, U: ?Sized = T> {
    /// The lock's value, or a part of it.
    value: NonNull<U>,
    held: HeldOwned<T>,
    marker: PhantomData<*const U>,
}

// SAFETY: the guard acts as a shared reference to the part, and as a share of the lock, which may
// be the last.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Send for OwnedRwLockReadGuard<T, U> {}
// SAFETY: a reference to the guard only gives access to references to the lock and to the part.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedRwLockReadGuard<T, U> {}

impl<T: ?Sized, U: ?Sized> OwnedRwLockReadGuard<T, U> {
    #[inline]
    pub(super) fn new(value: NonNull<U>, held: HeldOwned<T>) -> Self {
        Self {
            value,
            held,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of the value.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    #[inline]
    pub fn map<F, V>(this: Self, part: F) -> OwnedRwLockReadGuard<T, V>
    where
        F: FnOnce(&U) -> &V,
        V: ?Sized,
    {
        let part = NonNull::from(part(&*this));
        OwnedRwLockReadGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, V>(this: Self, part: F) -> Result<OwnedRwLockReadGuard<T, V>, Self>
    where
        F: FnOnce(&U) -> Option<&V>,
        V: ?Sized,
    {
        match part(&*this).map(NonNull::from) {
            Some(part) => Ok(OwnedRwLockReadGuard::new(part, this.held)),
            None => Err(this),
        }
    }

    /// Returns the lock that this guard reads.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.lock()
    }
}

impl<T: ?Sized, U: ?Sized> Deref for OwnedRwLockReadGuard<T, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: this guard has the permit and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Debug> fmt::Debug for OwnedRwLockReadGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Display> fmt::Display for OwnedRwLockReadGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
