//! The guards of a writer.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use super::held::Held;
use super::read::RwLockReadGuard;

/// A write lock on an [`RwLock`](crate::RwLock), released on drop.
///
/// Returned by [`RwLock::write`](crate::RwLock::write) and by its `try_` and `blocking_` forms. It
/// may be held across an `.await`, and dropped on another thread.
#[must_use = "dropping it gives up the lock at once"]
#[clippy::has_significant_drop]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    value: NonNull<T>,
    held: Held<'a>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: the guard acts as an exclusive reference to the value, which can become a shared one; the
// permits can be released from any thread.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockWriteGuard<'_, T> {}
// SAFETY: a reference to the guard only gives access to a reference to the value.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    #[inline]
    pub(super) fn new(value: NonNull<T>, held: Held<'a>) -> Self {
        Self {
            value,
            held,
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
    /// use raddle::sync::{RwLock, RwLockWriteGuard};
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = RwLock::new((1, 2));
    /// let mut first = RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.0);
    /// *first += 10;
    /// drop(first);
    /// assert_eq!(*lock.read().await, (11, 2));
    /// # }) }
    /// ```
    #[inline]
    pub fn map<F, U>(mut this: Self, part: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        RwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of the value, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, U>(mut this: Self, part: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(RwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }

    /// Converts the guard into a mapped guard of the whole value.
    pub fn into_mapped(this: Self) -> RwLockMappedWriteGuard<'a, T> {
        RwLockMappedWriteGuard::new(this.value, this.held)
    }

    /// Turns the write lock into a read lock; no other writer gets the lock in between. Waiting
    /// readers get the lock, too.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::RwLock;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = RwLock::new((1, 2));
    /// let mut writer = lock.write().await;
    /// writer.0 += 10;
    /// // No other writer comes in between.
    /// let reader = writer.downgrade();
    /// assert_eq!(reader.0, 11);
    /// assert!(lock.try_read().is_ok());
    /// # }) }
    /// ```
    pub fn downgrade(mut self) -> RwLockReadGuard<'a, T> {
        self.held.keep_one();
        RwLockReadGuard::new(self.value, self.held)
    }

    /// Turns the write lock into a read lock on a part of the value; no other writer gets the lock
    /// in between.
    ///
    /// `part` runs while there is no other reader, but it cannot change the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{RwLock, RwLockWriteGuard};
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = RwLock::new((1, 2));
    /// let first = RwLockWriteGuard::downgrade_map(lock.write().await, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// assert!(lock.try_read().is_ok());
    /// # }) }
    /// ```
    pub fn downgrade_map<F, U>(this: Self, part: F) -> RwLockReadGuard<'a, U>
    where
        F: FnOnce(&T) -> &U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&*this));
        let mut held = this.held;
        held.keep_one();
        RwLockReadGuard::new(part, held)
    }

    /// Turns the write lock into a read lock on a part of the value, if there is one; no other
    /// writer gets the lock in between.
    ///
    /// # Errors
    ///
    /// Returns the guard itself, which can still write, if `part` returns `None`.
    pub fn try_downgrade_map<F, U>(this: Self, part: F) -> Result<RwLockReadGuard<'a, U>, Self>
    where
        F: FnOnce(&T) -> Option<&U>,
        U: ?Sized,
    {
        match part(&*this).map(NonNull::from) {
            Some(part) => {
                let mut held = this.held;
                held.keep_one();
                Ok(RwLockReadGuard::new(part, held))
            }
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard has all permits and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has all permits and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.value.as_mut() }
    }
}

/// A write lock on an [`RwLock`](crate::RwLock), narrowed to a part of its value; released on drop.
///
/// Comes from [`RwLockWriteGuard::map`]. It cannot be downgraded: the type of the part could allow
/// what the type of the value forbids.
#[clippy::has_significant_drop]
pub struct RwLockMappedWriteGuard<'a, T: ?Sized> {
    /// A pointer to the part, derived from the guard that this guard replaces.
    value: NonNull<T>,
    held: Held<'a>,
    marker: PhantomData<&'a mut T>,
}

// SAFETY: the guard acts as an exclusive reference to the part, and the permits can be released
// from any thread. `T: Sync` is not needed; it is required as for the guard of the whole value.
unsafe impl<T: ?Sized + Send + Sync> Send for RwLockMappedWriteGuard<'_, T> {}
// SAFETY: a reference to the guard only gives access to a reference to the part.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLockMappedWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockMappedWriteGuard<'a, T> {
    #[inline]
    fn new(value: NonNull<T>, held: Held<'a>) -> Self {
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
    pub fn map<F, U>(mut this: Self, part: F) -> RwLockMappedWriteGuard<'a, U>
    where
        F: FnOnce(&mut T) -> &mut U,
        U: ?Sized,
    {
        let part = NonNull::from(part(&mut *this));
        RwLockMappedWriteGuard::new(part, this.held)
    }

    /// Narrows the guard to a part of its part, if there is one.
    ///
    /// # Errors
    ///
    /// Returns the guard itself if `part` returns `None`.
    #[inline]
    pub fn try_map<F, U>(mut this: Self, part: F) -> Result<RwLockMappedWriteGuard<'a, U>, Self>
    where
        F: FnOnce(&mut T) -> Option<&mut U>,
        U: ?Sized,
    {
        match part(&mut *this).map(NonNull::from) {
            Some(part) => Ok(RwLockMappedWriteGuard::new(part, this.held)),
            None => Err(this),
        }
    }
}

impl<T: ?Sized> Deref for RwLockMappedWriteGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard has all permits and is borrowed, so no other task writes while the
        // reference lives.
        unsafe { self.value.as_ref() }
    }
}

impl<T: ?Sized> DerefMut for RwLockMappedWriteGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard has all permits and is borrowed exclusively, so there is no other
        // reference while this one lives.
        unsafe { self.value.as_mut() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockMappedWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display> fmt::Display for RwLockMappedWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
