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
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::RwLock;
/// use std::sync::Arc;
///
/// # fn main() { raddle::run(async {
/// let lock = Arc::new(RwLock::new((1, 2)));
/// let mut guard = Arc::clone(&lock).write_owned().await;
/// guard.0 += 10;
/// drop(guard);
/// assert_eq!(*lock.read().await, (11, 2));
/// # }) }
/// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let first = OwnedRwLockWriteGuard::map(guard, |pair| &mut pair.0);
    /// assert_eq!(*first, 1);
    /// # }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new(vec![1, 2]));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let first = OwnedRwLockWriteGuard::try_map(guard, |numbers| numbers.first_mut());
    /// assert_eq!(*first.unwrap(), 1);
    /// # }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let guard = OwnedRwLockWriteGuard::into_mapped(Arc::clone(&lock).write_owned().await);
    /// assert_eq!(guard.0, 1);
    /// # }) }
    /// ```
    pub fn into_mapped(this: Self) -> OwnedRwLockMappedWriteGuard<T> {
        OwnedRwLockMappedWriteGuard::new(this.value, this.held)
    }

    /// Returns the lock that this guard writes.
    ///
    /// This is an associated function, so that it does not hide a method of the value.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// assert!(Arc::ptr_eq(OwnedRwLockWriteGuard::rwlock(&guard), &lock));
    /// # }) }
    /// ```
    pub fn rwlock(this: &Self) -> &Arc<RwLock<T>> {
        this.held.lock()
    }

    /// Turns the write lock into a read lock; no other writer gets the lock in between. Waiting
    /// readers get the lock, too.
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::RwLock;
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let mut writer = Arc::clone(&lock).write_owned().await;
    /// writer.0 += 10;
    /// // No other writer comes in between.
    /// let reader = writer.downgrade();
    /// assert_eq!(reader.0, 11);
    /// assert!(lock.try_read().is_ok());
    /// # }) }
    /// ```
    pub fn downgrade(mut self) -> OwnedRwLockReadGuard<T> {
        self.held.keep_one();
        OwnedRwLockReadGuard::new(self.value, self.held)
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
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let first = OwnedRwLockWriteGuard::downgrade_map(guard, |pair| &pair.0);
    /// assert_eq!(*first, 1);
    /// assert!(lock.try_read().is_ok());
    /// # }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new(vec![1, 2]));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let first = OwnedRwLockWriteGuard::try_downgrade_map(guard, |numbers| numbers.first());
    /// assert_eq!(*first.unwrap(), 1);
    /// # }) }
    /// ```
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
///
/// # Examples
///
/// ```
/// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
/// use raddle::sync::{OwnedRwLockWriteGuard, RwLock};
/// use std::sync::Arc;
///
/// # fn main() { raddle::run(async {
/// let lock = Arc::new(RwLock::new((1, 2)));
/// let guard = Arc::clone(&lock).write_owned().await;
/// let mut first = OwnedRwLockWriteGuard::map(guard, |pair| &mut pair.0);
/// *first += 10;
/// drop(first);
/// assert_eq!(*lock.read().await, (11, 2));
/// # }) }
/// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, vec![2])));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let numbers = OwnedRwLockWriteGuard::map(guard, |value| &mut value.1);
    /// let first = OwnedRwLockMappedWriteGuard::map(numbers, |numbers| &mut numbers[0]);
    /// assert_eq!(*first, 2);
    /// # }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, vec![2])));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let numbers = OwnedRwLockWriteGuard::map(guard, |value| &mut value.1);
    /// let first = OwnedRwLockMappedWriteGuard::try_map(numbers, |numbers| numbers.first_mut());
    /// assert_eq!(*first.unwrap(), 2);
    /// # }) }
    /// ```
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
    ///
    /// # Examples
    ///
    /// ```
    /// # include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/doc/raddle.rs"));
    /// use raddle::sync::{OwnedRwLockMappedWriteGuard, OwnedRwLockWriteGuard, RwLock};
    /// use std::sync::Arc;
    ///
    /// # fn main() { raddle::run(async {
    /// let lock = Arc::new(RwLock::new((1, 2)));
    /// let guard = Arc::clone(&lock).write_owned().await;
    /// let first = OwnedRwLockWriteGuard::map(guard, |pair| &mut pair.0);
    /// assert!(Arc::ptr_eq(OwnedRwLockMappedWriteGuard::rwlock(&first), &lock));
    /// # }) }
    /// ```
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
