//! The guards of a writer that keep the lock alive.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;

use super::RwLock;
use super::held::HeldOwned;
use super::owned_read::OwnedRwLockReadGuard;

/// A write lock on an [`RwLock`] that the guard keeps alive, released on drop.
///
/// Returned by [`RwLock::write_owned`] and [`RwLock::try_write_owned`].
#[clippy::has_significant_drop]
pub struct OwnedRwLockWriteGuard<T: ?Sized> {
    value: NonNull<T>,
    held: HeldOwned<T>,
    marker: PhantomData<*mut T>,
}

// SAFETY: the guard acts as an exclusive reference to the value, and as a share of the lock, which
// may be the last.
unsafe impl<T: ?Sized + Send + Sync> Send for OwnedRwLockWriteGuard<T> {}
// SAFETY: a reference to the guard only gives access to references to the lock and to the value.
unsafe impl<T: ?Sized + Send + Sync> Sync for OwnedRwLockWriteGuard<T> {}

impl<T: ?Sized> OwnedRwLockWriteGuard<T> {
    #[inline]
    pub(super) fn new(value: NonNull<T>, held: HeldOwned<T>) -> Self {
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
    pub fn map<F, U>(mut this: Self, part: F) -> OwnedRwLockMappedWriteGuard<T, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        OwnedRwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, U>(mut this: Self, part: F) -> Result<OwnedRwLockMappedWriteGuard<T, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(OwnedRwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }

    /// Converts the guard into a mapped guard of the whole value.
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard::new(this.value, this.held)
    }

    /// Returns the lock that this guard writes.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.lock()
    }

    /// Turns the write lock into a read lock; no other writer gets the lock in between. Waiting
    /// readers get the lock, too.
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        self.held.keep_one();
        OwnedRwLockReadGuard::new(self.value, self.held)
    }

    /// Turns the write lock into a read lock on a part of the value; no other writer gets the lock
    /// in between.
    ///
    /// `part` runs while there is no other reader, but it cannot change the value.
    pub fn downgrade_map<F, U>(this: Self, part: F) -> OwnedRwLockReadGuard<T, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&*this));
        let mut held = this.held;
        held.keep_one();
        OwnedRwLockReadGuard::new(part, held)
    }

    /// Turns the write lock into a read lock on a part of the value, if there is one; no other
    /// writer gets the lock in between.
    ///
    /// # Errors
    ///
    /// Returns the guard itself, which can still write, if `part` returns `None`.
    pub fn try_downgrade_map<F, U>(this: Self, part: F) -> Result<OwnedRwLockReadGuard<T, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
        U: ?Sized,
    {
        match part(&*this).map(NonNull::from) {
            Some(part) => {
                let mut held = this.held;
                held.keep_one();
                Ok(OwnedRwLockReadGuard::new(part, held))
            }
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for OwnedRwLockWriteGuard<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard has all permits and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for OwnedRwLockWriteGuard<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has all permits and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.value.as_mut() }
    }
}

/// A write lock on an [`RwLock`] that the guard keeps alive, narrowed to a part of its value;
/// released on drop.
///
/// Comes from [`OwnedRwLockWriteGuard::map`]. It cannot be downgraded: the type of the part could
/// allow what the type of the value forbids.
#[clippy::has_significant_drop]
pub struct OwnedRwLockMappedWriteGuard<T: ?Sized, U: ?Sized = T> {
    /// A pointer to the part, derived from the guard that this guard replaces.
    value: NonNull<U>,
    held: HeldOwned<T>,
    marker: PhantomData<*mut U>,
}

// SAFETY: the guard acts as an exclusive reference to the part, and as a share of the lock, which
// may be the last.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Send> Send for OwnedRwLockMappedWriteGuard<T, U> {}
// SAFETY: a reference to the guard only gives access to references to the lock and to the part.
unsafe impl<T: ?Sized + Send + Sync, U: ?Sized + Sync> Sync for OwnedRwLockMappedWriteGuard<T, U> {}

impl<T: ?Sized, U: ?Sized> OwnedRwLockMappedWriteGuard<T, U> {
    #[inline]
    fn new(value: NonNull<U>, held: HeldOwned<T>) -> Self {
        Self {
            value,
            held,
            marker: PhantomData,
        }
    }

    /// Narrows the guard to a part of its part.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    #[inline]
    pub fn map<F, V>(mut this: Self, part: F) -> OwnedRwLockMappedWriteGuard<T, V>
    where
        F: FnOnce(&mut U) -> &mut V,
        V: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        OwnedRwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of its part, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, V>(mut this: Self, part: F) -> Result<OwnedRwLockMappedWriteGuard<T, V>, Self>
    where
        F: FnOnce(&mut U) -> Option<&mut V>,
        V: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(OwnedRwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }

    /// Returns the lock that this guard writes.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.lock()
    }
}

impl<T: ?Sized, U: ?Sized> Deref for OwnedRwLockMappedWriteGuard<T, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: this guard has all permits and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized, U: ?Sized> DerefMut for OwnedRwLockMappedWriteGuard<T, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: this guard has all permits and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for OwnedRwLockWriteGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for OwnedRwLockWriteGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Debug> fmt::Debug for OwnedRwLockMappedWriteGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, U: ?Sized + fmt::Display> fmt::Display for OwnedRwLockMappedWriteGuard<T, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
